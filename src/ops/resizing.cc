// SPDX-License-Identifier: Apache-2.0
// Rules of RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. Source: tflite-delegate 4.18.
#include <fmt/format.h>

#include <vector>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// Images of one batch and one quantization, the output of the constant size.
Status CheckResize(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, 0));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckImages(in, out));
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> size, ConstantIntegers(graph, node, 1));
  if (size.size() != 2 || size[0] != out.shape[1] || size[1] != out.shape[2] ||
      in.shape[3] != out.shape[3]) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("{} to {}", in.shape.ToString(), out.shape.ToString()));
  }
  return OkStatus();
}

}  // namespace

// Claims RESIZE_BILINEAR: constant size; `align_corners` and `half_pixel_centers` exclude each
// other; any batch; equal quantization
Status CheckResizeBilinear(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckResize(graph, node));
  const auto& params = std::get<ir::ResizeBilinearParams>(node.params);
  if (params.align_corners && params.half_pixel_centers) return Unsupported(Reason::kResizeFlags);
  return OkStatus();
}

// Claims RESIZE_NEAREST_NEIGHBOR: constant size; every combination of flags; any batch; equal
// quantization
Status CheckResizeNearest(const ir::Graph& graph, const ir::Node& node) {
  return CheckResize(graph, node);
}

}  // namespace npu::ops
