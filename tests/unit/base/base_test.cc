// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "npu/status.h"
#include "src/base/checked.h"
#include "src/base/data_type.h"
#include "src/base/worker_pool.h"

namespace npu {
namespace {

TEST(Checked, RoundsUpAndSaturates) {
  EXPECT_EQ(CeilDiv(33, 32), 2);
  EXPECT_EQ(RoundUp(33u, 32u), 64u);
  EXPECT_EQ(Saturate<int8_t>(200), 127);
  EXPECT_EQ(Saturate<int8_t>(-200), -128);
  EXPECT_EQ(Saturate<uint8_t>(-1), 0);
  EXPECT_FALSE(CheckedMul<int64_t>(INT64_MAX, 2).has_value());
}

TEST(Shape, RejectsNegativeExtentsDeepRanksAndOverflow) {
  EXPECT_FALSE(Shape::From(std::vector<int32_t>{1, -1}).has_value());
  EXPECT_FALSE(Shape::From(std::vector<int32_t>(9, 1)).has_value());
  EXPECT_FALSE(Shape({INT32_MAX, INT32_MAX, INT32_MAX}).CheckedElements().has_value());
  EXPECT_EQ(Shape({1, 8, 8, 32}).elements(), 2048);
  EXPECT_EQ(Shape({1, 2}).ToString(), "[1,2]");
}

Result<int> Half(int v) {
  if (v % 2 != 0) return Status(ErrorCode::kInvalidArgument, "odd");
  return v / 2;
}
Result<int> Quarter(int v) {
  NPU_ASSIGN_OR_RETURN(const int half, Half(v));
  return Half(half);
}

TEST(Result, PropagatesTheFirstError) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
}

TEST(WorkerPool, RunsEveryIndexOnceAlsoFromSeveralCallers) {
  WorkerPool pool(3);
  std::vector<std::atomic<int>> hits(1000);
  auto run = [&] { pool.ParallelFor(hits.size(), [&](size_t i) { hits[i]++; }); };
  std::thread other(run);
  run();
  other.join();
  for (auto& h : hits) EXPECT_EQ(h.load(), 2);
}

// Python's multiprocessing forks after a library has been used.
TEST(WorkerPool, WorksAndEndsInAForkedProcess) {
  auto pool = std::make_unique<WorkerPool>(3);
  std::atomic<int> calls{0};
  const auto run = [&] { pool->ParallelFor(100, [&](size_t) { ++calls; }); };
  run();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // ends a child that waits for threads it does not have
    run();
    pool.reset();
    _exit(calls == 200 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  run();
  EXPECT_EQ(calls, 200);
}

}  // namespace
}  // namespace npu
