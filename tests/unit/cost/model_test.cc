// SPDX-License-Identifier: Apache-2.0
#include "src/cost/model.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace npu::cost {
namespace {

const chip::Profile& Rk3588() { return *chip::FindChip("rk3588"); }

// The second chip's column of performance-facts 4.3, in a chain.
chip::Cost Rk3576Chained() {
  chip::Cost cost = Rk3588().cost;
  cost.eta = 1.0;
  cost.dma_bytes_per_cycle = 12.0;
  cost.dram_peak_gbps = 16.9;
  cost.feature_overlap = 0.8;
  cost.dpu_elements_per_cycle = 6.0;
  cost.task_us = 3;
  cost.kick_us = 35;
  return cost;
}

// Example 1 of performance-facts 4.5: int8 convolution 128 -> 128, 3x3, 28x28, stride 1.
TaskTerms Example1() {
  return TermsOf({.pixels = 784, .ic = 128, .oc = 128, .kh = 3, .kw = 3, .input_pixels = 784},
                 *Rk3588().FindPrecision("int8"));
}

TEST(CostTerms, Example1FromExtents) {
  const TaskTerms terms = Example1();
  EXPECT_EQ(terms.mac_cycles, 112896u);
  EXPECT_EQ(terms.feature_bytes, 100352u);
  EXPECT_EQ(terms.output_bytes, 100352u);
  EXPECT_EQ(terms.elements, 100352u);
  EXPECT_EQ(terms.weight_bytes, 147456u);
}

TEST(CostTerms, GroupsRoundUpAndResidentOperandsAreFree) {
  const chip::Precision& int8 = *Rk3588().FindPrecision("int8");
  ConvExtents conv{.pixels = 10, .ic = 17, .oc = 33, .kh = 1, .kw = 1, .input_pixels = 10};
  const TaskTerms terms = TermsOf(conv, int8);
  EXPECT_EQ(terms.mac_cycles, 10u * 2 * 1);
  EXPECT_EQ(terms.feature_bytes, 10u * 32);
  EXPECT_EQ(terms.weight_bytes, 64u * 32);
  EXPECT_EQ(terms.output_bytes, 10u * 48);
  EXPECT_EQ(terms.elements, 10u * 64);
  conv.features_resident = conv.weights_resident = true;
  conv.output_bytes = 4;
  EXPECT_EQ(TermsOf(conv, int8).feature_bytes, 0u);
  EXPECT_EQ(TermsOf(conv, int8).weight_bytes, 0u);
  EXPECT_EQ(TermsOf(conv, int8).output_bytes, 10u * 48 * 4);
}

TEST(CostTerms, Depthwise) {
  const TaskTerms terms = TermsOf(
      {.pixels = 100, .ic = 72, .oc = 72, .kh = 3, .kw = 3, .input_pixels = 100, .depthwise = true},
      *Rk3588().FindPrecision("int8"));
  EXPECT_EQ(terms.mac_cycles, 100u * 2 * 9);
  EXPECT_EQ(terms.weight_bytes, 128u * 9);
  EXPECT_EQ(terms.elements, 100u * 80);
}

// performance-facts 4.1 rows F, O and E for tasks without multiply-accumulates.
TEST(CostTerms, ElementwiseAndPool) {
  const TaskTerms add = TermsOf(ElementwiseExtents{.pixels = 3136, .channels = 24, .inputs = 2});
  EXPECT_EQ(add.mac_cycles, 0u);
  EXPECT_EQ(add.elements, 3136u * 32);
  EXPECT_EQ(add.feature_bytes, 3136u * 32);
  EXPECT_EQ(add.output_bytes, 2 * 3136u * 32);  // written, and the second operand
  const TaskTerms scale = TermsOf(ElementwiseExtents{
      .pixels = 10, .channels = 12, .lanes = 8, .input_bytes = 2, .output_bytes = 2});
  EXPECT_EQ(scale.feature_bytes, 10u * 16 * 2);
  EXPECT_EQ(scale.output_bytes, 10u * 16 * 2);
  const TaskTerms pool =
      TermsOf(PoolExtents{.input_pixels = 12544, .output_pixels = 3136, .channels = 64});
  EXPECT_EQ(pool.unit, TaskTerms::Unit::kPpu);
  EXPECT_EQ(pool.elements, 12544u * 64);
  EXPECT_EQ(pool.feature_bytes, 12544u * 64);
  EXPECT_EQ(pool.output_bytes, 3136u * 64);
  // 3 input elements a cycle at 1 GHz: 267.6 us, more than its traffic takes.
  const Model model(Rk3588().cost, {.clock_mhz = 1000});
  EXPECT_NEAR(model.Task(pool).dpu_us, 267.6, 0.1);
  EXPECT_NEAR(model.Task(pool).total_us, 267.6 + Rk3588().cost.task_us, 0.1);
}

TEST(CostTerms, PackedFirstConvolution) {
  const TaskTerms terms = TermsOf({.pixels = 100,
                                   .ic = 3,
                                   .oc = 32,
                                   .kh = 3,
                                   .kw = 3,
                                   .input_pixels = 400,
                                   .packed_image = true},
                                  *Rk3588().FindPrecision("int8"));
  EXPECT_EQ(terms.mac_cycles, 100u);
  EXPECT_EQ(terms.feature_bytes, 1200u);
}

TEST(CostModel, Example1At600MHz) {
  const Model model(Rk3588().cost, {.clock_mhz = 600});
  EXPECT_NEAR(model.bandwidth_gbps(), 6.9, 1e-9);
  const TaskTime time = model.Task(Example1());
  EXPECT_NEAR(time.feature_us, 12.4, 0.05);
  EXPECT_NEAR(time.mac_us, 206.8, 0.05);
  EXPECT_NEAR(time.dma_us, 38.1, 0.05);
  EXPECT_NEAR(time.dpu_us, 28.8, 0.05);
  EXPECT_NEAR(time.total_us, 223.1, 0.05);
}

TEST(CostModel, Example1AtTheDefaultClock) {
  const Model model(Rk3588().cost);
  EXPECT_NEAR(model.clock_ghz(), 1.0, 1e-12);
  EXPECT_NEAR(model.Task(Example1()).total_us, 135.5, 0.05);
}

TEST(CostModel, Example1OnTheSecondChip) {
  const Model model(Rk3576Chained(), {.clock_mhz = 786});
  EXPECT_NEAR(model.Task(Example1()).total_us, 148.8, 0.1);
}

TEST(CostModel, Example2ElementwiseAdd) {
  const uint64_t cube = 16 * 480 * 480;
  const TaskTerms add{.feature_bytes = cube, .output_bytes = 2 * cube, .elements = cube};
  const TaskTime time = Model(Rk3588().cost).Task(add);
  EXPECT_NEAR(time.dma_us, 962, 0.5);
  EXPECT_NEAR(time.total_us, 966, 0.5);
  TaskTerms third = add;
  third.feature_bytes /= 3;
  third.output_bytes /= 3;
  third.elements /= 3;
  const Model three(Rk3588().cost, {.active_cores = 3});
  // 0.70 * 33.8 GB/s; the worked number uses the rounded 23.7.
  EXPECT_NEAR(three.Task(third).dma_us, 468, 1.0);
}

TEST(CostModel, Example3HalfPrecisionTile) {
  const TaskTerms tile = TermsOf({.pixels = 256,
                                  .ic = 384,
                                  .oc = 256,
                                  .input_pixels = 256,
                                  .input_bytes = 2,
                                  .output_bytes = 2},
                                 *Rk3588().FindPrecision("fp16"));
  EXPECT_EQ(tile.mac_cycles, 49152u);
  EXPECT_EQ(tile.feature_bytes, 196608u);
  EXPECT_EQ(tile.weight_bytes, 196608u);
  EXPECT_EQ(tile.output_bytes, 131072u);
  EXPECT_NEAR(Model(Rk3588().cost, {.clock_mhz = 600}).Task(tile).total_us, 118.2, 0.05);
  EXPECT_NEAR(Model(Rk3588().cost, {.clock_mhz = 200}).Task(tile).total_us, 346.7, 0.1);
}

// MobileNetV1 224 as one kick: the first convolution on the packed image, 13 pairs of depthwise and
// pointwise, average pooling, classifier.
std::vector<TaskTerms> MobileNetV1() {
  const chip::Precision& int8 = *Rk3588().FindPrecision("int8");
  std::vector<TaskTerms> tasks;
  tasks.push_back(TermsOf({.pixels = 112 * 112,
                           .ic = 3,
                           .oc = 32,
                           .kh = 3,
                           .kw = 3,
                           .input_pixels = 224 * 224,
                           .packed_image = true},
                          int8));
  struct Pair {
    uint32_t size, ic, oc, stride;
  };
  std::vector<Pair> pairs = {{112, 32, 64, 1},  {112, 64, 128, 2}, {56, 128, 128, 1},
                             {56, 128, 256, 2}, {28, 256, 256, 1}, {28, 256, 512, 2}};
  for (int i = 0; i < 5; ++i) pairs.push_back({14, 512, 512, 1});
  pairs.push_back({14, 512, 1024, 2});
  pairs.push_back({7, 1024, 1024, 1});
  for (const Pair& p : pairs) {
    const uint64_t out = uint64_t{p.size / p.stride} * (p.size / p.stride);
    tasks.push_back(TermsOf({.pixels = out,
                             .ic = p.ic,
                             .oc = p.ic,
                             .kh = 3,
                             .kw = 3,
                             .input_pixels = uint64_t{p.size} * p.size,
                             .depthwise = true},
                            int8));
    tasks.push_back(TermsOf({.pixels = out, .ic = p.ic, .oc = p.oc, .input_pixels = out}, int8));
  }
  tasks.push_back({.feature_bytes = 49 * 1024,
                   .output_bytes = 1024,
                   .elements = 49 * 1024,
                   .unit = TaskTerms::Unit::kPpu});
  tasks.push_back(TermsOf({.pixels = 1, .ic = 1024, .oc = 1001, .input_pixels = 1}, int8));
  return tasks;
}

TEST(CostModel, Example4MobileNetV1AsOneKick) {
  const std::vector<TaskTerms> tasks = MobileNetV1();
  EXPECT_EQ(tasks.size(), 29u);
  EXPECT_NEAR(Model(Rk3588().cost, {.clock_mhz = 600}).KickUs(tasks), 3040, 30);
  EXPECT_NEAR(Model(Rk3588().cost, {.clock_mhz = 200}).KickUs(tasks), 8900, 90);
}

TEST(CostModel, Example5SevenBySevenOnTheSecondChip) {
  chip::Cost lone = Rk3576Chained();
  lone.feature_overlap = 0.15;
  const Model model(lone, {.clock_mhz = 786});
  const TaskTerms terms{.mac_cycles = 1229312, .feature_bytes = 1605632};
  EXPECT_NEAR(model.Task(terms).feature_us, 144.7, 0.1);
  EXPECT_NEAR(model.Task(terms).mac_us, 1564.0, 0.1);
  EXPECT_NEAR(model.KickUs(std::vector<TaskTerms>{terms}), 1747, 0.5);
}

TEST(CostModel, SlowerUnitsTakeTheirOwnRate) {
  const Model model(Rk3588().cost);
  TaskTerms terms{.elements = 5800};
  EXPECT_NEAR(model.Task(terms).dpu_us, 1.0, 1e-9);
  terms.unit = TaskTerms::Unit::kDpuWithLut;
  EXPECT_NEAR(model.Task(terms).dpu_us, 5.8 / 1.8, 1e-9);
  terms.unit = TaskTerms::Unit::kPpu;
  EXPECT_NEAR(model.Task(terms).dpu_us, 5.8 / 3.0, 1e-9);
}

TEST(CostModel, KicksJobsAndSubmits) {
  const Model model(Rk3588().cost);
  const std::vector<TaskTerms> two = {Example1(), Example1()};
  const double kick = model.KickUs(two);
  EXPECT_NEAR(kick, 3 + 2 * 135.5, 0.1);
  EXPECT_NEAR(model.JobUs(kick, 1), kick, 1e-9);
  EXPECT_NEAR(model.JobUs(3 * kick, 3), 3 * kick + 30, 1e-9);
  // Cache maintenance of 10.6 kB takes a microsecond besides its constant.
  EXPECT_NEAR(model.SubmitUs(100, 10600, 21200), 100 + 54 + 1.11 + 1 + 1.33 + 2, 1e-6);
}

TEST(CostModel, ParametersCarryVersionAndBand) {
  EXPECT_FALSE(Rk3588().cost.version.empty());
  EXPECT_EQ(Rk3588().cost.band_percent, 15);
}

}  // namespace
}  // namespace npu::cost
