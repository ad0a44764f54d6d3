// SPDX-License-Identifier: Apache-2.0
#include "src/arith/fixed_point.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace npu::arith {
namespace {

TEST(RoundingHalfSum, TiesAwayFromZero) {
  EXPECT_EQ(RoundingHalfSum(1, 2), 2);
  EXPECT_EQ(RoundingHalfSum(-1, -2), -2);
  EXPECT_EQ(RoundingHalfSum(2, 2), 2);
  EXPECT_EQ(RoundingHalfSum(-5, 5), 0);
}

TEST(ExpOfNegative, IsTheExponentialToNineDigits) {
  EXPECT_EQ(ExpOfNegative(0), std::numeric_limits<int32_t>::max());
  for (int64_t t = -1; t > std::numeric_limits<int32_t>::min(); t -= 99991) {
    const double exact = std::exp(std::ldexp(static_cast<double>(t), -26));
    const double got = std::ldexp(ExpOfNegative(static_cast<int32_t>(t)), -31);
    ASSERT_NEAR(got, exact, 1e-6) << t;
  }
}

TEST(Reciprocal, IsTheReciprocalToEightDigits) {
  for (int64_t x = 1; x < (int64_t{1} << 31); x = x * 5 / 4 + 1) {
    const ScaledInverse r = Reciprocal(static_cast<int32_t>(x), 31);
    ASSERT_EQ(r.shift, 31 - std::countl_zero(static_cast<uint32_t>(x)));
    const double got = std::ldexp(r.value, -31 - r.shift);
    ASSERT_NEAR(got * static_cast<double>(x), 1.0, 1e-8) << x;
  }
}

TEST(Reciprocal, DivisionExamples) {
  // tflite-delegate 4.6: DIV of uint8, s .05 z 10 / s .02 z 5 -> s .1 z 3.
  const QuantizedMultiplier m = QuantizeMultiplier(static_cast<double>(0.05f / (0.02f * 0.1f)));
  const auto divide = [&](int a, int b) {
    const ScaledInverse inverse = Reciprocal(b - 5, 31);
    const int32_t x = a - 10;
    const int headroom = std::countl_zero(static_cast<uint32_t>(x)) - 1;
    const int32_t p = SaturatingRoundingDoublingHighMul(x << headroom, inverse.value);
    return 3 +
           MultiplyByQuantizedMultiplier(p, {m.multiplier, m.exponent - inverse.shift - headroom});
  };
  EXPECT_EQ(divide(200, 25), 240);
  EXPECT_EQ(divide(40, 200), 7);
}

TEST(InverseSquareRoot, NormalizationAndRsqrtExamples) {
  // tflite-delegate 4.19: int8 z 3 {10,-20,33,3} -> {23,-77,100,0}.
  const std::array<int, 4> d = {7, -23, 30, 0};
  int32_t squares = 0;
  for (int v : d) squares += v * v;
  const QuantizedMultiplier m = InverseSquareRoot(squares);
  const std::array<int, 4> expected = {23, -77, 100, 0};
  for (size_t i = 0; i < d.size(); ++i) {
    EXPECT_EQ(MultiplyByQuantizedMultiplier(d[i], {m.multiplier, m.exponent + 7}), expected[i]);
  }
  // 4.20 RSQRT: s .05 z -128 -> .02 z -128.
  const auto rsqrt = [](int q) {
    const QuantizedMultiplier r = InverseSquareRoot(q + 128);
    const int32_t t = MultiplyByQuantizedMultiplier(1, {r.multiplier, r.exponent + 20});
    const QuantizedMultiplier s =
        QuantizeMultiplier(static_cast<double>(1.0f / (std::sqrt(0.05f) * 0.02f)));
    return std::clamp(MultiplyByQuantizedMultiplier(t, {s.multiplier, s.exponent - 20}) - 128, -128,
                      127);
  };
  EXPECT_EQ(rsqrt(-127), 96);
  EXPECT_EQ(rsqrt(-108), -78);
  EXPECT_EQ(rsqrt(0), -108);
}

TEST(InverseSquareRoot, IsTheInverseSquareRoot) {
  EXPECT_EQ(InverseSquareRoot(1), (QuantizedMultiplier{std::numeric_limits<int32_t>::max(), 0}));
  for (int64_t s = 2; s < (int64_t{1} << 31); s = s * 9 / 8 + 1) {
    const QuantizedMultiplier m = InverseSquareRoot(static_cast<int32_t>(s));
    const double got = std::ldexp(m.multiplier, m.exponent - 31);
    // Five Newton steps from a fixed start leave up to 2e-6 where the argument is smallest.
    ASSERT_NEAR(got * std::sqrt(static_cast<double>(s)), 1.0, 4e-6) << s;
  }
}

TEST(Softmax, ReferenceExample) {
  // tflite-delegate 4.15: s .1, beta 1, {10,20,30,0} -> {-106,-67,37,-120}.
  const QuantizedMultiplier m = QuantizeMultiplier(static_cast<double>(0.1f) * std::ldexp(1.0, 26));
  const std::array<int, 4> q = {10, 20, 30, 0};
  const std::array<int, 4> expected = {-106, -67, 37, -120};
  const auto exponential = [&](int v) {
    return ExpOfNegative(
        SaturatingRoundingDoublingHighMul((v - 30) * (1 << m.exponent), m.multiplier));
  };
  int32_t sum = 0;
  for (int v : q) sum += RoundingDivideByPot(exponential(v), 12);
  const ScaledInverse inverse = Reciprocal(sum, 12);
  for (size_t i = 0; i < q.size(); ++i) {
    const int32_t scaled = SaturatingRoundingDoublingHighMul(inverse.value, exponential(q[i]));
    EXPECT_EQ(RoundingDivideByPot(scaled, inverse.shift + 23) - 128, expected[i]);
  }
}

TEST(HardSwish, ReferenceExample) {
  // tflite-delegate 4.14: s .05 z 3 -> .03 z -100, from R16 and divisions alone.
  const float h = (1.0f / 128.0f) * 0.05f;
  const QuantizedMultiplier out = QuantizeMultiplier(static_cast<double>(h / 0.03f));
  const QuantizedMultiplier relu = QuantizeMultiplier(static_cast<double>(h / (3.0f / 32768.0f)));
  EXPECT_EQ(out, (QuantizedMultiplier{1789569792, -6}));
  EXPECT_EQ(relu, (QuantizedMultiplier{1145324672, 3}));
  const auto high = [](int32_t m) { return static_cast<int16_t>((m + (1 << 15)) >> 16); };
  const auto sat16 = [](int v) { return static_cast<int16_t>(std::clamp(v, -32768, 32767)); };
  const auto swish = [&](int q) {
    const auto v = static_cast<int16_t>((q - 3) * 128);
    const int16_t p = SaturatingRoundingDoublingHighMul16(v, high(out.multiplier));
    int16_t r = sat16(v * (1 << (relu.exponent - 1)));
    r = sat16(SaturatingRoundingDoublingHighMul16(r, high(relu.multiplier)) * 2);
    r = static_cast<int16_t>((r + 32768) >> 1);
    const int o = r * p / 32768;
    return std::clamp(RoundingDivideByPot(o, -out.exponent) - 100, -128, 127);
  };
  EXPECT_EQ(swish(-128), -100);
  EXPECT_EQ(swish(-57), -100);
  EXPECT_EQ(swish(0), -102);
  EXPECT_EQ(swish(3), -100);
  EXPECT_EQ(swish(30), -67);
  EXPECT_EQ(swish(127), 107);
}

TEST(LogOfAtLeastOne, IsCloseToTheLogarithm) {
  for (int64_t x = int64_t{1} << 19; x < int64_t{1} << 31; x += 1 + x / 97) {
    const double real = std::log(static_cast<double>(x) / double{1 << 19});
    const double got = LogOfAtLeastOne(static_cast<int32_t>(x)) / double{1 << 26};
    EXPECT_NEAR(got, real, 1e-5) << x;
  }
}

TEST(LogOfAtLeastOne, StaysInsideItsRangeAtTheEnds) {
  EXPECT_NEAR(LogOfAtLeastOne(1 << 19), 0, 16);
  EXPECT_NEAR(LogOfAtLeastOne(std::numeric_limits<int32_t>::max()) / double{1 << 26},
              12 * std::log(2.0), 1e-5);
}

}  // namespace
}  // namespace npu::arith
