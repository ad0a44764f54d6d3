// SPDX-License-Identifier: Apache-2.0
#include "src/arith/rounding.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/arith/oracle.h"

namespace npu::arith {
namespace {

using oracle::Tie;

constexpr Rounding kModes[] = {Rounding::kHalfEven, Rounding::kHalfAway, Rounding::kHalfUp,
                               Rounding::kFloor};

int64_t Expected(Rounding mode, int64_t value, int shift) {
  const oracle::Int128 power = oracle::PowerOfTwo(shift);
  switch (mode) {
    case Rounding::kHalfEven:
      return static_cast<int64_t>(oracle::Nearest(value, power, Tie::kEven));
    case Rounding::kHalfAway:
      return static_cast<int64_t>(oracle::Nearest(value, power, Tie::kAway));
    case Rounding::kHalfUp:
      return static_cast<int64_t>(oracle::Nearest(value, power, Tie::kUp));
    case Rounding::kFloor:
      break;
  }
  return static_cast<int64_t>(oracle::FloorDivide(value, power));
}

static_assert(ShiftRightRound<Rounding::kHalfEven>(5, 1) == 2);
static_assert(ShiftRightRound<Rounding::kHalfAway>(-5, 1) == -3);
static_assert(ShiftRightRound<Rounding::kHalfUp>(-5, 1) == -2);
static_assert(ShiftRightRound<Rounding::kFloor>(-5, 1) == -3);

TEST(ShiftRightRound, MatchesOracleForEverySmallValueAndShift) {
  for (Rounding mode : kModes) {
    for (int shift = 0; shift <= 12; ++shift) {
      for (int64_t v = -20000; v <= 20000; ++v) {
        ASSERT_EQ(ShiftRightRound(mode, v, shift), Expected(mode, v, shift))
            << "mode " << static_cast<int>(mode) << " value " << v << " shift " << shift;
      }
    }
  }
}

TEST(ShiftRightRound, MatchesOracleAroundEveryTieOfEveryShift) {
  for (Rounding mode : kModes) {
    for (int shift = 1; shift <= 63; ++shift) {
      const int64_t half = int64_t{1} << (shift - 1);
      for (int64_t quotient = -9; quotient <= 9; ++quotient) {
        const oracle::Int128 tie = oracle::Int128{quotient} * half * 2 + half;
        for (int d = -1; d <= 1; ++d) {
          const oracle::Int128 wide = tie + d;
          if (wide != oracle::Sat(wide, 64)) continue;
          const auto v = static_cast<int64_t>(wide);
          ASSERT_EQ(ShiftRightRound(mode, v, shift), Expected(mode, v, shift))
              << "mode " << static_cast<int>(mode) << " value " << v << " shift " << shift;
        }
      }
    }
  }
}

TEST(ShiftRightRound, MatchesOracleAtTheExtremesAndAtRandom) {
  std::vector<int64_t> values = {
      std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min() + 1,
      std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max() - 1};
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) values.push_back(static_cast<int64_t>(random()) >> (i % 60));
  for (Rounding mode : kModes) {
    for (int64_t v : values) {
      for (int shift = 0; shift <= 63; ++shift) {
        ASSERT_EQ(ShiftRightRound(mode, v, shift), Expected(mode, v, shift));
      }
    }
  }
}

TEST(DivideRoundHalfAway, MatchesOracleForSmallOperands) {
  for (int64_t d = 1; d <= 200; ++d) {
    for (int64_t n = -1500; n <= 1500; ++n) {
      ASSERT_EQ(DivideRoundHalfAway(n, d), static_cast<int64_t>(oracle::Nearest(n, d, Tie::kAway)))
          << n << " / " << d;
    }
  }
}

TEST(DivideRoundHalfAway, WorkedExamplesOfAveragePooling) {
  EXPECT_EQ(DivideRoundHalfAway(-5, 3), -2);  // tflite-delegate 4.8
  EXPECT_EQ(DivideRoundHalfAway(4, 3), 1);
}

}  // namespace
}  // namespace npu::arith
