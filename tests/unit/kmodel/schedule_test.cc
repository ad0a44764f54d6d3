// SPDX-License-Identifier: Apache-2.0
// Order, cores, timeouts and faults: kernel-interfaces A.10, A.12, A.13, Part H 10 and 11.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

#include "src/kmodel/fence.h"
#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

Options Delayed(uint32_t milliseconds, Version version = {}) {
  Options options = Quick(version);
  options.faults = {{FaultKind::kDelayJob, 0, milliseconds}};
  return options;
}

bool Overlap(const JobOutcome& a, const JobOutcome& b) {
  return a.start_ns < b.end_ns && b.start_ns < a.end_ns;
}

// A job that writes an object nobody else uses and computes nothing: its fetch faults or hangs.
UserJob Trivial(const PlacedCase& placed, uint32_t out) {
  UserJob job = placed.Job();
  job.in.clear();
  job.out = {out};
  return job;
}

TEST(Order, JobsOfOneFileNeverOverlap) {
  TestNpu npu(Delayed(20));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  const Bo x = Create(file.get(), 4096), y = Create(file.get(), 4096);
  ASSERT_EQ(Submit(file.get(), {Trivial(placed, x.handle), Trivial(placed, y.handle)}), 0);
  EXPECT_EQ(Prep(file.get(), y.handle, INT64_MAX), 0);
  EXPECT_EQ(Prep(file.get(), x.handle, 0), 0);  // submit order
  const auto outcomes = npu.outcomes();
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_FALSE(Overlap(outcomes[0], outcomes[1]));
  EXPECT_EQ(outcomes[0].core, outcomes[1].core);
}

TEST(Order, JobsOfThreeFilesUseThreeCores) {
  TestNpu npu(Delayed(80));
  std::vector<std::shared_ptr<File>> files;
  std::vector<std::unique_ptr<PlacedCase>> placed;
  for (size_t i = 0; i < 3; ++i) {
    files.push_back(npu.Open());
    placed.push_back(std::make_unique<PlacedCase>(kSmallCase, files.back().get()));
    placed.back()->Load();
  }
  for (size_t i = 0; i < 3; ++i) ASSERT_EQ(Submit(files[i].get(), placed[i]->Job()), 0);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Prep(files[i].get(), placed[i]->output(), INT64_MAX), 0);
    EXPECT_EQ(placed[i]->Mismatches(), 0u);
  }
  const auto outcomes = npu.outcomes();
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_TRUE(Overlap(outcomes[0], outcomes[1]) && Overlap(outcomes[1], outcomes[2]));
  std::set<uint32_t> cores;
  for (const JobOutcome& outcome : outcomes) cores.insert(outcome.core);
  EXPECT_EQ(cores.size(), 3u);
}

TEST(Order, FilesShareTheOnlyCore) {
  Options options = Delayed(20);
  options.cores = 1;
  TestNpu npu(options);
  const auto first = npu.Open(), second = npu.Open();
  PlacedCase a(kSmallCase, first.get()), b(kSmallCase, second.get());
  a.Load();
  b.Load();
  ASSERT_EQ(Submit(first.get(), a.Job()), 0);
  ASSERT_EQ(Submit(second.get(), b.Job()), 0);
  EXPECT_EQ(Prep(first.get(), a.output(), INT64_MAX), 0);
  EXPECT_EQ(Prep(second.get(), b.output(), INT64_MAX), 0);
  const auto outcomes = npu.outcomes();
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_FALSE(Overlap(outcomes[0], outcomes[1]));
}

