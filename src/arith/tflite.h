// SPDX-License-Identifier: Apache-2.0
// Rounding rules of TensorFlow Lite's 8-bit kernels, as pure functions of one element.
// Source: tflite-delegate 3 and 4, "litert-2.3" notes of section 11.7.
#ifndef SRC_ARITH_TFLITE_H_
#define SRC_ARITH_TFLITE_H_

#include <bit>
#include <cstdint>

#include "src/arith/rounding.h"
#include "src/base/checked.h"

namespace npu::arith {

// A real factor as multiplier * 2^(exponent - 31), 2^30 <= |multiplier| < 2^31 (or 0, 0).
struct QuantizedMultiplier {
  int32_t multiplier = 0;
  int exponent = 0;
  friend constexpr bool operator==(const QuantizedMultiplier&,
                                   const QuantizedMultiplier&) = default;
};

// QM(factor). Below 2^-32 the result is (0, 0). A negative factor (LEAKY_RELU with a negative
// alpha) gives a negative multiplier. Not finite or |factor| >= 2^31: (2^31 - 1, 31) with the
// factor's sign, NaN (0, 0); validated models never reach that.
// Example: 0.0019999998807907131 -> (1099511562, -8). Source: tflite-delegate 3.2.
QuantizedMultiplier QuantizeMultiplier(double factor);

// SRDHM(a, b) = floor((a * b + 2^30) / 2^31): ties toward +infinity; only a = b = -2^31 saturates.
// Source: tflite-delegate 3.3 (step 1 of DOUBLE), 4.6.
constexpr int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b) {
  return Saturate<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// R16(a, b) = floor((a * b + 2^14) / 2^15), saturating a = b = -32768. Source:
// tflite-delegate 4.14.
constexpr int16_t SaturatingRoundingDoublingHighMul16(int16_t a, int16_t b) {
  return Saturate<int16_t>((int32_t{a} * b + (1 << 14)) >> 15);
}

// x / 2^exponent, ties away from zero. Range: 0 <= exponent <= 62. Source: tflite-delegate 3.3.
constexpr int32_t RoundingDivideByPot(int32_t x, int exponent) {
  return static_cast<int32_t>(ShiftRightRound<Rounding::kHalfAway>(x, exponent));
}

// The ways in which TFLite kernels multiply by a quantized multiplier (tflite-delegate 3.3).
enum class RequantRounding : uint8_t {
  kDouble,    // DOUBLE: every reference kernel except FULLY_CONNECTED
  kDoubleUp,  // DOUBLE-UP: optimised x86 GEMM kernels
  kSingle,    // SINGLE: one rounding, ties toward +infinity
};

namespace internal {

// x * 2^left as int32 that wraps.
constexpr int32_t WrappingShiftLeft(int32_t x, int left) {
  return left > 31 ? 0 : static_cast<int32_t>(static_cast<uint32_t>(x) << left);
}

}  // namespace internal

// x * multiplier * 2^(exponent - 31) in the given rounding. The doubles shift left first and wrap
// in int32, as TFLite does; the singles saturate to int32.
// Ranges: exponent -62..31 (kDouble*), -31..30 (kSingle*). Source: tflite-delegate 3.3, 4.3.
template <RequantRounding kRounding>
constexpr int32_t MultiplyByQuantizedMultiplier(int32_t x, QuantizedMultiplier m) {
  if constexpr (kRounding == RequantRounding::kSingle) {
    return Saturate<int32_t>(
        ShiftRightRound<Rounding::kHalfUp>(int64_t{x} * m.multiplier, 31 - m.exponent));
  } else {
    const int left = m.exponent > 0 ? m.exponent : 0;
    const int right = m.exponent > 0 ? 0 : -m.exponent;
    const int32_t high =
        SaturatingRoundingDoublingHighMul(internal::WrappingShiftLeft(x, left), m.multiplier);
    constexpr Rounding kSecond =
        kRounding == RequantRounding::kDouble ? Rounding::kHalfAway : Rounding::kHalfUp;
    return static_cast<int32_t>(ShiftRightRound<kSecond>(high, right));
  }
}

// The canonical form (DOUBLE) without naming it; the same with the rounding chosen at run time.
constexpr int32_t MultiplyByQuantizedMultiplier(int32_t x, QuantizedMultiplier m) {
  return MultiplyByQuantizedMultiplier<RequantRounding::kDouble>(x, m);
}
constexpr int32_t MultiplyByQuantizedMultiplier(RequantRounding rounding, int32_t x,
                                                QuantizedMultiplier m) {
  switch (rounding) {
    case RequantRounding::kDouble:
      break;
    case RequantRounding::kDoubleUp:
      return MultiplyByQuantizedMultiplier<RequantRounding::kDoubleUp>(x, m);
    case RequantRounding::kSingle:
      return MultiplyByQuantizedMultiplier<RequantRounding::kSingle>(x, m);
  }
  return MultiplyByQuantizedMultiplier<RequantRounding::kDouble>(x, m);
}

// accumulator * factor in float64, ties away from zero, saturated to int32 (NaN: the minimum): the
// reference kernel of 8-bit FULLY_CONNECTED in ai-edge-litert 2.3. Measured there; tflite-delegate
// 4.3 has it with the quantized multiplier, which lies below factors such as 1/6 and 1/10 and then
// breaks their ties the other way. Beyond int32 the kernel's own conversion is undefined.
int32_t MultiplyByReal(int32_t accumulator, double factor);

// FP32-RNE: float(accumulator) * scale in float32, clamped to [qmin - zero_point, qmax -
// zero_point], rounded to nearest even, plus zero_point: XNNPACK's requantization. Uses the default
// rounding mode of the host. A NaN product gives qmin. Source: tflite-delegate 3.3, 3.6.
int32_t RequantizeFloat32(int32_t accumulator, float scale, int32_t zero_point, int32_t qmin,
                          int32_t qmax);

// Q(value) = zero_point + round(value / scale) with a float32 division, ties away from zero,
// saturated to int32. scale > 0. Source: tflite-delegate 3.4.
int32_t QuantizeBound(float value, float scale, int32_t zero_point);

struct QuantizedRange {
  int32_t min = 0;
  int32_t max = 0;
  friend constexpr bool operator==(const QuantizedRange&, const QuantizedRange&) = default;
};

// Output clamp of a fused activation that limits real values to [real_min, real_max]; infinite
// bounds leave the type's limit. None: (-inf, inf), Relu: (0, inf), Relu6: (0, 6), ReluN1To1:
// (-1, 1). Example: Relu6, scale 0.03, zero point -128 -> [-128, 72]. Source: tflite-delegate 3.4.
QuantizedRange ActivationRange(float real_min, float real_max, float scale, int32_t zero_point,
                               QuantizedRange type_range);

// MEAN, formula B: (m', e') with k = min(floor(log2 n), 32, 31 + e), m' = floor(m * 2^k / n),
// e' = e - k; the output is DOUBLE(sum - z_x * n, m', e') + z_y. Ranges: n >= 1, m.multiplier >= 0,
// m.exponent >= -31. Source: tflite-delegate 4.17.
constexpr QuantizedMultiplier MeanMultiplier(QuantizedMultiplier m, int64_t n) {
  int k = 63 - std::countl_zero(static_cast<uint64_t>(n));
  if (k > 32) k = 32;
  if (k > 31 + m.exponent) k = 31 + m.exponent;
  const uint64_t shifted = static_cast<uint64_t>(m.multiplier) << k;
  return {static_cast<int32_t>(shifted / static_cast<uint64_t>(n)), m.exponent - k};
}

}  // namespace npu::arith

#endif  // SRC_ARITH_TFLITE_H_
