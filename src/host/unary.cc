// SPDX-License-Identifier: Apache-2.0
// RELU, RELU_N1_TO_1, RELU_0_TO_1, RELU6, LEAKY_RELU, LOGISTIC, TANH, HARD_SWISH, ELU, EXP, ABS and
// RSQRT as tables.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/arith/fixed_point.h"
#include "src/arith/rounding.h"
#include "src/arith/tflite.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/table.h"

namespace npu::host {
namespace {

using arith::MultiplyByQuantizedMultiplier;
using arith::QuantizedMultiplier;
using arith::QuantizedRange;

struct UnaryQuant {
  float input_scale = 1.0F, output_scale = 1.0F;
  int32_t input_zero = 0, output_zero = 0;
  QuantizedRange range;
};

int32_t ClampTo(const QuantizedRange& range, int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, range.min, range.max));
}

// 4.10: rescale, then clamp to the real bounds.
int32_t ReluEntry(const UnaryQuant& q, QuantizedMultiplier m, const QuantizedRange& clamp,
                  int32_t value) {
  return ClampTo(clamp,
                 int64_t{q.output_zero} + MultiplyByQuantizedMultiplier(value - q.input_zero, m));
}

// 4.11: one multiplier for each sign. A negative one is applied as its magnitude and the result
// negated, which decides the ties (measured on ai-edge-litert 2.3).
int32_t LeakyReluEntry(const UnaryQuant& q, QuantizedMultiplier identity, QuantizedMultiplier slope,
                       int32_t value) {
  const int32_t d = value - q.input_zero;
  QuantizedMultiplier m = d >= 0 ? identity : slope;
  const bool negate = m.multiplier < 0;
  if (negate) m.multiplier = -m.multiplier;
  const int64_t scaled = MultiplyByQuantizedMultiplier(d, m);
  return ClampTo(q.range, int64_t{q.output_zero} + (negate ? -scaled : scaled));
}

// 3.5: float32 function of the real value. The sum with the zero point is a float sum too.
template <typename Fn>
int32_t FloatEntry(const UnaryQuant& q, const Fn& function, int32_t value) {
  const float x = q.input_scale * static_cast<float>(value - q.input_zero);
  const float inverse_scale = 1.0F / q.output_scale;
  const float rounded = std::round(function(x) * inverse_scale);
  const float stored = rounded + static_cast<float>(q.output_zero);
  // Clamped as float: the same number, without an out-of-range conversion (NaN: the low bound).
  const auto low = static_cast<float>(q.range.min);
  const auto high = static_cast<float>(q.range.max);
  return static_cast<int32_t>(stored > low ? std::min(stored, high) : low);
}

// 4.14: fixed point in 16 bits.
class HardSwish {
 public:
  explicit HardSwish(const UnaryQuant& q) : q_(q) {
    const float fine_scale = (1.0F / 128.0F) * q.input_scale;
    const QuantizedMultiplier output =
        arith::QuantizeMultiplier(static_cast<double>(fine_scale / q.output_scale));
    const QuantizedMultiplier relu =
        arith::QuantizeMultiplier(static_cast<double>(fine_scale / (3.0F / 32768.0F)));
    output_multiplier_ = HighHalf(output.multiplier);
    output_exponent_ = output.exponent;
    relu_multiplier_ = HighHalf(relu.multiplier);
    relu_exponent_ = relu.exponent;
  }

  int32_t Entry(int32_t value) const {
    const auto fine = static_cast<int16_t>((value - q_.input_zero) * 128);
    const int16_t preshift = arith::SaturatingRoundingDoublingHighMul16(fine, output_multiplier_);
    int16_t relu = fine;
    if (relu_exponent_ > 0) relu = ShiftLeft(relu, relu_exponent_ - 1);
    relu = arith::SaturatingRoundingDoublingHighMul16(relu, relu_multiplier_);
    if (relu_exponent_ > 0) relu = ShiftLeft(relu, 1);
    if (relu_exponent_ < 0) relu = Divide(relu, -relu_exponent_);
    relu = static_cast<int16_t>((relu + 32768) >> 1);
    // Both factors are below 2^15 in magnitude: the truncating division cannot overflow.
    const auto product = static_cast<int16_t>(int32_t{relu} * preshift / 32768);
    const int16_t scaled = output_exponent_ < 0 ? Divide(product, -output_exponent_) : product;
    return ClampTo(q_.range, int64_t{scaled} + q_.output_zero);
  }

 private:
  static int16_t HighHalf(int32_t multiplier) {
    if (multiplier >= std::numeric_limits<int32_t>::max() - (1 << 15)) return 32767;
    return static_cast<int16_t>((multiplier + (1 << 15)) >> 16);
  }
  static int16_t ShiftLeft(int16_t value, int amount) {
    return Saturate<int16_t>(int64_t{value} * (int64_t{1} << std::min(amount, 31)));
  }
  static int16_t Divide(int16_t value, int exponent) {
    return static_cast<int16_t>(arith::RoundingDivideByPot(value, std::min(exponent, 31)));
  }

  UnaryQuant q_;
  int16_t output_multiplier_ = 0, relu_multiplier_ = 0;
  int output_exponent_ = 0, relu_exponent_ = 0;
};

