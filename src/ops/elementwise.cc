// SPDX-License-Identifier: Apache-2.0
// Rules of the elementwise operations. Source: tflite-delegate 4.5, 4.6, 4.10-4.14, 4.23.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/arith/tflite.h"
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

Status CheckBinaryScales(const ir::BinaryParams& params, float a, float b, float out) {
  if (params.kind == ir::BinaryKind::kMul) {
    return CheckMultiplier(static_cast<double>(a * b / out));
  }
  const double twice_max = 2.0 * static_cast<double>(std::max(a, b));
  return CheckMultiplier(twice_max / static_cast<double>(static_cast<float>(1 << 20) * out));
}

bool IsScale(const ir::TensorType& type, float scale, int32_t zero_point) {
  return type.quant.scale() == scale && type.quant.zero_point() == zero_point;
}

Status CheckHardSwish(float in, float out) {
  const float fine = (1.0F / 128.0F) * in;
  NPU_RETURN_IF_ERROR(CheckMultiplier(static_cast<double>(fine / (3.0F / 32768.0F))));
  const double real = static_cast<double>(fine / out);
  NPU_RETURN_IF_ERROR(CheckMultiplier(real));
  // The recipe only shifts right at the end.
  if (arith::QuantizeMultiplier(real).exponent > 0) {
    return Unsupported(Reason::kQuantRange, fmt::format("scales {} to {}", in, out));
  }
  return OkStatus();
}

Status CheckUnaryScales(const ir::UnaryParams& params, const ir::TensorType& in,
                        const ir::TensorType& out) {
  const float ratio = in.quant.scale() / out.quant.scale();
  switch (params.kind) {
    case ir::UnaryKind::kRelu:
    case ir::UnaryKind::kReluN1To1:
    case ir::UnaryKind::kRelu6:
      return CheckMultiplier(static_cast<double>(ratio));
    case ir::UnaryKind::kLeakyRelu:
      NPU_RETURN_IF_ERROR(CheckMultiplier(static_cast<double>(ratio)));
      return CheckMultiplier(
          static_cast<double>(in.quant.scale() * params.alpha / out.quant.scale()));
    case ir::UnaryKind::kLogistic:
      if (IsScale(out, 1.0F / 256.0F, -128)) return OkStatus();
      return Unsupported(Reason::kQuantRange,
                         fmt::format("{}, where TFLite defines s=1/256 z=-128", out.ToString()));
    case ir::UnaryKind::kTanh:
      if (std::isfinite(1.0F / out.quant.scale())) return OkStatus();
      return Unsupported(Reason::kQuantRange, out.ToString());
    case ir::UnaryKind::kHardSwish:
      break;
  }
  return CheckHardSwish(in.quant.scale(), out.quant.scale());
}

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUInt8; }

Status CheckQuantizedByte(const ir::TensorType& type) {
  if (!IsByte(type.dtype)) return Unsupported(Reason::kTypeMismatch, type.ToString());
  if (!type.quant.per_tensor()) return Unsupported(Reason::kQuantMissing, type.ToString());
  return OkStatus();
}

// One run-time input, one output of the same shape.
Status CheckConversion(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 1, 1));
  const ir::Value& in = graph.input(node, 0);
  if (in.is_constant()) return Unsupported(Reason::kConstantInput, "input 0");
  if (in.type.shape.elements() == 0) {
    return Unsupported(Reason::kShapeEmpty, in.type.shape.ToString());
  }
  return CheckSameShape(in.type, graph.output(node).type);
}

}  // namespace

Status CheckBinary(const ir::Graph& graph, const ir::Node& node) {
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
  return CheckBinaryScales(std::get<ir::BinaryParams>(node.params), a.type.quant.scale(),
                           b.type.quant.scale(), out.quant.scale());
}

Status CheckUnary(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConversion(graph, node));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(in));
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  return CheckUnaryScales(std::get<ir::UnaryParams>(node.params), in, out);
}

Status CheckQuantize(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConversion(graph, node));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckQuantizedByte(out));
  if (in.dtype == DataType::kFloat32) return OkStatus();
  NPU_RETURN_IF_ERROR(CheckQuantizedByte(in));
  return CheckMultiplier(static_cast<double>(in.quant.scale()) / out.quant.scale());
}

Status CheckDequantize(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConversion(graph, node));
  NPU_RETURN_IF_ERROR(CheckQuantizedByte(graph.input(node, 0).type));
  const ir::TensorType& out = graph.output(node).type;
  if (out.dtype != DataType::kFloat32) return Unsupported(Reason::kTypeMismatch, out.ToString());
  return OkStatus();
}

}  // namespace npu::ops
