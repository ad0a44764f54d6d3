// SPDX-License-Identifier: Apache-2.0
// Rules of the elementwise operations of two operands. Source: tflite-delegate 4.5-4.7, 4.12.
#include <fmt/format.h>

#include <algorithm>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

constexpr size_t kMaxBroadcastRank = 6;

// NumPy's rule, right-aligned.
bool Broadcasts(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (size_t i = 0; i < from.rank(); ++i) {
    if (from.back(i) != to.back(i) && from.back(i) != 1) return false;
  }
  return true;
}

// Every extent of the output comes from one of the operands.
bool CoveredBy(const Shape& a, const Shape& b, const Shape& out) {
  const auto extent = [](const Shape& s, size_t i) { return i < s.rank() ? s.back(i) : 1; };
  if (out.rank() != std::max(a.rank(), b.rank())) return false;
  for (size_t i = 0; i < out.rank(); ++i) {
    if (std::max(extent(a, i), extent(b, i)) != out.back(i)) return false;
  }
  return true;
}

struct Scales {
  float a = 1.0F, b = 1.0F, out = 1.0F;
};

Scales ScalesOf(const ir::Graph& graph, const ir::Node& node) {
  return {graph.input(node, 0).type.quant.scale(), graph.input(node, 1).type.quant.scale(),
          graph.output(node).type.quant.scale()};
}

// Two int8 operands, not both constant, that broadcast to the output.
Status CheckOperands(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  const ir::Value& a = graph.input(node, 0);
  const ir::Value& b = graph.input(node, 1);
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(a.type));
  NPU_RETURN_IF_ERROR(CheckInt8(b.type));
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  if (a.is_constant() && b.is_constant()) return Unsupported(Reason::kConstantInput, "both");
  if (out.shape.rank() > kMaxBroadcastRank) {
    return Unsupported(Reason::kShapeRank, out.shape.ToString());
  }
  if (!Broadcasts(a.type.shape, out.shape) || !Broadcasts(b.type.shape, out.shape) ||
      !CoveredBy(a.type.shape, b.type.shape, out.shape)) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("{} and {} to {}", a.type.shape.ToString(),
                                   b.type.shape.ToString(), out.shape.ToString()));
  }
  return OkStatus();
}

}  // namespace

// Claims ADD, SUB, MUL: broadcasting up to rank 6; one operand may be constant
Status CheckBinary(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckOperands(graph, node));
  const auto [a, b, out] = ScalesOf(graph, node);
  if (std::get<ir::BinaryParams>(node.params).kind == ir::BinaryKind::kMul) {
    return CheckMultiplier(static_cast<double>(a * b / out));
  }
  const double twice_max = 2.0 * static_cast<double>(std::max(a, b));
  return CheckMultiplier(twice_max / static_cast<double>(static_cast<float>(1 << 20) * out));
}

// Claims DIV: as ADD; the ratio of the scales within 2^-20 to 2^22
Status CheckDiv(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckOperands(graph, node));
  const auto [a, b, out] = ScalesOf(graph, node);
  // The recipe only shifts right at the end, by less than 64.
  const float ratio = a / (b * out);
  if (ratio > 0x1p-20F && ratio < 0x1p22F) return OkStatus();
  return Unsupported(Reason::kQuantRange, fmt::format("multiplier {:g}", ratio));
}

// TFLite compares stored integers, whatever the scales are.
// Claims MAXIMUM, MINIMUM: as ADD; stored integers are compared, as TensorFlow Lite does
Status CheckMaximumMinimum(const ir::Graph& graph, const ir::Node& node) {
  return CheckOperands(graph, node);
}

// Claims PRELU: constant slope that broadcasts to the input
Status CheckPrelu(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  if (!graph.input(node, 1).is_constant()) {
    return Unsupported(Reason::kConstantRequired, "slope");
  }
  NPU_RETURN_IF_ERROR(CheckOperands(graph, node));
  NPU_RETURN_IF_ERROR(CheckSameShape(graph.input(node, 0).type, graph.output(node).type));
  const auto [in, slope, out] = ScalesOf(graph, node);
  NPU_RETURN_IF_ERROR(CheckMultiplier(static_cast<double>(in / out)));
  return CheckMultiplier(static_cast<double>(in * slope / out));
}

}  // namespace npu::ops
