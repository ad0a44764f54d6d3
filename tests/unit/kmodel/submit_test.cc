// SPDX-License-Identifier: Apache-2.0
// SUBMIT's validation: kernel-interfaces A.9 (stock), B.1 (extended), Part H 7.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

// A file with a job that works, and raw submits.
class Client {
 public:
  explicit Client(Version version) : npu_(Quick(version)) { placed_.Load(); }

  UserJob Job() const { return placed_.Job(); }
  // Job and submit words, changed by `edit`, as they are.
  int Raw(const UserJob& job,
          const std::function<void(uapi::RocketJob*, uapi::RocketSubmit*)>& edit = {}) {
    std::array<std::byte, 64> memory{};
    uapi::RocketJob words = job.words();
    uapi::RocketSubmit submit{.jobs = reinterpret_cast<uint64_t>(memory.data()),
                              .job_count = 1,
                              .job_struct_size = sizeof(uapi::RocketJob)};
    if (edit) edit(&words, &submit);
    std::memcpy(memory.data(), &words, sizeof(words));
    if (tail_ != 0) memory[55] = static_cast<std::byte>(tail_);
    return file_->Ioctl(uapi::kIoctlSubmit, reinterpret_cast<uint64_t>(&submit));
  }
  void set_tail(int tail) { tail_ = tail; }
  // Waits for everything, then: how many jobs ran.
  uint64_t Ran() {
    EXPECT_EQ(Prep(file_.get(), placed_.output(), INT64_MAX), 0);
    return npu_.npu().statistics().jobs;
  }
  Statistics statistics() { return npu_.npu().statistics(); }
  File* file() { return file_.get(); }
  PlacedCase& placed() { return placed_; }

 private:
  TestNpu npu_;
  std::shared_ptr<File> file_ = npu_.Open();
  PlacedCase placed_{kSmallCase, file_.get()};
  int tail_ = 0;
};

TEST(SubmitStock, RunsAGoodJobOf40And48Bytes) {
  Client client({0, 0});
  EXPECT_EQ(client.Raw(client.Job()), 0);
  EXPECT_EQ(client.Ran(), 1u);
  EXPECT_EQ(client.placed().Mismatches(), 0u);
  EXPECT_EQ(client.Raw(client.Job(), [](auto*, auto* submit) { submit->job_struct_size = 40; }), 0);
  EXPECT_EQ(client.Ran(), 2u);
}

TEST(SubmitStock, HeadIsCheckedFirst) {
  Client client({0, 0});
  EXPECT_EQ(client.Raw(client.Job(),
                       [](auto*, auto* submit) {
                         submit->job_count = 0;
                         submit->reserved = 5;
                       }),
            0);
  EXPECT_EQ(client.Raw(client.Job(), [](auto*, auto* submit) { submit->job_struct_size = 39; }),
            -EINVAL);
  EXPECT_EQ(client.Raw(client.Job(), [](auto*, auto* submit) { submit->reserved = 1; }), -EINVAL);
  EXPECT_EQ(client.Raw(client.Job(), [](auto*, auto* submit) { submit->jobs = 0x10; }), -EFAULT);
  EXPECT_EQ(client.Raw(client.Job(), [](auto*, auto* submit) { submit->jobs = ~uint64_t{15}; }),
            -EFAULT);
  EXPECT_EQ(client.Ran(), 0u);
}

TEST(SubmitStock, DropsJobsWithoutAWord) {
  Client client({0, 0});
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->task_count = 0; }), 0);
  UserJob both = client.Job();
  both.in.push_back(both.out[0]);
  EXPECT_EQ(client.Raw(both), 0);
  UserJob twice = client.Job();
  twice.in.push_back(twice.in[0]);
  EXPECT_EQ(client.Raw(twice), 0);
  EXPECT_EQ(client.Ran(), 0u);
  EXPECT_EQ(client.statistics().dropped, 3u);
  EXPECT_EQ(client.statistics().oopses, 0u);
  EXPECT_NE(client.placed().Mismatches(), 0u);
}

TEST(SubmitStock, SaysAloudWhereTheKernelWouldCrash) {
  Client client({0, 0});
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->task_struct_size = 7; }), 0);
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->tasks = 0x10; }), 0);
  UserJob empty = client.Job();
  empty.tasks[0].regcmd_count = 0;
  EXPECT_EQ(client.Raw(empty), 0);
  UserJob unknown = client.Job();
  unknown.out.push_back(99);
  EXPECT_EQ(client.Raw(unknown), 0);
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->in_bo_handles = 0x10; }), 0);
  EXPECT_EQ(client.statistics().oopses, 5u);
  EXPECT_EQ(client.Ran(), 0u);
}

TEST(SubmitStock, IgnoresFlagsAndGoesOnAfterADroppedJob) {
  Client client({0, 0});
  UserJob flagged = client.Job();
  flagged.flags = 0x80;
  UserJob twice = client.Job();
  twice.in.push_back(twice.out[0]);
  EXPECT_EQ(Submit(client.file(), std::vector<UserJob>{twice, flagged}), 0);
  EXPECT_EQ(client.Ran(), 1u);
}

