// SPDX-License-Identifier: Apache-2.0
#include "src/plan/jobs.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "src/chip/profile.h"

namespace npu::plan {
namespace {

// A program of one NPU step: `tasks` convolution tasks an operation, each about `pixels` long.
class JobsTest : public ::testing::Test {
 protected:
  void AddOp(size_t tasks, uint64_t pixels, uint32_t element_bytes = 1, uint32_t channels = 512) {
    auto op = std::make_unique<encode::EncodedOp>();
    op->output.element_bytes = element_bytes;
    encode::TaskProgram task;
    task.words.resize(8);
    task.terms = cost::TermsOf({.pixels = pixels,
                                .ic = channels,
                                .oc = channels,
                                .kh = 3,
                                .kw = 3,
                                .input_pixels = pixels},
                               *chip::FindChip("rk3588")->FindPrecision("int8"));
    op->tasks.assign(tasks, task);
    NpuOp npu;
    npu.node = static_cast<int32_t>(program_.reports.size());
    npu.op = op.get();
    program_.reports.emplace_back();
    program_.encoded.push_back(std::move(op));
    if (program_.steps.empty()) program_.steps.emplace_back(NpuStep{});
    std::get<NpuStep>(program_.steps.back()).ops.push_back(std::move(npu));
  }
  std::vector<size_t> OpsPerStep() {
    FormJobs(*chip::FindChip("rk3588"), &program_);
    std::vector<size_t> counts;
    for (const Step& step : program_.steps) counts.push_back(std::get<NpuStep>(step).ops.size());
    return counts;
  }

  CompiledProgram program_;
};

TEST_F(JobsTest, KeepsShortOperationsInOneChainedJob) {
  for (int i = 0; i < 20; ++i) AddOp(2, 196);
  EXPECT_EQ(OpsPerStep(), std::vector<size_t>({20}));
  EXPECT_TRUE(std::get<NpuStep>(program_.steps[0]).chainable);
  EXPECT_LT(program_.modelled_chained_us, program_.modelled_us);
  EXPECT_GT(program_.modelled_chained_us, 0.0);
}

// 200 ms at 200 MHz: 40e6 cycles of at most 1024 multiply-accumulates; one of these operations has
// 12544 * 512 * 512 * 9 = 29.6e9, 29e6 cycles, so each job holds one.
TEST_F(JobsTest, EndsAJobBeforeTheKernelWould) {
  for (int i = 0; i < 3; ++i) AddOp(1, 12544);
  EXPECT_EQ(OpsPerStep(), std::vector<size_t>({1, 1, 1}));
  EXPECT_FALSE(std::get<NpuStep>(program_.steps[0]).chainable) << "one task needs no chain";
}

TEST_F(JobsTest, EndsAJobBeforeTheTaskCounterWould) {
  const size_t most = chip::FindChip("rk3588")->memory.tasks_per_kick_max;
  for (int i = 0; i < 3; ++i) AddOp(most / 2, 1, 1, 16);
  EXPECT_EQ(OpsPerStep(), std::vector<size_t>({2, 1}));
}

TEST_F(JobsTest, NeverChainsRawSums) {
  AddOp(2, 196);
  AddOp(2, 196, 4);
  EXPECT_EQ(OpsPerStep(), std::vector<size_t>({2}));
  EXPECT_FALSE(std::get<NpuStep>(program_.steps[0]).chainable);
  EXPECT_DOUBLE_EQ(program_.modelled_chained_us, program_.modelled_us);
}

}  // namespace
}  // namespace npu::plan
