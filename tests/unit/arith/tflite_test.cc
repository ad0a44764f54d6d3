// SPDX-License-Identifier: Apache-2.0
#include "src/arith/tflite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "src/arith/window.h"
#include "tests/unit/arith/oracle.h"

namespace npu::arith {
namespace {

using oracle::Int128;
using oracle::Tie;

constexpr float kInf = std::numeric_limits<float>::infinity();

// tflite-delegate 3.3, written from its formulas.
int32_t Expected(RequantRounding rounding, int32_t x, QuantizedMultiplier m) {
  const Int128 product = Int128{x} * m.multiplier;
  if (rounding == RequantRounding::kSingle) {
    return static_cast<int32_t>(
        oracle::Sat(oracle::Nearest(product, oracle::PowerOfTwo(31 - m.exponent), Tie::kUp), 32));
  }
  const Int128 shifted = oracle::Wrap32(Int128{x} * oracle::PowerOfTwo(std::max(m.exponent, 0)));
  const Int128 high = oracle::Sat(
      oracle::FloorDivide(shifted * m.multiplier + oracle::PowerOfTwo(30), oracle::PowerOfTwo(31)),
      32);
  const Tie tie = rounding == RequantRounding::kDouble ? Tie::kAway : Tie::kUp;
  return static_cast<int32_t>(
      oracle::Nearest(high, oracle::PowerOfTwo(std::max(-m.exponent, 0)), tie));
}

constexpr RequantRounding kRoundings[] = {RequantRounding::kDouble, RequantRounding::kDoubleUp,
                                          RequantRounding::kSingle};

TEST(QuantizeMultiplier, WorkedNumbers) {
  const double m =
      static_cast<double>(0.02f) * static_cast<double>(0.005f) / static_cast<double>(0.05f);
  EXPECT_EQ(QuantizeMultiplier(m), (QuantizedMultiplier{1099511562, -8}));
  EXPECT_EQ(QuantizeMultiplier(0.25), (QuantizedMultiplier{1 << 30, -1}));
  EXPECT_EQ(QuantizeMultiplier(0.0), (QuantizedMultiplier{0, 0}));
  EXPECT_EQ(QuantizeMultiplier(std::ldexp(1.0, -40)), (QuantizedMultiplier{0, 0}));
  EXPECT_EQ(QuantizeMultiplier(std::ldexp(0.5, -31)), (QuantizedMultiplier{1 << 30, -31}));
  EXPECT_EQ(QuantizeMultiplier(1.0 - 1e-12), (QuantizedMultiplier{1 << 30, 1}));
  EXPECT_EQ(QuantizeMultiplier(-0.25), (QuantizedMultiplier{-(1 << 30), -1}));
}

TEST(QuantizeMultiplier, MultipliersOfTheOperatorExamples) {
  // ADD (4.5): s_a .05, s_b .02, s_y .08.
  const double twice = 2.0 * static_cast<double>(0.05f);
  EXPECT_EQ(QuantizeMultiplier(static_cast<double>(0.05f) / twice),
            (QuantizedMultiplier{1073741824, 0}));
  EXPECT_EQ(QuantizeMultiplier(static_cast<double>(0.02f) / twice),
            (QuantizedMultiplier{1717986854, -2}));
  EXPECT_EQ(QuantizeMultiplier(twice / static_cast<double>(1048576.0f * 0.08f)),
            (QuantizedMultiplier{1342177330, -19}));
  // MUL (4.6): all float32.
  EXPECT_EQ(QuantizeMultiplier(static_cast<double>(0.05f * 0.02f / 0.08f)),
            (QuantizedMultiplier{1717987072, -6}));
  // QUANTIZE (4.23).
  EXPECT_EQ(QuantizeMultiplier(static_cast<double>(0.05f) / static_cast<double>(0.02f)),
            (QuantizedMultiplier{1342177330, 2}));
  // TRANSPOSE_CONV (4.4).
  EXPECT_EQ(QuantizeMultiplier(static_cast<double>(0.1f) * static_cast<double>(0.01f) /
                               static_cast<double>(0.02f)),
            (QuantizedMultiplier{1717986944, -4}));
}

TEST(MultiplyByQuantizedMultiplier, WorkedTableOfQuarters) {
  struct Row {
    int x, twice, up, single, float32;
  };
  constexpr QuantizedMultiplier kQuarter{1 << 30, -1};
  for (const Row& r :
       {Row{-6, -2, -1, -1, -2}, Row{-2, -1, 0, 0, 0}, Row{2, 1, 1, 1, 0}, Row{6, 2, 2, 2, 2}}) {
    EXPECT_EQ(MultiplyByQuantizedMultiplier(r.x, kQuarter), r.twice) << r.x;
    EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kDoubleUp>(r.x, kQuarter), r.up);
    EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kSingle>(r.x, kQuarter), r.single);
    EXPECT_EQ(RequantizeFloat32(r.x, 0.25f, 0, -128, 127), r.float32) << r.x;
  }
}

