// SPDX-License-Identifier: Apache-2.0
// The strict modes find what they are for, and nothing in a correct client: kernel-interfaces C.5.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

Options With(const char* modes) {
  Options options = Quick();
  const auto strict = ParseStrict(modes);
  EXPECT_TRUE(strict.ok()) << strict.status().message();
  options.strict = strict.ok() ? *strict : Strict{};
  return options;
}

TEST(Strict, ACorrectClientPassesAllModes) {
  TestNpu npu(With("all"));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
  EXPECT_EQ(npu.npu().statistics().findings, 0u) << npu.log();
}

TEST(Strict, CoherencyNeedsFiniBeforeTheJob) {
  TestNpu npu(With("coherency"));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load(/*flush=*/false);
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_TRUE(npu.outcomes()[0].timed_out);  // the NPU saw zeros for commands
}

TEST(Strict, CoherencyNeedsPrepAfterTheJob) {
  TestNpu npu(With("coherency"));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  while (npu.npu().statistics().jobs == 0) {
  }
  EXPECT_NE(placed.Mismatches(), 0u);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

TEST(Strict, CoherencyDropsWritesBeforePrep) {
  TestNpu npu(With("coherency"));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  const uint32_t id = placed.file().buffers[0].id;
  std::memset(placed.bytes(id), 7, 16);
  EXPECT_EQ(Prep(file.get(), placed.handle(id), 0), 0);
  EXPECT_EQ(placed.bytes(id)[0], std::byte{0});
  std::memset(placed.bytes(id), 7, 16);
  EXPECT_EQ(Fini(file.get(), placed.handle(id)), 0);
  EXPECT_EQ(Prep(file.get(), placed.handle(id), 0), 0);
  EXPECT_EQ(placed.bytes(id)[0], std::byte{7});
}

TEST(Strict, LifetimeWantsEveryObjectListed) {
  TestNpu npu(With("lifetime"));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  UserJob job = placed.Job();
  job.in.pop_back();
  ASSERT_EQ(Submit(file.get(), job), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(npu.npu().statistics().findings, 1u);
  EXPECT_NE(npu.log().find("without listing it"), std::string::npos) << npu.log();
}

TEST(Strict, WarReportsWritesUnderAReader) {
  Options options = With("war");
  options.faults = {{FaultKind::kDelayJob, 0, 30}};
  TestNpu npu(options);
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  EXPECT_EQ(Fini(file.get(), placed.Job().in[0]), 0);
  EXPECT_EQ(npu.npu().statistics().findings, 1u);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(Fini(file.get(), placed.Job().in[0]), 0);
  EXPECT_EQ(npu.npu().statistics().findings, 1u);
}

TEST(Strict, PoisonReportsTheGuardPage) {
  TestNpu npu(With("poison"));
  const auto file = npu.Open();
  const Bo guard = Create(file.get(), 4096);
  EXPECT_EQ(guard.iova, 0u);
  UserJob job;
  job.tasks = {{0, 2}};  // a forgotten address
  job.out = {guard.handle};
  ASSERT_EQ(Submit(file.get(), job), 0);
  EXPECT_EQ(Prep(file.get(), guard.handle, INT64_MAX), 0);
  EXPECT_EQ(npu.npu().statistics().findings, 1u);
  EXPECT_NE(npu.log().find("guard page"), std::string::npos) << npu.log();
}

TEST(Strict, ShuffleMovesAddressesAndCores) {
  std::set<uint64_t> addresses;
  std::set<uint32_t> cores;
  TestNpu npu(With("shuffle"));
  for (int i = 0; i < 12; ++i) {
    const auto file = npu.Open();
    const Bo bo = Create(file.get(), 4096);
    EXPECT_EQ(bo.iova % 4096, 0u);
    addresses.insert(bo.iova);
    UserJob job;
    job.tasks = {{static_cast<uint32_t>(bo.iova), 2}};
    job.out = {bo.handle};
    ASSERT_EQ(Submit(file.get(), job), 0);
    EXPECT_EQ(Prep(file.get(), bo.handle, INT64_MAX), 0);
  }
  for (const JobOutcome& outcome : npu.outcomes()) cores.insert(outcome.core);
  EXPECT_GT(addresses.size(), 10u);
  EXPECT_GT(cores.size(), 1u);
}

}  // namespace
}  // namespace npu::kmodel
