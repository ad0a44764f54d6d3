// SPDX-License-Identifier: Apache-2.0
// Rules of the elementwise operations of one operand. Source:
// tflite-delegate 4.10-4.14, 4.20, 4.23.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/arith/tflite.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

bool IsScale(const ir::TensorType& type, float scale, int32_t zero_point) {
  return type.quant.scale() == scale && type.quant.zero_point() == zero_point;
}

// The largest real value of an int8 tensor.
float LargestReal(const ir::TensorType& type) {
  return type.quant.scale() * static_cast<float>(127 - type.quant.zero_point());
}

// Table entries go through int32 in TFLite; beyond it the conversion depends on the machine.
Status CheckTableValue(float largest, const ir::TensorType& out) {
  const float stored = largest * (1.0F / out.quant.scale());
  if (std::isfinite(1.0F / out.quant.scale()) && stored < float{1 << 30}) return OkStatus();
  return Unsupported(Reason::kQuantRange, fmt::format("{:g} as {}", largest, out.ToString()));
}

// TFLite fails on inputs below the zero point: only tensors that cannot hold one.
Status CheckRsqrt(const ir::TensorType& in, const ir::TensorType& out) {
  if (in.quant.zero_point() != -128) {
    return Unsupported(Reason::kQuantRange,
                       fmt::format("{} may hold negative values", in.ToString()));
  }
  return CheckMultiplier(1.0 /
                         static_cast<double>(std::sqrt(in.quant.scale()) * out.quant.scale()));
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

// Operations that TFLite has for int8 alone.
bool IsInt8Only(ir::UnaryKind kind) {
  return kind == ir::UnaryKind::kElu || kind == ir::UnaryKind::kExp ||
         kind == ir::UnaryKind::kAbs || kind == ir::UnaryKind::kRsqrt;
}

Status CheckUnaryScales(const ir::UnaryParams& params, const ir::TensorType& in,
                        const ir::TensorType& out) {
  const float ratio = in.quant.scale() / out.quant.scale();
  switch (params.kind) {
    case ir::UnaryKind::kRelu:
    case ir::UnaryKind::kReluN1To1:
    case ir::UnaryKind::kRelu6:
    case ir::UnaryKind::kRelu0To1:
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
      return CheckTableValue(1.0F, out);
    case ir::UnaryKind::kElu:
      return CheckTableValue(std::max(1.0F, LargestReal(in)), out);
    case ir::UnaryKind::kExp:
      return CheckTableValue(std::exp(LargestReal(in)), out);
    case ir::UnaryKind::kAbs:
      return CheckMultiplier(static_cast<double>(ratio));
    case ir::UnaryKind::kRsqrt:
      return CheckRsqrt(in, out);
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

// Claims RELU, RELU_N1_TO_1, RELU6, RELU_0_TO_1, LEAKY_RELU, TANH, HARD_SWISH: any shape
// Claims LOGISTIC: any shape; output scale 1/256, zero point -128 (uint8: 0)
// Claims ELU, ABS: int8; any shape
// Claims EXP: int8; any shape; no result beyond 2^30 counts
// Claims RSQRT: int8 with zero point -128 (TensorFlow Lite fails on negative values); any shape
Status CheckUnary(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConversion(graph, node));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(in));
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  const auto& params = std::get<ir::UnaryParams>(node.params);
  if (in.rebased_uint8 && IsInt8Only(params.kind)) return Unsupported(Reason::kTypeOnlyInt8);
  return CheckUnaryScales(params, in, out);
}

// Claims QUANTIZE: float32, int8 or uint8 to int8 or uint8
Status CheckQuantize(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConversion(graph, node));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckQuantizedByte(out));
  if (in.dtype == DataType::kFloat32) return OkStatus();
  NPU_RETURN_IF_ERROR(CheckQuantizedByte(in));
  return CheckMultiplier(static_cast<double>(in.quant.scale()) / out.quant.scale());
}

// Claims DEQUANTIZE: int8 or uint8 to float32
Status CheckDequantize(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConversion(graph, node));
  NPU_RETURN_IF_ERROR(CheckQuantizedByte(graph.input(node, 0).type));
  const ir::TensorType& out = graph.output(node).type;
  if (out.dtype != DataType::kFloat32) return Unsupported(Reason::kTypeMismatch, out.ToString());
  return OkStatus();
}

}  // namespace npu::ops