TEST(MultiplyByQuantizedMultiplier, WorkedDoubleRoundingCases) {
  constexpr QuantizedMultiplier kFirst{1621981600, -5};
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(76452, kFirst.multiplier), 57744);
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kDouble>(76452, kFirst), 1805);
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kDoubleUp>(76452, kFirst), 1805);
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kSingle>(76452, kFirst), 1804);
  constexpr QuantizedMultiplier kSecond{1113106729, -5};
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kDouble>(-76399, kSecond), -1238);
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kDoubleUp>(-76399, kSecond), -1237);
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kSingle>(-76399, kSecond), -1237);
}

// Rows measured on FULLY_CONNECTED of ai-edge-litert 2.3 with scales 1, 1 and 1/M.
TEST(MultiplyByReal, TiesAwayFromZeroOfTheFloat64Product) {
  EXPECT_EQ(MultiplyByReal(125, 1.0 / 10.0), 13);
  EXPECT_EQ(MultiplyByReal(-125, 1.0 / 10.0), -13);
  EXPECT_EQ(MultiplyByReal(111, 1.0 / 6.0), 19);
  EXPECT_EQ(MultiplyByReal(-119, 1.0 / 14.0), -9);
  EXPECT_EQ(MultiplyByReal(-35, 1.0 / 70.0), -1);
  EXPECT_EQ(MultiplyByReal(124, 1.0 / 10.0), 12);
}

TEST(MultiplyByReal, SaturatesBeyondInt32) {
  EXPECT_EQ(MultiplyByReal(1 << 20, 4096.0), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(MultiplyByReal(-(1 << 20), 4096.0), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(MultiplyByReal(5, 0.0), 0);
}

TEST(MultiplyByQuantizedMultiplier, WorkedExamplesOfOperators) {
  constexpr QuantizedMultiplier kConv{1099511562, -8};  // 4.1
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(12345, kConv.multiplier), 6321);
  EXPECT_EQ(MultiplyByQuantizedMultiplier(12345, kConv), 25);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(-12250, kConv.multiplier), -6272);
  EXPECT_EQ(MultiplyByQuantizedMultiplier(-12250, kConv), -25);
  EXPECT_EQ(MultiplyByQuantizedMultiplier<RequantRounding::kDoubleUp>(-12250, kConv), -24);
  // TRANSPOSE_CONV (4.4): 30 -> 1.5 -> 2, + (-3) = -1.
  EXPECT_EQ(MultiplyByQuantizedMultiplier(30, {1717986944, -4}) - 3, -1);
  // ADD (4.5): (100, 20) -> 77, SUB 64; (-50, -128): ADD -53, SUB 7.
  const auto add = [](int a, int b, int sign) {
    const int32_t x = MultiplyByQuantizedMultiplier((a - 3) << 20, {1073741824, 0});
    const int32_t y = MultiplyByQuantizedMultiplier((b + 7) * (1 << 20), {1717986854, -2});
    return MultiplyByQuantizedMultiplier(x + sign * y, {1342177330, -19}) + 10;
  };
  EXPECT_EQ(MultiplyByQuantizedMultiplier(97 << 20, {1073741824, 0}), 50855936);
  EXPECT_EQ(MultiplyByQuantizedMultiplier(27 << 20, {1717986854, -2}), 5662310);
  EXPECT_EQ(add(100, 20, 1), 77);
  EXPECT_EQ(add(100, 20, -1), 64);
  EXPECT_EQ(MultiplyByQuantizedMultiplier(-53 * (1 << 20), {1073741824, 0}), -53 * (1 << 19));
  EXPECT_EQ(add(-50, -128, 1), -53);
  EXPECT_EQ(add(-50, -128, -1), 7);
  // MUL (4.6): 2619 -> 33 -> 43.
  EXPECT_EQ(MultiplyByQuantizedMultiplier(97 * 27, {1717987072, -6}) + 10, 43);
  // QUANTIZE (4.23).
  const auto quantize = [](int q) {
    return std::clamp(MultiplyByQuantizedMultiplier(q - 3, {1342177330, 2}) - 5, -128, 127);
  };
  EXPECT_EQ(quantize(-128), -128);
  EXPECT_EQ(quantize(0), -13);
  EXPECT_EQ(quantize(40), 88);
  EXPECT_EQ(quantize(50), 113);
}

