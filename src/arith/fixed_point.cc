// SPDX-License-Identifier: Apache-2.0
#include "src/arith/fixed_point.h"

#include <array>
#include <bit>
#include <limits>

namespace npu::arith {
namespace {

constexpr int32_t Srdhm(int32_t a, int32_t b) { return SaturatingRoundingDoublingHighMul(a, b); }

// v * 2^shift saturated to int32; negative shifts do not occur.
constexpr int32_t SaturatingShiftLeft(int64_t v, int shift) {
  return Saturate<int32_t>(v * (int64_t{1} << shift));
}

// exp on [-1/4, 0): argument and result in Q0.31.
constexpr int32_t ExpOnQuarter(int32_t argument) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;
  constexpr int32_t kOneThird = 715827883;
  const int32_t x = argument + (1 << 28);
  const int32_t x2 = Srdhm(x, x);
  const int32_t x3 = Srdhm(x2, x);
  const int32_t x4 = Srdhm(x2, x2);
  int32_t u = RoundingDivideByPot(x4, 2);
  u = Srdhm(u + x3, kOneThird) + x2;
  u = RoundingDivideByPot(u, 1);
  return Saturate<int32_t>(int64_t{kExpOfMinusEighth} + Srdhm(kExpOfMinusEighth, x + u));
}

}  // namespace

int32_t ExpOfNegative(int32_t t) {
  if (t == 0) return std::numeric_limits<int32_t>::max();
  constexpr int32_t kQuarter = 1 << 24;  // in Q5.26
  // exp(-2^k), k = -2..4, in Q0.31.
  constexpr std::array<int32_t, 7> kFactors = {1672461947, 1302514674, 790015084, 290630308,
                                               39332535,   720401,     242};
  const int32_t remainder_of_quarter = (t & (kQuarter - 1)) - kQuarter;
  const int32_t rest = remainder_of_quarter - t;  // >= 0, a sum of the powers of two above
  int32_t result = ExpOnQuarter(SaturatingShiftLeft(remainder_of_quarter, 5));
  for (size_t i = 0; i < kFactors.size(); ++i) {
    const int bit = 24 + static_cast<int>(i);
    if (((rest >> bit) & 1) != 0) result = Srdhm(result, kFactors[i]);
  }
  return result;
}

ScaledInverse Reciprocal(int32_t x, int integer_digits) {
  const auto bits = static_cast<uint32_t>(x);
  const int leading = std::countl_zero(bits);
  const auto fraction = static_cast<int32_t>((bits << leading) - (uint32_t{1} << 31));
  const int32_t half = RoundingHalfSum(fraction, std::numeric_limits<int32_t>::max());
  // Newton's iteration in Q2.29, started at 48/17 - 32/17 * half.
  int32_t y = 1515870810 + Srdhm(half, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = (1 << 29) - Srdhm(half, y);
    y = Saturate<int32_t>(int64_t{y} + SaturatingShiftLeft(Srdhm(y, error), 2));
  }
  return {SaturatingShiftLeft(y, 1), integer_digits - leading};
}

QuantizedMultiplier InverseSquareRoot(int32_t s) {
  if (s <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int shift = 11;
  while (s >= 1 << 29) {
    s /= 4;
    ++shift;
  }
  const int pairs = (std::countl_zero(static_cast<uint32_t>(s)) - 1) / 2 - 1;
  shift -= pairs;
  s <<= 2 * pairs;
  const int32_t half = RoundingDivideByPot(s >> 1, 1);
  int32_t x = 1 << 28;  // Q3.28
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = SaturatingShiftLeft(Srdhm(Srdhm(x, x), x), 6);
    x = SaturatingShiftLeft(int64_t{Srdhm(3 << 27, x)} - Srdhm(half, cube), 3);
  }
  x = Srdhm(x, 1518500250);  // sqrt(1/2) in Q0.31
  if (shift < 0) {
    x = internal::WrappingShiftLeft(x, -shift);
    shift = 0;
  }
  return {x, -shift};
}

}  // namespace npu::arith
