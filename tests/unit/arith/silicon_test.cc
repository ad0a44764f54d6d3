// SPDX-License-Identifier: Apache-2.0
#include "src/arith/silicon.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/arith/oracle.h"

namespace npu::arith {
namespace {

using oracle::Int128;
using oracle::Tie;

int32_t ExpectedBsMultiply(int64_t t, int c, int positive, int negative) {
  const Int128 product = Int128{t} * c;
  const int shift = product >= 0 ? positive : negative;
  return static_cast<int32_t>(
      oracle::Sat(oracle::Nearest(product, oracle::PowerOfTwo(shift), Tie::kEven), 32));
}

int8_t ExpectedOutConvert(int64_t v, const Converter& c) {
  const Tie tie = c.rounding == Rounding::kHalfEven ? Tie::kEven : Tie::kAway;
  const Int128 product = (c.add_first ? Int128{v} + c.offset : Int128{v}) * c.scale;
  Int128 y = oracle::Nearest(product, oracle::PowerOfTwo(c.shift), tie);
  if (!c.add_first) y += c.offset;
  return static_cast<int8_t>(oracle::Sat(y, 8));
}

std::vector<int32_t> Accumulators() {
  std::vector<int32_t> values = {0, std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max()};
  for (int32_t v = -300; v <= 300; ++v) values.push_back(v);
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<int32_t>(random()) >> (i % 31));
  return values;
}

TEST(Saturate, KeepsAndClamps) {
  EXPECT_EQ(SaturateToInt8(127), 127);
  EXPECT_EQ(SaturateToInt8(128), 127);
  EXPECT_EQ(SaturateToInt8(-129), -128);
  EXPECT_EQ(SaturateToInt16(40000), 32767);
  EXPECT_EQ(SaturateToInt16(-40000), -32768);
  EXPECT_EQ(SaturateToInt32(int64_t{1} << 31), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(SaturateToInt32(-(int64_t{1} << 31) - 1), std::numeric_limits<int32_t>::min());
}

TEST(ClipTruncate, RoundsThenSaturates) {
  EXPECT_EQ(ClipTruncate(5, 1, Rounding::kHalfEven), 2);
  EXPECT_EQ(ClipTruncate(5, 1, Rounding::kHalfUp), 3);
  EXPECT_EQ(ClipTruncate(-5, 1, Rounding::kHalfUp), -2);
  EXPECT_EQ(ClipTruncate(int64_t{1} << 33, 1, Rounding::kHalfEven),
            std::numeric_limits<int32_t>::max());
  EXPECT_EQ(ClipTruncate(int64_t{1} << 32, 2, Rounding::kHalfEven), 1 << 30);
}

TEST(Cpend, WorkedExamples) {
  // conv-matmul 6.3: x = {5, -7}, x0 = 1, w = {4, -2}, w0 = 3, bias 10.
  const int64_t sum = 5 * 4 + -7 * -2;
  const int64_t operand = 10 - 1 * ((4 - 3) + (-2 - 3));
  EXPECT_EQ(sum, 34);
  EXPECT_EQ(operand, 14);
  EXPECT_EQ(Cpend(sum, -3, 5 - 7) + operand, 54);
  // dpu-ppu 4.2: w_u8 = 130, wzp = 120, x = 3.
  EXPECT_EQ(Cpend(2 * 3, 8, 3), 30);
}

TEST(BsMultiply, MatchesOracleOverTiesSignsAndShifts) {
  for (int32_t t : Accumulators()) {
    for (int c : {-32768, -3, -1, 0, 1, 2, 3, 1365, 8192, 16384, 32767}) {
      for (int shift : {0, 1, 2, 14, 15, 31, 47, 63}) {
        ASSERT_EQ(BsMultiply(t, static_cast<int16_t>(c), shift, shift),
                  ExpectedBsMultiply(t, c, shift, shift))
            << t << " * " << c << " >> " << shift;
        ASSERT_EQ(BsMultiply(t, static_cast<int16_t>(c), shift, 3),
                  ExpectedBsMultiply(t, c, shift, 3));
      }
    }
  }
}

TEST(BsMultiply, ProductIsWideAndSaturatesAfterTheShift) {
  EXPECT_EQ(BsMultiply(1 << 30, 32767, 15, 15), 1073709056);
  EXPECT_EQ(BsMultiply(1 << 30, 32767, 0, 0), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(BsMultiply(-(1 << 30), 32767, 0, 0), std::numeric_limits<int32_t>::min());
}

TEST(BsMultiply, WorkedExamplesOfPerChannelRequantization) {
  // conv-matmul 6.7: s = 15, C = {32767, 8192, 1365}, acc = 20000 -> 19999, 5000, 833 -> 24, 6, 1.
  const Converter out{.scale = 20134, .shift = 24};
  const int16_t c[] = {32767, 8192, 1365};
  const int32_t after_bs[] = {19999, 5000, 833};
  const int8_t final_value[] = {24, 6, 1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(BsMultiply(20000, c[i], 15, 15), after_bs[i]);
    EXPECT_EQ(OutConvert<int8_t>(after_bs[i], out), final_value[i]);
  }
  // dpu-ppu 9.2: 1000 * 8192 >> 14 = 500, then 20972 / 2^21 -> 5.
  EXPECT_EQ(BsMultiply(1000, 8192, 14, 14), 500);
  EXPECT_EQ(OutConvert<int8_t>(500, {.scale = 20972, .shift = 21}), 5);
}

TEST(Relu, ClampsBelowAndAbove) {
  EXPECT_EQ(Relu(-1), 0);
  EXPECT_EQ(Relu(7), 7);
  EXPECT_EQ(Relux(-1, 5), 0);
  EXPECT_EQ(Relux(4, 5), 4);
  EXPECT_EQ(Relux(6, 5), 5);
}

TEST(OutConvert, WorkedTableOfConvMatmul66) {
  struct Row {
    int v, scale, shift, even, away;
  };
  for (const Row& r : {Row{5, 16384, 15, 2, 3}, Row{7, 16384, 15, 4, 4}, Row{-5, 16384, 15, -2, -3},
                       Row{-7, 16384, 15, -4, -4}, Row{1134, 17675, 22, 5, 5}}) {
    Converter c{.scale = static_cast<int16_t>(r.scale), .shift = static_cast<uint8_t>(r.shift)};
    EXPECT_EQ(OutConvert<int8_t>(r.v, c), r.even) << r.v;
    c.rounding = Rounding::kHalfAway;
    EXPECT_EQ(OutConvert<int8_t>(r.v, c), r.away) << r.v;
  }
}

TEST(OutConvert, WorkedExamplesOfDpuPpu47) {
  const Converter c{.scale = 20972, .shift = 20};
  EXPECT_EQ(OutConvert<int8_t>(1000, c), 20);
  EXPECT_EQ(OutConvert<int8_t>(-75, c), -2);
  EXPECT_EQ(OutConvert<int8_t>(12345, c), 127);
  EXPECT_EQ(Convert(12345, c), 247);
}

TEST(OutConvert, ScaleIsSigned16BitsAndTriplesExactly) {
  EXPECT_EQ(Convert(3, {.scale = std::numeric_limits<int16_t>::min()}), -98304);
  EXPECT_EQ(Convert(-123456, {.scale = 3}), -370368);
  EXPECT_EQ(Convert(1 << 30, {.scale = 0}), 0);
}

TEST(OutConvert, MatchesOracleInBothTieModesAndBothTypes) {
  for (int32_t v : Accumulators()) {
    for (int scale : {-32768, -1, 0, 1, 3, 16384, 16385, 20134, 32767}) {
      for (int shift : {0, 1, 14, 15, 22, 33, 47, 63}) {
        for (int mode = 0; mode < 4; ++mode) {
          const Converter c{
              .scale = static_cast<int16_t>(scale),
              .shift = static_cast<uint8_t>(shift),
              .offset = mode * 37 - 50,
              .add_first = (mode & 1) != 0,
              .rounding = (mode & 2) != 0 ? Rounding::kHalfAway : Rounding::kHalfEven};
          ASSERT_EQ(OutConvert<int8_t>(v, c), ExpectedOutConvert(v, c))
              << v << " * " << scale << " >> " << shift << " mode " << mode;
        }
      }
    }
  }
}

TEST(OutConvert, ResidualAddExampleOfDpuPpu93) {
  const std::optional<ScaleShift> operand = ScaleFromReal(564.6875f, ScaleRule::kTruncate);
  ASSERT_TRUE(operand.has_value());
  EXPECT_EQ(*operand, (ScaleShift{18070, 5}));
  // y_byte = 20 stored, zp = 110: the add-first converter adds 0x80 - zp.
  const int64_t e =
      Convert(20, {.scale = 18070, .shift = 5, .offset = 128 - 110, .add_first = true});
  EXPECT_EQ(e, 21458);
  EXPECT_EQ(Convert(5000 + e, {.scale = 25914, .shift = 24}), 41);
  // Stand-alone add (a): rho = 32, -30 * 16384 >> 9 = -960, 1600 * (0.1 / 7.68) = 20.83 -> 21.
  EXPECT_EQ(*ScaleFromReal(32.0f, ScaleRule::kTruncate), (ScaleShift{16384, 9}));
  EXPECT_EQ(Convert(-30, {.scale = 16384, .shift = 9}), -960);
  const std::optional<ScaleShift> out = ScaleFromReal(0.1f / 7.68f);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(Convert(2560 - 960, {.scale = out->scale, .shift = out->shift}), 21);
}

TEST(ScaleFromReal, WorkedTableOfConvMatmul66) {
  struct Row {
    float g;
    int scale, shift;
  };
  for (const Row& r : {Row{0.03657235f * 0.00079638f / 0.00691164f, 17675, 22},
                       Row{0.0012f, 20133, 24}, Row{0.5f, 16385, 15}, Row{1.0f, 16385, 14},
                       Row{0.00003f, 32213, 30}, Row{1.99993956f, 16384, 13},
                       Row{0.00120004f, 20134, 24}, Row{0.02f, 20972, 20}, Row{0.01f, 20972, 21}}) {
    const std::optional<ScaleShift> s = ScaleFromReal(r.g);
    ASSERT_TRUE(s.has_value()) << r.g;
    EXPECT_EQ(s->scale, r.scale) << r.g;
    EXPECT_EQ(s->shift, r.shift) << r.g;
  }
}

TEST(ScaleFromReal, RefusesWhatTheHardwareCannotDo) {
  EXPECT_FALSE(ScaleFromReal(0.0f).has_value());
  EXPECT_FALSE(ScaleFromReal(-0.5f).has_value());
  EXPECT_FALSE(ScaleFromReal(std::numeric_limits<float>::infinity()).has_value());
  EXPECT_FALSE(ScaleFromReal(std::numeric_limits<float>::quiet_NaN()).has_value());
  EXPECT_FALSE(ScaleFromReal(1e-40f).has_value());
  EXPECT_FALSE(ScaleFromReal(32768.0f).has_value());
  EXPECT_EQ(ScaleFromReal(16384.0f)->shift, 0);
  EXPECT_EQ(ScaleFromReal(std::ldexp(1.0f, -49))->shift, 63);
  EXPECT_FALSE(ScaleFromReal(std::ldexp(1.0f, -50)).has_value());
}

TEST(ScaleFromReal, GainErrorOfEveryMantissaIsBounded) {
  for (uint32_t mantissa = 0; mantissa < (1u << 23); mantissa += 61) {
    const float g = std::bit_cast<float>((120u << 23) | mantissa);
    const auto realised = [g](ScaleRule rule) {
      const std::optional<ScaleShift> s = ScaleFromReal(g, rule);
      EXPECT_GE(s->scale, 16384);
      return std::ldexp(static_cast<double>(s->scale), -s->shift) / static_cast<double>(g) - 1.0;
    };
    const double driver = realised(ScaleRule::kDriver);
    ASSERT_GT(driver, 0.0) << mantissa;
    ASSERT_LE(driver, std::ldexp(1.0, -14)) << mantissa;
    ASSERT_LE(std::fabs(realised(ScaleRule::kNearest)), std::ldexp(1.0, -15)) << mantissa;
    const double truncated = realised(ScaleRule::kTruncate);
    ASSERT_LE(truncated, 0.0) << mantissa;
    ASSERT_GT(truncated, -std::ldexp(1.0, -14)) << mantissa;
  }
}

TEST(Float32BitsOfInt, MatchesTheHostCast) {
  std::vector<int64_t> values = {0, 1, -1, std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max()};
  for (int bit = 20; bit < 63; ++bit) {
    for (int64_t d = -40; d <= 40; ++d) values.push_back((int64_t{1} << bit) + d);
  }
  for (int64_t v = (1 << 24) - 3000; v < (1 << 24) + 3000; ++v) values.push_back(v);
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) values.push_back(static_cast<int64_t>(random()) >> (i % 64));
  for (int64_t v : values) {
    ASSERT_EQ(Float32BitsOfInt(v), std::bit_cast<uint32_t>(static_cast<float>(v))) << v;
    if (v != std::numeric_limits<int64_t>::min()) {
      ASSERT_EQ(Float32BitsOfInt(-v), std::bit_cast<uint32_t>(static_cast<float>(-v))) << v;
    }
  }
}

}  // namespace
}  // namespace npu::arith