TEST(Order, AReaderSeesWhatTheWriterWrote) {
  TestNpu npu(Delayed(10));
  const auto file = npu.Open();
  PlacedCase placed("chain3_i8_tasks_16x9x9_64_24", file.get());
  placed.Load();
  // The layers as jobs of their own, one after the other without a wait in between.
  const UserJob whole = placed.Job();
  std::vector<UserJob> layers;
  for (const uapi::RocketTask& task : whole.tasks) {
    layers.push_back(whole);
    layers.back().tasks = {task};
  }
  ASSERT_EQ(Submit(file.get(), layers), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

class SharedObject : public DescriptorTable {
 public:
  int Install(std::shared_ptr<BufferObject> object, uint32_t) override {
    object_ = std::move(object);
    return 100;
  }
  std::shared_ptr<BufferObject> Find(int) override { return object_; }

 private:
  std::shared_ptr<BufferObject> object_;
};

// Implicit fences over two files: readers and writers wait for writers, nobody for readers.
TEST(Fences, AcrossFiles) {
  struct Case {
    bool first_writes, second_writes, waits;
  };
  for (const Case c : {Case{true, false, true}, Case{true, true, true}, Case{false, true, false}}) {
    SharedObject descriptors;
    TestNpu npu(Delayed(60), &descriptors);
    const auto first = npu.Open(), second = npu.Open();
    PlacedCase a(kSmallCase, first.get()), b(kSmallCase, second.get());
    a.Load();
    b.Load();
    const Bo shared = Create(first.get(), 4096);
    uapi::DrmPrimeHandle prime{.handle = shared.handle};
    ASSERT_EQ(first->Ioctl(uapi::kIoctlPrimeHandleToFd, reinterpret_cast<uint64_t>(&prime)), 0);
    ASSERT_EQ(second->Ioctl(uapi::kIoctlPrimeFdToHandle, reinterpret_cast<uint64_t>(&prime)), 0);
    UserJob one = a.Job(), two = b.Job();
    (c.first_writes ? one.out : one.in).push_back(shared.handle);
    (c.second_writes ? two.out : two.in).push_back(prime.handle);
    ASSERT_EQ(Submit(first.get(), one), 0);
    ASSERT_EQ(Submit(second.get(), two), 0);
    EXPECT_EQ(Prep(second.get(), b.output(), INT64_MAX), 0);
    EXPECT_EQ(Prep(first.get(), a.output(), INT64_MAX), 0);
    const auto outcomes = npu.outcomes();
    ASSERT_EQ(outcomes.size(), 2u);
    EXPECT_EQ(Overlap(outcomes[0], outcomes[1]), !c.waits) << c.first_writes << c.second_writes;
  }
}

TEST(Timeout, LooksLikeSuccessAndTheNextJobIsRight) {
  TestNpu npu(Quick());
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  UserJob cut = placed.Job();
  cut.tasks[0].regcmd_count -= 4;  // without the trailer
  const int64_t before = MonotonicNow();
  ASSERT_EQ(Submit(file.get(), cut), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_GE(MonotonicNow() - before, 30 * kMillisecond);
  EXPECT_NE(placed.Mismatches(), 0u);
  EXPECT_EQ(npu.log(), "rocket fdab0000.npu: NPU job timed out\n");
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
  EXPECT_EQ(npu.npu().statistics().timeouts, 1u);
}

TEST(Timeout, CountsModelledTimeOfTheWholeJob) {
  Options options = Quick();
  options.timeout_ms = 1;
  TestNpu npu(options);
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  UserJob job = placed.Job();
  job.tasks.resize(400, job.tasks[0]);  // each a few microseconds, together too long
  ASSERT_EQ(Submit(file.get(), job), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  ASSERT_EQ(npu.outcomes().size(), 1u);
  EXPECT_TRUE(npu.outcomes()[0].timed_out);
  EXPECT_LT(npu.outcomes()[0].kicks.size(), 400u);
  EXPECT_GT(npu.outcomes()[0].kicks.size(), 1u);
}

TEST(PageFault, IsLoggedAndEndsInATimeout) {
  TestNpu npu(Quick());
  const auto file = npu.Open();
  PlacedCase placed("neg_dst_unmapped", file.get());
  placed.Load();
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_NE(npu.log().find("Page fault at 0xc0de0000 of type write"), std::string::npos);
  EXPECT_NE(npu.log().find("NPU job timed out"), std::string::npos);
}

// An object that is closed while a job that does not list it is queued is gone for the hardware.
TEST(PageFault, UnlistedObjectsGoWhenTheyAreClosed) {
  TestNpu npu(Quick());
  const auto file = npu.Open();
  std::optional<PlacedCase> placed(std::in_place, kSmallCase, file.get());
  placed->Load();
  UserJob job = placed->Job();
  const uint32_t input = job.in[0];
  job.in.clear();
  const Bo guard = Create(file.get(), 4096);
  job.out = {guard.handle};
  EXPECT_EQ(Close(file.get(), input), 0);
  placed.reset();  // the mappings
  ASSERT_EQ(Submit(file.get(), job), 0);
  EXPECT_EQ(Prep(file.get(), guard.handle, INT64_MAX), 0);
  EXPECT_NE(npu.log().find("Page fault"), std::string::npos) << npu.log();
}

TEST(Closing, KeepsListedObjectsUntilTheJobEnds) {
  TestNpu npu(Delayed(40));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  const UserJob job = placed.Job();
  ASSERT_EQ(Submit(file.get(), job), 0);
  for (const uint32_t handle : job.in) EXPECT_EQ(Close(file.get(), handle), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
  EXPECT_EQ(npu.log(), "");
}

TEST(Closing, WithJobsInFlightIsNoted) {
  TestNpu npu(Delayed(30));
  {
    const auto file = npu.Open();
    PlacedCase placed(kSmallCase, file.get());
    placed.Load();
    ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  }
  EXPECT_NE(npu.log().find("a stock kernel uses freed memory"), std::string::npos);
  EXPECT_EQ(npu.npu().statistics().jobs, 1u);  // close waited for it
}

TEST(Stopping, EndsWaitsAndLaterJobs) {
  TestNpu npu(Delayed(5000));
  const auto file = npu.Open();
  PlacedCase placed(kSmallCase, file.get());
  placed.Load();
  ASSERT_EQ(Submit(file.get(), {placed.Job(), placed.Job()}), 0);
  npu.npu().scheduler().Stop();
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
  EXPECT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
}

TEST(Threads, ManyClientsAtOnce) {
  Options options = Quick();
  options.strict.shuffle = false;
  TestNpu npu(options);
  const auto shared = npu.Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&npu, &shared] {
      const auto file = npu.Open();
      PlacedCase placed(kSmallCase, file.get());
      for (int i = 0; i < 5; ++i) {
        placed.Load();
        ASSERT_EQ(Submit(file.get(), placed.Job()), 0);
        ASSERT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
        ASSERT_EQ(placed.Mismatches(), 0u);
        const Bo bo = Create(shared.get(), 4096);
        EXPECT_EQ(Prep(shared.get(), bo.handle, 0), 0);
        EXPECT_EQ(Close(shared.get(), bo.handle), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(npu.npu().statistics().jobs, 20u);
  EXPECT_EQ(npu.npu().statistics().objects, 0u);
}

}  // namespace
}  // namespace npu::kmodel