TEST(MultiplyByQuantizedMultiplier, WorkedExamplesOfUnaryOperators) {
  // RELU6 (4.10): s .05 z -20 -> s .03 z -128.
  const QuantizedMultiplier relu = QuantizeMultiplier(static_cast<double>(0.05f / 0.03f));
  const QuantizedRange range = ActivationRange(0.0f, 6.0f, 0.03f, -128, {-128, 127});
  const auto relu6 = [&](int q) {
    return std::clamp(MultiplyByQuantizedMultiplier(q + 20, relu) - 128, range.min, range.max);
  };
  EXPECT_EQ(relu6(-128), -128);
  EXPECT_EQ(relu6(0), -95);
  EXPECT_EQ(relu6(50), -11);
  EXPECT_EQ(relu6(127), 72);
  // LEAKY_RELU (4.11): alpha .1, s .05 z 3 -> .04 z -5.
  const QuantizedMultiplier identity = QuantizeMultiplier(static_cast<double>(0.05f / 0.04f));
  const QuantizedMultiplier alpha = QuantizeMultiplier(static_cast<double>(0.05f * 0.1f / 0.04f));
  const auto leaky = [&](int q) {
    const int d = q - 3;
    return std::clamp(MultiplyByQuantizedMultiplier(d, d >= 0 ? identity : alpha) - 5, -128, 127);
  };
  EXPECT_EQ(leaky(-128), -22);
  EXPECT_EQ(leaky(0), -6);
  EXPECT_EQ(leaky(100), 116);
}

TEST(MultiplyByQuantizedMultiplier, MatchesOracleOverAccumulatorsAndExponents) {
  std::vector<int32_t> values = {std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max()};
  for (int32_t v = -600; v <= 600; ++v) values.push_back(v);
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) values.push_back(static_cast<int32_t>(random()) >> (i % 31));
  for (int32_t multiplier : {1 << 30, 1099511562, 1621981600, 1610612736, 2147483647, -(1 << 30),
                             std::numeric_limits<int32_t>::min(), 0, 3}) {
    for (int exponent = -31; exponent <= 30; ++exponent) {
      const QuantizedMultiplier m{multiplier, exponent};
      for (int32_t x : values) {
        for (RequantRounding rounding : kRoundings) {
          ASSERT_EQ(MultiplyByQuantizedMultiplier(rounding, x, m), Expected(rounding, x, m))
              << "rounding " << static_cast<int>(rounding) << " x " << x << " m " << multiplier
              << " e " << exponent;
        }
      }
    }
  }
}

TEST(MultiplyByQuantizedMultiplier, TinyFactorsOfDivisionStayDefined) {
  EXPECT_EQ(MultiplyByQuantizedMultiplier(std::numeric_limits<int32_t>::max(), {1 << 30, -62}), 0);
  EXPECT_EQ(MultiplyByQuantizedMultiplier(5, {1 << 30, 40}), 0);
}

TEST(SaturatingRoundingDoublingHighMul, OnlyTheOneCaseSaturates) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(kMin, kMin), kMax);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(kMin, kMax), -kMax);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(1, 1 << 30), 1);    // tie 0.5 goes up
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(-1, 1 << 30), 0);   // tie -0.5 goes up
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(-3, 1 << 30), -1);  // tie -1.5 goes up
}

TEST(SaturatingRoundingDoublingHighMul16, MatchesOracleForEveryRowOfSomeColumns) {
  for (int b : {-32768, -16384, -3, -1, 0, 1, 16384, 27307, 32767}) {
    for (int a = -32768; a <= 32767; ++a) {
      const Int128 expected = oracle::Sat(
          oracle::FloorDivide(Int128{a} * b + oracle::PowerOfTwo(14), oracle::PowerOfTwo(15)), 16);
      ASSERT_EQ(
          SaturatingRoundingDoublingHighMul16(static_cast<int16_t>(a), static_cast<int16_t>(b)),
          static_cast<int16_t>(expected));
    }
  }
}

