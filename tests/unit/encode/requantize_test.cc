// SPDX-License-Identifier: Apache-2.0
// The requantization planner against brute force: the chip's chain and the reference evaluated over
// the sums of each channel, plus the degenerate channels that networks contain.
#include "src/encode/requantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "src/arith/silicon.h"
#include "src/encode/reason.h"

namespace npu::encode {
namespace {

RequantChannel Channel(double multiplier, int64_t range, int32_t bias = 0, int64_t fold = 0) {
  return {.v_min = -range,
          .v_max = range,
          .bias = bias,
          .fold = fold,
          .multiplier = arith::QuantizeMultiplier(multiplier),
          .real = multiplier};
}

int32_t ChipOutput(const RequantPlan& plan, size_t c, const RequantChannel& channel, int64_t v) {
  const int64_t sum = plan.zero_weights[c] ? 0 : v + channel.fold;
  int64_t x = sum + plan.addend[c];
  EXPECT_TRUE(FitsIn<int32_t>(x)) << "sat32 in range";
  if (!plan.multiplier.empty()) {
    const int64_t product = x * plan.multiplier[c];
    x = arith::ShiftRightRound<arith::Rounding::kHalfEven>(product,
                                                           static_cast<int>(plan.bs_shift));
    EXPECT_TRUE(FitsIn<int32_t>(x)) << "sat32 after BS";
  }
  if (plan.relu) x = std::max<int64_t>(x, 0);
  if (plan.relux) x = std::min<int64_t>(x, plan.relux_limit);
  return arith::OutConvert<int8_t>(
      x, {.scale = plan.scale, .shift = static_cast<uint8_t>(plan.shift), .offset = plan.offset});
}

int32_t ReferenceOutput(const RequantProblem& p, const RequantChannel& channel, int64_t v) {
  const auto sum = static_cast<int32_t>(v + channel.bias);
  const int64_t y = p.reference == ReferenceRounding::kReal
                        ? arith::MultiplyByReal(sum, channel.real)
                        : arith::MultiplyByQuantizedMultiplier(sum, channel.multiplier);
  return static_cast<int32_t>(std::clamp<int64_t>(y + p.out_zero_point, p.clamp_lo, p.clamp_hi));
}

// Largest difference over the ends of the range, every sum where the output can change when the
// range is small, and random ones otherwise.
int32_t LargestDifference(const RequantProblem& p, const RequantPlan& plan) {
  std::mt19937_64 random(7);
  int32_t largest = 0;
  for (size_t c = 0; c < p.channels.size(); ++c) {
    const RequantChannel& ch = p.channels[c];
    const auto check = [&](int64_t v) {
      largest = std::max(largest, std::abs(ChipOutput(plan, c, ch, v) - ReferenceOutput(p, ch, v)));
    };
    check(ch.v_min);
    check(ch.v_max);
    for (int i = 0; i < 3000; ++i) {
      const auto span = static_cast<uint64_t>(ch.v_max - ch.v_min + 1);
      check(ch.v_min + static_cast<int64_t>(random() % span));
    }
  }
  return largest;
}

void ExpectProven(const RequantProblem& p) {
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_LT(plan->bound.worst_counts, 2.0);
  EXPECT_LE(LargestDifference(p, *plan), plan->bound.counts);
}

TEST(Requantize, PerTensorTakesTheNearestScale) {
  RequantProblem p{.channels = {Channel(0.0042139, 100000, 500)}, .out_zero_point = 5};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->multiplier.empty());
  EXPECT_EQ(plan->shift, 22u);
  EXPECT_NEAR(plan->scale, 17674.5, 1.0);
  EXPECT_EQ(plan->offset, 5);
  EXPECT_EQ(plan->addend[0], 500);
  ExpectProven(p);
}

// rk3588-conv-matmul 6.7: M = {0.0012, 0.0003, 0.00005} gives C = {32767, 8192, 1365}.
TEST(Requantize, PerChannelWorkedExample) {
  RequantProblem p{
      .channels = {Channel(0.0012, 200000), Channel(0.0003, 200000), Channel(0.00005, 200000)}};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->multiplier.size(), 3u);
  EXPECT_NEAR(plan->multiplier[0], 32767, 2);
  EXPECT_NEAR(plan->multiplier[1], 8192, 1);
  EXPECT_NEAR(plan->multiplier[2], 1365, 1);
  EXPECT_LE(plan->shift, 31u);
  ExpectProven(p);
}

