// SPDX-License-Identifier: Apache-2.0
// Rules of RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE and CONCATENATION. Source: tflite-delegate 4.9,
// 4.21.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

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

// Claims RESHAPE, SQUEEZE, EXPAND_DIMS: any rank up to 8; equal quantization
Status CheckReshape(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 1, 2));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, 0));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  if (in.elements() == out.elements()) return OkStatus();
  return Unsupported(Reason::kShapeMismatch,
                     fmt::format("{} to {}", in.ToString(), out.ToString()));
}

// Claims CONCATENATION: any axis; equal quantization of all inputs and the output (uint8: any, as
// TensorFlow Lite rescales); images along the channels are placed without a copy where every part
// starts on a whole group of 32 channels
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

// Claims TRANSPOSE: any constant permutation; equal quantization
Status CheckTranspose(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, 0));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> entries, ConstantIntegers(graph, node, 1));
  const auto rank = static_cast<int32_t>(in.rank());
  std::vector<bool> seen(in.rank());
  bool once = entries.size() == in.rank();
  for (size_t i = 0; once && i < entries.size(); ++i) {
    const int32_t entry = entries[i] < 0 ? entries[i] + rank : entries[i];
    once = entry >= 0 && entry < rank && !seen[static_cast<size_t>(entry)];
    if (once) seen[static_cast<size_t>(entry)] = true;
  }
  if (!once) {
    return Unsupported(Reason::kTransposePermutation, fmt::format("{} entries", entries.size()));
  }
  bool fits = out.rank() == in.rank();
  for (size_t i = 0; fits && i < out.rank(); ++i) {
    fits = out[i] == in[static_cast<size_t>(entries[i] < 0 ? entries[i] + rank : entries[i])];
  }
  if (fits) return OkStatus();
  return Unsupported(Reason::kShapeMismatch,
                     fmt::format("{} to {}", in.ToString(), out.ToString()));
}

}  // namespace npu::ops
