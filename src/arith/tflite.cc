// SPDX-License-Identifier: Apache-2.0
#include "src/arith/tflite.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace npu::arith {
namespace {

// Nearest integer, ties away from zero, of a float64, saturated to int32; NaN gives the minimum.
int32_t RoundToInt32(double v) {
  constexpr double kMin = std::numeric_limits<int32_t>::min();
  constexpr double kMax = std::numeric_limits<int32_t>::max();
  if (!(v > kMin)) return std::numeric_limits<int32_t>::min();
  if (v >= kMax) return std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::round(v));
}

}  // namespace

QuantizedMultiplier QuantizeMultiplier(double factor) {
  if (factor == 0.0 || std::isnan(factor)) return {0, 0};
  constexpr double kLimit = 2147483648.0;  // 2^31
  if (std::fabs(factor) >= kLimit) {
    const int32_t max = std::numeric_limits<int32_t>::max();
    return {factor < 0 ? -max : max, 31};
  }
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  int64_t multiplier = std::llround(fraction * kLimit);
  if (multiplier == int64_t{1} << 31 || multiplier == -(int64_t{1} << 31)) {
    multiplier /= 2;
    ++exponent;
  }
  if (exponent < -31) return {0, 0};
  return {static_cast<int32_t>(multiplier), exponent};
}

int32_t MultiplyByReal(int32_t accumulator, double factor) {
  return RoundToInt32(static_cast<double>(accumulator) * factor);
}

int32_t RequantizeFloat32(int32_t accumulator, float scale, int32_t zero_point, int32_t qmin,
                          int32_t qmax) {
  const float scaled = static_cast<float>(accumulator) * scale;
  const float low = static_cast<float>(qmin - zero_point);
  const float high = static_cast<float>(qmax - zero_point);
  if (!(scaled > low)) return qmin;
  if (scaled >= high) return qmax;
  return static_cast<int32_t>(std::lrintf(scaled)) + zero_point;
}

int32_t QuantizeBound(float value, float scale, int32_t zero_point) {
  const float quotient = value / scale;
  return Saturate<int32_t>(int64_t{RoundToInt32(static_cast<double>(quotient))} + zero_point);
}

QuantizedRange ActivationRange(float real_min, float real_max, float scale, int32_t zero_point,
                               QuantizedRange type_range) {
  QuantizedRange range = type_range;
  if (std::isfinite(real_min)) {
    range.min = std::max(range.min, QuantizeBound(real_min, scale, zero_point));
  }
  if (std::isfinite(real_max)) {
    range.max = std::min(range.max, QuantizeBound(real_max, scale, zero_point));
  }
  return range;
}

}  // namespace npu::arith
