// SPDX-License-Identifier: Apache-2.0
#include "src/arith/fixed_point.h"

#include <algorithm>
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

// 1 / (1 + x) in Q0.31 for x in [0, 1).
constexpr int32_t InverseOfOnePlus(int32_t x) {
  const int32_t half = RoundingHalfSum(x, std::numeric_limits<int32_t>::max());
  // Newton's iteration in Q2.29, started at 48/17 - 32/17 * half.
  int32_t y = 1515870810 + Srdhm(half, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = (1 << 29) - Srdhm(half, y);
    y = Saturate<int32_t>(int64_t{y} + SaturatingShiftLeft(Srdhm(y, error), 2));
  }
  return SaturatingShiftLeft(y, 1);
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

// The larger power of two that x or x * sqrt(1/2) reaches is taken out; log of the rest, a number
// near 2^(-1/4), is a quotient of polynomials. Q0.31 unless said.
int32_t LogOfAtLeastOne(int32_t x) {
  constexpr int kIntegerBits = 12;    // of x
  constexpr int kPowerFraction = 25;  // powers of two are held in Q6.25
  constexpr int32_t kQuarterPower = 1 << 23;
  constexpr int32_t kSqrtHalf = 1518500250, kFourthRootHalf = 1805811301, kLog2 = 1488522236;
  constexpr int32_t kAlphaN = 117049297, kAlphaD = 127690142;   // 11/240 and 1/20 of 2^(1/4)
  constexpr int32_t kAlphaI = 1057819769, kAlphaF = 638450708;  // 2^(3/4) - 2^(1/4), 2^(1/4)/4
  const int room_a = std::countl_zero(static_cast<uint32_t>(x));
  const int32_t rest_a =
      SaturatingShiftLeft(Srdhm(SaturatingShiftLeft(x, room_a - 1), kSqrtHalf), 1);
  const int32_t power_a = ((kIntegerBits - room_a) * (1 << kPowerFraction)) + kQuarterPower;
  const int room_b = std::countl_zero(static_cast<uint32_t>(Srdhm(x, kSqrtHalf))) - 1;
  const int32_t rest_b = SaturatingShiftLeft(x, room_b);
  const int32_t power_b = ((kIntegerBits - room_b) * (1 << kPowerFraction)) - kQuarterPower;
  const int32_t r = std::min(rest_a, rest_b);
  const int32_t power = std::max(power_a, power_b);

  const int32_t p = RoundingHalfSum(r, kFourthRootHalf);
  const int32_t q = 2 * (r - kFourthRootHalf);
  const int32_t square = Srdhm(q, q);
  const int32_t numerator = Srdhm(q, r) + Srdhm(Srdhm(q, square), kAlphaN);
  const int32_t denominator = Srdhm(p, kAlphaI + q + Srdhm(kAlphaD, square)) + Srdhm(kAlphaF, q);
  const int32_t quotient =
      Srdhm(RoundingDivideByPot(numerator, 31 - kPowerFraction), InverseOfOnePlus(denominator));
  return SaturatingShiftLeft(int64_t{Srdhm(power, kLog2)} + quotient, 1);
}

ScaledInverse Reciprocal(int32_t x, int integer_digits) {
  const auto bits = static_cast<uint32_t>(x);
  const int leading = std::countl_zero(bits);
  const auto fraction = static_cast<int32_t>((bits << leading) - (uint32_t{1} << 31));
  return {InverseOfOnePlus(fraction), integer_digits - leading};
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