// The input zero point moves from the sum into the addend.
TEST(Requantize, FoldsTheInputZeroPoint) {
  RequantProblem p{.channels = {Channel(0.001, 50000, 1000, -70000)}};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->addend[0], 71000);
  ExpectProven(p);
}

// A channel 300 times weaker than the strongest: without the correction its bias of 100 counts
// would be off by half a count for each half unit of C = 109.
TEST(Requantize, WeakChannelKeepsItsBias) {
  const double weak = 0.001 / 300.7;
  RequantProblem p{.channels = {Channel(0.001, 100000),
                                Channel(weak, 2000000, static_cast<int32_t>(90.0 / weak))}};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_LT(plan->multiplier[1], 120);
  EXPECT_NE(plan->addend[1], p.channels[1].bias);
  ExpectProven(p);
}

// C is 1 or 2: zero error at the bias alone would be too coarse at one end of the sums, so the
// addend balances both ends.
TEST(Requantize, VeryWeakChannelIsCentred) {
  const double weak = 0.001 / 20000.0;
  RequantProblem p{.channels = {Channel(0.001, 100000), Channel(weak, 0, 123456789)}};
  p.channels[1].v_min = -2000000;
  p.channels[1].v_max = 60000000;
  ExpectProven(p);
}

TEST(Requantize, RefusesWhatItCannotProveByChannel) {
  RequantProblem p{.channels = {Channel(0.1, 10000), Channel(0.1 / 9000.3, 50000000)}};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(plan.status().reason(), reason::kRequantBound);
  EXPECT_NE(plan.status().message().find("channel 1"), std::string::npos)
      << plan.status().message();
}

TEST(Requantize, ReferenceThatCanWrapIsRefused) {
  RequantProblem p{.channels = {Channel(3000.0, 2000000)}};  // acc << 12 exceeds 32 bits
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().reason(), reason::kRequantBound);
}

// Zero and denormal scales, vanished weights with a huge scale, always saturated, bias near 2^30:
// none of them disturbs the others.
TEST(Requantize, DegenerateChannels) {
  RequantProblem p{
      .channels = {Channel(0.0, 100000, 77), Channel(1e-42, 100000, 77), Channel(1e3, 0, 100),
                   Channel(0.002, 100000, 1 << 30), Channel(0.002, 100000, -(1 << 30)),
                   Channel(1e-9, 100000, 1 << 30), Channel(0.002, 100000, 300),
                   Channel(0.004, 600, 3), Channel(0.0005, 100000, -300)},
      .out_zero_point = -7};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  for (const size_t c : {0u, 1u, 2u, 3u, 4u}) EXPECT_TRUE(plan->zero_weights[c]) << c;
  for (const size_t c : {6u, 7u, 8u}) EXPECT_FALSE(plan->zero_weights[c]) << c;
  for (const int16_t c : plan->multiplier) EXPECT_GE(c, 1);
  ExpectProven(p);
}

// The reference shifts left first; only the saturated sums could overflow, and none is reached
// here.
TEST(Requantize, MultipliersAboveOne) {
  ExpectProven({.channels = {Channel(1.7, 60, 3), Channel(6.3, 100000, -20)}});
  ExpectProven({.channels = {Channel(1.7, 60, 3)}, .out_zero_point = 11});
  ExpectProven({.channels = {Channel(40.0, 30000)}, .reference = ReferenceRounding::kReal});
}

TEST(Requantize, AllChannelsConstantIsExact) {
  RequantProblem p{.channels = {Channel(0.0, 1000), Channel(0.01, 1000, 1 << 29),
                                Channel(0.01, 1000, -(1 << 29)), Channel(0.5, 0, 41)},
                   .out_zero_point = 20};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->bound.counts, 0);
  EXPECT_EQ(LargestDifference(p, *plan), 0);
}

