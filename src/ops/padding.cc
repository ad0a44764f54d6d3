// SPDX-License-Identifier: Apache-2.0
// Rules of PAD, PADV2 and MIRROR_PAD. Source: tflite-delegate 4.21.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

using Paddings = std::vector<int32_t>;

// Two amounts for each axis, none negative, and the output they give.
Result<Paddings> CheckPaddings(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckMove(graph, node, 0));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  if (in.rank() < 1 || out.rank() != in.rank()) {
    return Unsupported(Reason::kShapeRank, in.ToString());
  }
  NPU_ASSIGN_OR_RETURN(Paddings paddings, ConstantIntegers(graph, node, 1));
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
  return paddings;
}

// The fill of PADV2: one constant, moved as it is.
Status CheckFill(const ir::Graph& graph, const ir::Node& node) {
  const ir::Value& fill = graph.input(node, 2);
  NPU_RETURN_IF_ERROR(CheckInt8(fill.type));
  if (!fill.is_constant()) return Unsupported(Reason::kConstantRequired, "input 2");
  if (fill.type.shape.elements() != 1) {
    return Unsupported(Reason::kShapeMismatch, fill.type.ToString());
  }
  return CheckSameQuantization(fill.type, graph.output(node).type);
}

}  // namespace

// Claims PAD: any rank; constant paddings that are not negative; equal quantization
// Claims PADV2: as PAD, with a constant fill of the same quantization
Status CheckPad(const ir::Graph& graph, const ir::Node& node) {
  const bool filled = std::get<ir::PadParams>(node.params).kind == ir::PadKind::kPadV2;
  NPU_RETURN_IF_ERROR(CheckCounts(node, filled ? 3 : 2, filled ? 3 : 2));
  NPU_RETURN_IF_ERROR(CheckPaddings(graph, node).status());
  return filled ? CheckFill(graph, node) : OkStatus();
}

// Claims MIRROR_PAD: as PAD, at most as much as there is to mirror; REFLECT and SYMMETRIC
Status CheckMirrorPad(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_ASSIGN_OR_RETURN(const Paddings paddings, CheckPaddings(graph, node));
  const Shape& in = graph.input(node, 0).type.shape;
  const int32_t border = std::get<ir::MirrorPadParams>(node.params).symmetric ? 0 : 1;
  for (size_t i = 0; i < paddings.size(); ++i) {
    if (paddings[i] <= in[i / 2] - border) continue;
    return Unsupported(Reason::kPadAmount, fmt::format("{} mirrored elements of axis {} of {}",
                                                       paddings[i], i / 2, in.ToString()));
  }
  return OkStatus();
}

}  // namespace npu::ops