TEST(RequantizeFloat32, RoundsHalfToEvenAndClamps) {
  EXPECT_EQ(RequantizeFloat32(5, 0.5f, 10, -128, 127), 12);
  EXPECT_EQ(RequantizeFloat32(7, 0.5f, 10, -128, 127), 14);
  EXPECT_EQ(RequantizeFloat32(-5, 0.5f, 10, -128, 127), 8);
  EXPECT_EQ(RequantizeFloat32(1 << 30, 1.0f, 10, -128, 127), 127);
  EXPECT_EQ(RequantizeFloat32(-(1 << 30), 1.0f, 10, -128, 127), -128);
  EXPECT_EQ(RequantizeFloat32(1, std::numeric_limits<float>::quiet_NaN(), 0, -128, 127), -128);
}

TEST(ActivationRange, WorkedExampleAndTheFourActivations) {
  constexpr QuantizedRange kInt8{-128, 127};
  EXPECT_EQ(ActivationRange(0.0f, 6.0f, 0.03f, -128, kInt8), (QuantizedRange{-128, 72}));
  EXPECT_EQ(ActivationRange(-kInf, kInf, 0.03f, 5, kInt8), kInt8);
  EXPECT_EQ(ActivationRange(0.0f, kInf, 0.03f, 5, kInt8), (QuantizedRange{5, 127}));
  EXPECT_EQ(ActivationRange(-1.0f, 1.0f, 0.03f, 5, kInt8), (QuantizedRange{-28, 38}));
  EXPECT_EQ(ActivationRange(-1.0f, 1.0f, 1e-30f, 5, kInt8), kInt8);
}

TEST(MeanMultiplier, WorkedExampleOfFormulaB) {
  const QuantizedMultiplier m =
      QuantizeMultiplier(static_cast<double>(0.05f) / static_cast<double>(0.04f));
  EXPECT_EQ(MultiplyByQuantizedMultiplier(-116 + 20 * 4, MeanMultiplier(m, 4)) - 5, -17);
  // Formula A of the same example gives -16.
  const float offset = -20.0f * 0.05f / 0.04f;
  const QuantizedMultiplier a = QuantizeMultiplier(static_cast<double>(0.05f / (4.0f * 0.04f)));
  EXPECT_EQ(MultiplyByQuantizedMultiplier(-116, a) + (-5 - static_cast<int>(offset - 0.5f)), -16);
}

TEST(MeanMultiplier, MatchesOracle) {
  for (int32_t multiplier : {1 << 30, 1342177280, 2147483647}) {
    for (int exponent = -31; exponent <= 8; ++exponent) {
      for (int64_t n : {1, 2, 3, 4, 49, 64, 92, 12544, 1 << 30}) {
        int k = 0;
        while (k < 32 && k < 31 + exponent && (int64_t{2} << k) <= n) ++k;
        const Int128 expected = Int128{multiplier} * oracle::PowerOfTwo(k) / n;
        ASSERT_EQ(MeanMultiplier({multiplier, exponent}, n),
                  (QuantizedMultiplier{static_cast<int32_t>(expected), exponent - k}));
      }
    }
  }
}

TEST(WindowOutput, WorkedExamples) {
  // tflite-delegate 3.1: (in, kernel, stride, dilation) -> out, leading, trailing.
  EXPECT_EQ(WindowOutput({224, 3, 2, 1}, true), (WindowExtent{112, 0, 1}));
  EXPECT_EQ(WindowOutput({225, 3, 2, 1}, true), (WindowExtent{113, 1, 1}));
  EXPECT_EQ(WindowOutput({10, 5, 2, 1}, true), (WindowExtent{5, 1, 2}));
  EXPECT_EQ(WindowOutput({20, 3, 1, 2}, true), (WindowExtent{20, 2, 2}));
  EXPECT_EQ(WindowOutput({224, 3, 2, 1}, false), (WindowExtent{111, 0, 0}));
  EXPECT_EQ(WindowOutput({4, 9, 1, 1}, false).out, 0);
}

}  // namespace
}  // namespace npu::arith
