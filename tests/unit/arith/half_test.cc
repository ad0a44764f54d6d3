// SPDX-License-Identifier: Apache-2.0
#include "src/arith/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace npu::arith {
namespace {

double Value(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 0x3FF;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryPatternConvertsExactlyAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    const bool special = ((half >> 10) & 31) == 31;
    if (special && (half & 0x3FF) != 0) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(FloatToHalf(value), kHalfNan);
      continue;
    }
    if (special) {
      EXPECT_TRUE(std::isinf(value));
    } else {
      EXPECT_EQ(static_cast<double>(value), Value(half)) << bits;
    }
    EXPECT_EQ(FloatToHalf(value), half);
  }
}

// Between every two neighbours: below the middle, the middle (to the even one), above.
TEST(Half, RoundsToNearestTiesToEvenEverywhere) {
  for (uint16_t low = 0; low < 0x7BFF; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const auto middle = static_cast<float>((Value(low) + Value(high)) / 2);
    const uint16_t even = (low & 1) == 0 ? low : high;
    ASSERT_EQ(FloatToHalf(middle), even) << low;
    ASSERT_EQ(FloatToHalf(-middle), even | 0x8000) << low;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e9f)), high) << low;
  }
}

TEST(Half, OverflowUnderflowAndSpecials) {
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65519.99f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0f), kHalfInfinity);
  EXPECT_EQ(FloatToHalf(-1e30f), 0xFC00);
  EXPECT_EQ(FloatToHalf(std::ldexp(1.0f, -25)), 0);
  EXPECT_EQ(FloatToHalf(std::nextafter(std::ldexp(1.0f, -25), 1.0f)), 1);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::quiet_NaN()), 0x7C01);
}

// The table of rk3588-dpu-ppu 4.8.
TEST(Half, MinusExponentEditsTheExponentFieldOnly) {
  EXPECT_EQ(MinusExponent(0x0000, 15), 0x4400);
  EXPECT_EQ(MinusExponent(0x0000, 14), 0x4800);
  EXPECT_EQ(MinusExponent(0x0000, 13), 0x4C00);
  EXPECT_EQ(MinusExponent(0x0000, 11), 0x5400);
  EXPECT_EQ(MinusExponent(0x0000, 10), 0x5800);
  EXPECT_EQ(MinusExponent(0x7C01, 1), 0x7801);
  EXPECT_EQ(MinusExponent(0x7C01, 16), 0x3C01);
  EXPECT_EQ(MinusExponent(0x7C00, 16), 0x3C00);
  EXPECT_EQ(MinusExponent(0xFC00, 16), 0xBC00);
  EXPECT_EQ(MinusExponent(0x3C00, 15), 0x0000);
  EXPECT_EQ(FloatToHalf(23956.0f), 0x75D9);
  EXPECT_EQ(MinusExponent(0x75D9, 15), 0x39D9);
}

}  // namespace
}  // namespace npu::arith