template <typename Fn>
ByteTable Fill(DataType dtype, const Fn& entry) {
  ByteTable table;
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<uint8_t>(entry(StoredValue(dtype, i)));
  }
  return table;
}

ByteTable ReluTable(DataType dtype, const UnaryQuant& q, float low, float high) {
  const QuantizedMultiplier m =
      arith::QuantizeMultiplier(static_cast<double>(q.input_scale / q.output_scale));
  const QuantizedRange clamp =
      arith::ActivationRange(low, high, q.output_scale, q.output_zero, q.range);
  return Fill(dtype, [&](int32_t value) { return ReluEntry(q, m, clamp, value); });
}

ByteTable LeakyReluTable(DataType dtype, const UnaryQuant& q, float alpha) {
  const QuantizedMultiplier identity =
      arith::QuantizeMultiplier(static_cast<double>(q.input_scale / q.output_scale));
  const QuantizedMultiplier slope =
      arith::QuantizeMultiplier(static_cast<double>(q.input_scale * alpha / q.output_scale));
  return Fill(dtype, [&](int32_t value) { return LeakyReluEntry(q, identity, slope, value); });
}

// 4.20: equal scales move the distance only.
ByteTable AbsTable(DataType dtype, const UnaryQuant& q) {
  const QuantizedMultiplier m =
      arith::QuantizeMultiplier(static_cast<double>(q.input_scale / q.output_scale));
  const bool same = q.input_scale == q.output_scale;
  return Fill(dtype, [&](int32_t value) {
    const int32_t d = std::abs(value - q.input_zero);
    return ClampTo(q.range,
                   int64_t{q.output_zero} + (same ? d : MultiplyByQuantizedMultiplier(d, m)));
  });
}

// 4.20: 2^20 / sqrt(d), rescaled. Below the zero point TFLite fails; the support rule leaves no
// such value.
ByteTable RsqrtTable(DataType dtype, const UnaryQuant& q) {
  constexpr int kFraction = 20;
  QuantizedMultiplier scale = arith::QuantizeMultiplier(
      1.0 / static_cast<double>(std::sqrt(q.input_scale) * q.output_scale));
  scale.exponent -= kFraction;
  return Fill(dtype, [&](int32_t value) {
    const int32_t d = value - q.input_zero;
    if (d <= 0) return q.range.max;
    QuantizedMultiplier root = arith::InverseSquareRoot(d);
    root.exponent += kFraction;
    const int32_t fine = MultiplyByQuantizedMultiplier(1, root);
    return ClampTo(q.range, int64_t{q.output_zero} + MultiplyByQuantizedMultiplier(fine, scale));
  });
}

ByteTable MakeTable(const ir::UnaryParams& params, const ir::TensorType& input,
                    const ir::TensorType& output) {
  const UnaryQuant q{.input_scale = input.quant.scale(),
                     .output_scale = output.quant.scale(),
                     .input_zero = input.quant.zero_point(),
                     .output_zero = output.quant.zero_point(),
                     .range = TypeRange(output.dtype)};
  const DataType dtype = input.dtype;
  switch (params.kind) {
    case ir::UnaryKind::kRelu:
      return ReluTable(dtype, q, 0.0F, std::numeric_limits<float>::infinity());
    case ir::UnaryKind::kReluN1To1:
      return ReluTable(dtype, q, -1.0F, 1.0F);
    case ir::UnaryKind::kRelu6:
      return ReluTable(dtype, q, 0.0F, 6.0F);
    case ir::UnaryKind::kRelu0To1:
      return ReluTable(dtype, q, 0.0F, 1.0F);
    case ir::UnaryKind::kLeakyRelu:
      return LeakyReluTable(dtype, q, params.alpha);
    case ir::UnaryKind::kLogistic:
      return Fill(dtype, [&](int32_t value) {
        return FloatEntry(
            q, [](float x) { return 1.0F / (1.0F + std::exp(-x)); }, value);
      });
    case ir::UnaryKind::kTanh:
      return Fill(dtype, [&](int32_t value) {
        return FloatEntry(
            q, [](float x) { return std::tanh(x); }, value);
      });
    case ir::UnaryKind::kElu:
      return Fill(dtype, [&](int32_t value) {
        return FloatEntry(
            q, [](float x) { return x < 0.0F ? std::expm1(x) : x; }, value);
      });
    case ir::UnaryKind::kExp:
      return Fill(dtype, [&](int32_t value) {
        return FloatEntry(
            q, [](float x) { return std::exp(x); }, value);
      });
    case ir::UnaryKind::kAbs:
      return AbsTable(dtype, q);
    case ir::UnaryKind::kRsqrt:
      return RsqrtTable(dtype, q);
    case ir::UnaryKind::kHardSwish:
      break;
  }
  const HardSwish hard_swish(q);
  return Fill(dtype, [&](int32_t value) { return hard_swish.Entry(value); });
}

}  // namespace

KernelResult MakeUnary(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const auto& params = std::get<ir::UnaryParams>(node.params);
  return KernelResult(MakeTableKernel(MakeTable(params, input, graph.output(node).type), input));
}

}  // namespace npu::host