TEST(SubmitExtended, ReturnsTheErrorOfTheJob) {
  Client client({1, 1});
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->task_count = 0; }), -EINVAL);
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->task_struct_size = 7; }), -EINVAL);
  EXPECT_EQ(client.Raw(client.Job(), [](auto* job, auto*) { job->tasks = 0x10; }), -EFAULT);
  UserJob both = client.Job();
  both.in.push_back(both.out[0]);
  EXPECT_EQ(client.Raw(both), -EALREADY);
  UserJob unknown = client.Job();
  unknown.out.push_back(99);
  EXPECT_EQ(client.Raw(unknown), -ENOENT);
  UserJob empty = client.Job();
  empty.tasks[0].regcmd_count = 0;
  EXPECT_EQ(client.Raw(empty), -EINVAL);
  EXPECT_EQ(client.Ran(), 0u);
  EXPECT_EQ(client.statistics().oopses, 0u);
}

TEST(SubmitExtended, StructuresMayGrowByZeros) {
  Client client({1, 1});
  const auto size56 = [](auto*, uapi::RocketSubmit* submit) { submit->job_struct_size = 56; };
  EXPECT_EQ(client.Raw(client.Job(), size56), 0);
  client.set_tail(1);
  EXPECT_EQ(client.Raw(client.Job(), size56), -E2BIG);
  client.set_tail(0);
  EXPECT_EQ(client.Raw(client.Job(), [](auto*, auto* submit) { submit->job_struct_size = 40; }), 0);
  EXPECT_EQ(client.Ran(), 2u);
}

TEST(SubmitExtended, FlagsAreCheckedBeforeHandles) {
  const auto result = [](Version version, uint32_t flags, uint32_t reserved) {
    Client client(version);
    UserJob job = client.Job();
    job.flags = flags;
    job.out.push_back(99);
    return client.Raw(job, [=](uapi::RocketJob* words, auto*) { words->reserved = reserved; });
  };
  EXPECT_EQ(result({1, 1}, 0x80, 0), -EINVAL);
  EXPECT_EQ(result({1, 1}, 0, 1), -EINVAL);
  EXPECT_EQ(result({1, 1}, uapi::kRocketJobBatched, 0), -ENOENT);
  EXPECT_EQ(result({1, 1}, uapi::kRocketJobNoDpuDone, 0), -EINVAL);
  EXPECT_EQ(result({1, 2}, uapi::kRocketJobNoDpuDone, 0), -ENOENT);
  EXPECT_EQ(result({1, 2}, uapi::kRocketJobPpuDone, 0), -EINVAL);
  EXPECT_EQ(result({1, 5}, uapi::kRocketJobPpuDone, 0), -ENOENT);
  // 1.0 knows 40 bytes: a flag is a part it does not know.
  EXPECT_EQ(result({1, 0}, uapi::kRocketJobBatched, 0), -E2BIG);
}

TEST(SubmitExtended, StopsAtTheFirstBadJob) {
  Client client({1, 1});
  UserJob bad = client.Job();
  bad.in.push_back(99);
  EXPECT_EQ(Submit(client.file(), {client.Job(), bad, client.Job()}), -ENOENT);
  EXPECT_EQ(client.Ran(), 1u);  // the earlier job keeps running, the later one never starts
}

// One kick for a chain where the kernel may, one a task where it may not.
struct Chain {
  const char* name;
  Version version;
  bool parameter;
  uint32_t flags;
  size_t kicks;
};

class Batched : public testing::TestWithParam<Chain> {};

TEST_P(Batched, KicksAndResult) {
  Options options = Quick(GetParam().version);
  options.batch_submit = GetParam().parameter;
  TestNpu npu(options);
  const auto file = npu.Open();
  PlacedCase placed("chain3_i8_kick_32x11x9_128_40", file.get());
  placed.Load();
  UserJob job = placed.Job();
  const size_t tasks = job.tasks.size();
  ASSERT_GT(tasks, 1u);
  job.flags = GetParam().flags;
  ASSERT_EQ(Submit(file.get(), job), 0);
  ASSERT_EQ(Prep(file.get(), placed.output(), INT64_MAX), 0);
  ASSERT_EQ(npu.outcomes().size(), 1u);
  EXPECT_FALSE(npu.outcomes()[0].timed_out) << npu.outcomes()[0].reason;
  EXPECT_EQ(npu.outcomes()[0].kicks.size(), GetParam().kicks == 1 ? 1 : tasks);
  // Links are harmless where each task is started alone (A.11).
  EXPECT_EQ(placed.Mismatches(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Submit, Batched,
    testing::Values(Chain{"Honoured", {1, 1}, true, uapi::kRocketJobBatched, 1},
                    Chain{"ParameterOff", {1, 1}, false, uapi::kRocketJobBatched, 0},
                    Chain{"NotAsked", {1, 1}, true, 0, 0},
                    Chain{"Stock", {0, 0}, true, uapi::kRocketJobBatched, 0}),
    [](const auto& chain) { return std::string(chain.param.name); });

}  // namespace
}  // namespace npu::kmodel
