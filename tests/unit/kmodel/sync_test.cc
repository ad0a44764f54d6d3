// SPDX-License-Identifier: Apache-2.0
// PREP and FINI: kernel-interfaces A.7, A.8, B.4, Part H 6 and 8.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "src/kmodel/fence.h"
#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

// Every job takes 100 ms of wall time.
Options Slow(Version version = {}) {
  Options options = Quick(version);
  options.faults = {{FaultKind::kDelayJob, 0, 100}};
  return options;
}

class Prepare : public testing::Test {
 protected:
  void StartJob() {
    placed_.Load();
    ASSERT_EQ(Submit(file_.get(), placed_.Job()), 0);
  }
  int PrepOutput(int64_t deadline_ns) { return Prep(file_.get(), placed_.output(), deadline_ns); }

  TestNpu npu_{Slow()};
  std::shared_ptr<File> file_ = npu_.Open();
  PlacedCase placed_{kSmallCase, file_.get()};
};

TEST_F(Prepare, ArgumentsAreCheckedInOrder) {
  EXPECT_EQ(Prep(file_.get(), 77, 0, 1), -EINVAL);
  EXPECT_EQ(Prep(file_.get(), 77, 0), -ENOENT);
  EXPECT_EQ(Fini(file_.get(), 77, 1), -EINVAL);
  EXPECT_EQ(Fini(file_.get(), 77), -ENOENT);
}

TEST_F(Prepare, PastDeadlinesPoll) {
  EXPECT_EQ(PrepOutput(0), 0);
  EXPECT_EQ(PrepOutput(-1), 0);
  StartJob();
  const int64_t before = MonotonicNow();
  EXPECT_EQ(PrepOutput(0), -EBUSY);
  EXPECT_EQ(PrepOutput(-5), -EBUSY);
  EXPECT_EQ(PrepOutput(MonotonicNow() - kMillisecond), -EBUSY);
  // The classic mistake: a duration where a deadline is meant.
  EXPECT_EQ(PrepOutput(std::min<int64_t>(2'000'000'000, MonotonicNow() - 1)), -EBUSY);
  EXPECT_LT(MonotonicNow() - before, 60 * kMillisecond);
  EXPECT_EQ(PrepOutput(INT64_MAX), 0);
  EXPECT_EQ(placed_.Mismatches(), 0u);
}

TEST_F(Prepare, FutureDeadlinesExpire) {
  StartJob();
  const int64_t before = MonotonicNow();
  EXPECT_EQ(PrepOutput(before + 10 * kMillisecond), -ETIMEDOUT);
  const int64_t took = MonotonicNow() - before;
  EXPECT_GE(took, 10 * kMillisecond);
  EXPECT_LT(took, 70 * kMillisecond);
  EXPECT_EQ(PrepOutput(before + 5000 * kMillisecond), 0);
  EXPECT_GE(MonotonicNow() - before, 99 * kMillisecond);
}

TEST_F(Prepare, AnInputIsNeverWaitedFor) {
  StartJob();
  for (const uint32_t handle : placed_.Job().in) EXPECT_EQ(Prep(file_.get(), handle, INT64_MAX), 0);
  EXPECT_EQ(PrepOutput(0), -EBUSY);
  EXPECT_EQ(Fini(file_.get(), placed_.output()), 0);  // never waits
  EXPECT_EQ(PrepOutput(0), -EBUSY);
  EXPECT_EQ(PrepOutput(INT64_MAX), 0);
}

void Ignore(int) {}

TEST_F(Prepare, ASignalInterruptsTheWait) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = Ignore;  // without SA_RESTART
  sigaction(SIGUSR1, &action, &old);
  StartJob();
  const pthread_t waiter = pthread_self();
  std::thread sender([waiter] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pthread_kill(waiter, SIGUSR1);
  });
  const int64_t deadline = MonotonicNow() + 5000 * kMillisecond;
  EXPECT_EQ(PrepOutput(deadline), -EINTR);
  sender.join();
  EXPECT_EQ(PrepOutput(deadline), 0);  // the same deadline again
  sigaction(SIGUSR1, &old, nullptr);
}

class Ranges : public testing::Test {
 protected:
  using Range = uapi::RocketBoRange;
  int PrepRanges(const std::vector<Range>& ranges, int64_t deadline_ns = 0) {
    uapi::RocketPrepBoRanges prep{.handle = bo_.handle,
                                  .range_count = static_cast<uint32_t>(ranges.size()),
                                  .ranges = reinterpret_cast<uint64_t>(ranges.data()),
                                  .timeout_ns = deadline_ns};
    return file_->Ioctl(uapi::kIoctlPrepBoRanges, reinterpret_cast<uint64_t>(&prep));
  }
  int FiniRanges(uapi::RocketFiniBoRanges fini) {
    return file_->Ioctl(uapi::kIoctlFiniBoRanges, reinterpret_cast<uint64_t>(&fini));
  }

  TestNpu npu_{Slow({1, 5})};
  std::shared_ptr<File> file_ = npu_.Open();
  Bo bo_ = Create(file_.get(), 5000);  // two pages
};

TEST_F(Ranges, VectorsOfTheSpecification) {
  EXPECT_EQ(PrepRanges({{0, 64}, {64, 64}}), 0);
  EXPECT_EQ(PrepRanges({{64, 64}, {0, 64}}), -EINVAL);
  EXPECT_EQ(PrepRanges({{0, 65}, {64, 1}}), -EINVAL);
  EXPECT_EQ(PrepRanges({{0, 0}}), -EINVAL);
  EXPECT_EQ(PrepRanges({{0, 8192}}), 0);  // the bound is the rounded size
  EXPECT_EQ(PrepRanges({{0, 8193}}), -EINVAL);
  EXPECT_EQ(PrepRanges({{8191, 2}}), -EINVAL);
  EXPECT_EQ(PrepRanges({{~uint64_t{0}, 2}}), -EINVAL);
  EXPECT_EQ(PrepRanges({}), 0);
  std::vector<Range> many;
  for (uint64_t i = 0; i < 1025; ++i) many.push_back({i * 4, 4});
  EXPECT_EQ(PrepRanges(many), -EINVAL);
  many.pop_back();
  EXPECT_EQ(PrepRanges(many), 0);
}

TEST_F(Ranges, PointersHandlesAndReservedFields) {
  EXPECT_EQ(FiniRanges({.handle = bo_.handle, .range_count = 1}), -EFAULT);
  EXPECT_EQ(FiniRanges({.handle = bo_.handle, .range_count = 0, .ranges = 0x10}), 0);
  EXPECT_EQ(FiniRanges({.handle = 99}), -ENOENT);
  EXPECT_EQ(FiniRanges({.handle = 99, .reserved = 1}), -EINVAL);
}

TEST_F(Ranges, PrepWaitsAsTheWholeFormDoes) {
  const auto other = npu_.Open();
  PlacedCase placed(kSmallCase, other.get());
  placed.Load();
  ASSERT_EQ(Submit(other.get(), placed.Job()), 0);
  uapi::RocketPrepBoRanges prep{.handle = placed.output()};
  const auto argument = reinterpret_cast<uint64_t>(&prep);
  EXPECT_EQ(other->Ioctl(uapi::kIoctlPrepBoRanges, argument), -EBUSY);
  prep.timeout_ns = INT64_MAX;
  EXPECT_EQ(other->Ioctl(uapi::kIoctlPrepBoRanges, argument), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

}  // namespace
}  // namespace npu::kmodel
