// SPDX-License-Identifier: Apache-2.0
// Rules of SLICE, STRIDED_SLICE, SPLIT and SPLIT_V. Source: tflite-delegate 4.21.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "src/ir/cut.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// The cut exists and has the extents of output `i`.
Status CheckCut(const ir::Graph& graph, const ir::Node& node, const std::optional<ir::Cut>& cut,
                size_t i) {
  const Shape& out = graph.output(node, i).type.shape;
  if (!cut) return Unsupported(Reason::kSliceRange, fmt::format("output {}", out.ToString()));
  if (cut->output == out) return OkStatus();
  return Unsupported(Reason::kShapeMismatch, fmt::format("output {} where {} follows",
                                                         out.ToString(), cut->output.ToString()));
}

Status CheckConstants(const ir::Graph& graph, const ir::Node& node, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) {
    NPU_RETURN_IF_ERROR(ConstantIntegers(graph, node, i).status());
  }
  return OkStatus();
}

Status CheckSplitAxis(const ir::Graph& graph, const ir::Node& node, size_t i, int32_t rank) {
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> axis, ConstantIntegers(graph, node, i));
  if (axis.size() == 1 && axis[0] >= -rank && axis[0] < rank) return OkStatus();
  return Unsupported(Reason::kConcatAxis, fmt::format("rank {}", rank));
}

// SPLIT_V states the extents a second time; one entry may be -1.
Status CheckSizes(const ir::Graph& graph, const ir::Node& node) {
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> sizes, ConstantIntegers(graph, node, 1));
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> entry, ConstantIntegers(graph, node, 2));
  const auto rank = static_cast<int32_t>(graph.input(node, 0).type.shape.rank());
  const auto axis = static_cast<size_t>(entry[0] < 0 ? entry[0] + rank : entry[0]);
  bool fits = sizes.size() == node.outputs.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] == -1 || sizes[i] == graph.output(node, i).type.shape[axis];
  }
  if (fits && std::count(sizes.begin(), sizes.end(), -1) <= 1) return OkStatus();
  return Unsupported(Reason::kShapeMismatch, fmt::format("{} sizes", sizes.size()));
}

}  // namespace

// Claims SLICE: any rank; constant begin and size; equal quantization
Status CheckSlice(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 3, 3));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, 0));
  NPU_RETURN_IF_ERROR(CheckConstants(graph, node, 1, 2));
  return CheckCut(graph, node, ir::SliceCut(graph, node), 0);
}

// Claims STRIDED_SLICE: constant begin, end and strides of either sign; every mask; results that
// are not empty; equal quantization
Status CheckStridedSlice(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 4, 4));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, 0));
  NPU_RETURN_IF_ERROR(CheckConstants(graph, node, 1, 3));
  return CheckCut(graph, node, ir::StridedSliceCut(graph, node), 0);
}

// Claims SPLIT, SPLIT_V: any constant axis; equal quantization of the input and all outputs
Status CheckSplit(const ir::Graph& graph, const ir::Node& node) {
  const bool sized = std::get<ir::SplitParams>(node.params).kind == ir::SplitKind::kSplitV;
  NPU_RETURN_IF_ERROR(CheckInputs(node, sized ? 3 : 2, sized ? 3 : 2));
  const size_t data = sized ? 0 : 1;
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, data));
  const Shape& in = graph.input(node, data).type.shape;
  NPU_RETURN_IF_ERROR(CheckSplitAxis(graph, node, sized ? 2 : 0, static_cast<int32_t>(in.rank())));
  int64_t elements = 0;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    NPU_RETURN_IF_ERROR(CheckCut(graph, node, ir::SplitCut(graph, node, i), i));
    elements += graph.output(node, i).type.shape.elements();
  }
  // Every part is inside the input, so equal totals mean that nothing is left over.
  if (elements != in.elements()) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("{} elements of {}", elements, in.ToString()));
  }
  return sized ? CheckSizes(graph, node) : OkStatus();
}

}  // namespace npu::ops