// 3/6 is a tie for FULLY_CONNECTED, although the quantized multiplier of 1/6 lies below it.
TEST(Requantize, ConstantsOfFullyConnectedFollowItsFloat64Product) {
  RequantProblem p{.channels = {Channel(1.0 / 6.0, 0, 3), Channel(0.1, 0, -5)},
                   .reference = ReferenceRounding::kReal};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->bound.counts, 0);
  EXPECT_EQ(ChipOutput(*plan, 0, p.channels[0], 0), 1);
  EXPECT_EQ(ChipOutput(*plan, 1, p.channels[1], 0), -1);
}

TEST(Requantize, ReluIsAddedOnlyWhenSaturationDoesNotImplyIt) {
  RequantProblem p{.channels = {Channel(0.002, 100000)}, .out_zero_point = -128, .clamp_lo = -128};
  EXPECT_FALSE(PlanRequantization(p)->relu);
  p.out_zero_point = p.clamp_lo = -20;
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->relu);
  EXPECT_FALSE(plan->relux);
  ExpectProven(p);
}

TEST(Requantize, UpperLimitBecomesRelux) {
  for (const bool per_channel : {false, true}) {
    RequantProblem p{.channels = {Channel(0.002, 100000, 17), Channel(0.002, 100000, -900)},
                     .out_zero_point = -128,
                     .clamp_lo = -128,
                     .clamp_hi = 72};
    if (per_channel) p.channels[1] = Channel(0.0007, 100000, -900);
    const Result<RequantPlan> plan = PlanRequantization(p);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_TRUE(plan->relux);
    int32_t largest = -128;
    for (int64_t v = -100000; v <= 100000; v += 100) {
      largest = std::max(largest, ChipOutput(*plan, 0, p.channels[0], v));
    }
    EXPECT_EQ(largest, 72);
    ExpectProven(p);
  }
}

TEST(Requantize, RefusesLowerLimitsOtherThanZero) {
  RequantProblem p{.channels = {Channel(0.002, 100000)}, .clamp_lo = -64, .clamp_hi = 64};
  const Result<RequantPlan> plan = PlanRequantization(p);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().reason(), reason::kActivation);
}

// The limits of ReluN1To1 coincide with the type's: nothing to form.
TEST(Requantize, LimitsThatTheTypeImpliesAreFree) {
  RequantProblem p{.channels = {Channel(0.002, 100000)}};
  EXPECT_TRUE(PlanRequantization(p).ok());
}

// 2000 random layers: whatever is proven holds for every tried sum.
TEST(Requantize, RandomLayersKeepTheirBound) {
  std::mt19937 random(3);
  const auto unit = [&] { return std::uniform_real_distribution<double>(0.0, 1.0)(random); };
  int proven = 0;
  for (int i = 0; i < 2000; ++i) {
    RequantProblem p{.out_zero_point = static_cast<int32_t>(256 * unit()) - 128};
    p.reference = i % 3 == 0 ? ReferenceRounding::kReal : ReferenceRounding::kDouble;
    const double largest = std::exp2(-1.0 - 14.0 * unit());
    const double spread = std::exp2(12.0 * unit());
    for (int c = 0; c < 6; ++c) {
      const double m = largest * std::pow(spread, -unit());
      const double range = std::min(400.0 * (0.1 + unit()) / m, 4e8);
      p.channels.push_back(Channel(m, static_cast<int64_t>(range) + 1,
                                   static_cast<int32_t>((unit() - 0.5) * 200.0 / m),
                                   static_cast<int64_t>((unit() - 0.5) * 1e6)));
    }
    if (i % 4 == 0) p.clamp_lo = p.out_zero_point;
    const Result<RequantPlan> plan = PlanRequantization(p);
    if (!plan.ok()) continue;
    ++proven;
    ASSERT_LE(LargestDifference(p, *plan), plan->bound.counts) << "layer " << i;
  }
  EXPECT_GT(proven, 1500);
}

}  // namespace
}  // namespace npu::encode
