// SPDX-License-Identifier: Apache-2.0
// Fixed-point functions of TensorFlow Lite's integer reference kernels: exponential, reciprocal and
// inverse square root. Qa.b = a integer bits and b fraction bits in int32.
// Source: tflite-delegate 4.6, 4.15, 4.19.
#ifndef SRC_ARITH_FIXED_POINT_H_
#define SRC_ARITH_FIXED_POINT_H_

#include <cstdint>

#include "src/arith/tflite.h"

namespace npu::arith {

// (a + b) / 2, ties away from zero. Source: tflite-delegate 4.6 ("rounding-half-sum").
constexpr int32_t RoundingHalfSum(int32_t a, int32_t b) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
}

// exp(t) in Q0.31 for t <= 0 in Q5.26; exp(0) = 2^31 - 1. Source: tflite-delegate 4.15 (REF).
int32_t ExpOfNegative(int32_t t);

// A positive number as value * 2^(-31 - shift).
struct ScaledInverse {
  int32_t value = 0;
  int shift = 0;
};

// RECIP(x, d): 1 / X of X = x * 2^(d - 31), that is x read with d integer digits; d = 31 is the
// plain integer. shift = d - countl_zero(x). Range: x >= 1, 0 <= d <= 31.
// Source: tflite-delegate 4.6.
ScaledInverse Reciprocal(int32_t x, int integer_digits);

// log(x) in Q5.26 for x >= 1 in Q12.19. Source: tflite-delegate 4.16 names the optimised kernel;
// the reference one, which this is, was measured on ai-edge-litert 2.3.
int32_t LogOfAtLeastOne(int32_t x);

// INVSQRT(s) for s >= 0: 1 / sqrt(s) as a multiplier pair (multiplier * 2^(exponent - 31)), by
// Newton's iteration in Q3.28. s <= 1 gives (2^31 - 1, 0). Source: tflite-delegate 4.19.
QuantizedMultiplier InverseSquareRoot(int32_t s);

}  // namespace npu::arith

#endif  // SRC_ARITH_FIXED_POINT_H_
