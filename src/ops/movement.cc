// SPDX-License-Identifier: Apache-2.0
// Rules of RESHAPE, PAD, CONCATENATION and RESIZE_BILINEAR. Source:
// tflite-delegate 4.9, 4.18, 4.21.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

constexpr size_t kMaxPadRank = 5;

Status CheckMove(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  NPU_RETURN_IF_ERROR(CheckInt8(graph.output(node).type));
  return CheckSameQuantization(graph.input(node, 0).type, graph.output(node).type);
}

Status CheckPart(const ir::TensorType& part, const ir::TensorType& out, size_t axis) {
  NPU_RETURN_IF_ERROR(CheckInt8(part));
  // TFLite rescales uint8 operands and no others.
  if (!out.rebased_uint8) NPU_RETURN_IF_ERROR(CheckSameQuantization(part, out));
  bool fits = part.shape.rank() == out.shape.rank();
  for (size_t i = 0; fits && i < out.shape.rank(); ++i) {
    fits = i == axis || part.shape[i] == out.shape[i];
  }
  if (fits) return OkStatus();
  return Unsupported(Reason::kShapeMismatch,
                     fmt::format("{} to {}", part.shape.ToString(), out.shape.ToString()));
}

}  // namespace

Status CheckReshape(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 1, 2));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  if (in.elements() == out.elements()) return OkStatus();
  return Unsupported(Reason::kShapeMismatch,
                     fmt::format("{} to {}", in.ToString(), out.ToString()));
}

Status CheckPad(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  if (in.rank() < 1 || in.rank() > kMaxPadRank || out.rank() != in.rank()) {
    return Unsupported(Reason::kShapeRank, in.ToString());
  }
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> paddings, ConstantIntegers(graph, node, 1));
  if (paddings.size() != 2 * in.rank() ||
      std::any_of(paddings.begin(), paddings.end(), [](int32_t p) { return p < 0; })) {
    return Unsupported(Reason::kPadAmount, fmt::format("{} entries", paddings.size()));
  }
  for (size_t i = 0; i < in.rank(); ++i) {
    if (int64_t{in[i]} + paddings[2 * i] + paddings[2 * i + 1] != out[i]) {
      return Unsupported(Reason::kShapeMismatch,
                         fmt::format("axis {} of {} to {}", i, in.ToString(), out.ToString()));
    }
  }
  return OkStatus();
}

Status CheckConcatenation(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(
      CheckCounts(node, std::max<size_t>(node.inputs.size(), 1), node.inputs.size()));
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  const auto rank = static_cast<int32_t>(out.shape.rank());
  const int32_t given = std::get<ir::ConcatenationParams>(node.params).axis;
  if (given < -rank || given >= rank) {
    return Unsupported(Reason::kConcatAxis, fmt::format("axis {} of rank {}", given, rank));
  }
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  int64_t total = 0;
  bool run_time = false;
  for (const ir::ValueId id : node.inputs) {
    NPU_RETURN_IF_ERROR(CheckPart(graph.type(id), out, axis));
    total += graph.type(id).shape[axis];
    run_time = run_time || !graph.value(id).is_constant();
  }
  if (!run_time) return Unsupported(Reason::kConstantInput, "all inputs");
  if (total != out.shape[axis]) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("{} along axis {} of {}", total, axis, out.shape.ToString()));
  }
  return OkStatus();
}

Status CheckResizeBilinear(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckImage(in));
  NPU_RETURN_IF_ERROR(CheckImage(out));
  const auto& params = std::get<ir::ResizeBilinearParams>(node.params);
  if (params.align_corners && params.half_pixel_centers) {
    return Unsupported(Reason::kResizeFlags);
  }
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> size, ConstantIntegers(graph, node, 1));
  if (size.size() != 2 || size[0] != out.shape[1] || size[1] != out.shape[2] ||
      in.shape[3] != out.shape[3]) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("{} to {}", in.shape.ToString(), out.shape.ToString()));
  }
  return OkStatus();
}

}  // namespace npu::ops
