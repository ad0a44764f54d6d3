// SPDX-License-Identifier: Apache-2.0
// The providers: addresses, the rules for jobs, failures, recording.
#include "src/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "src/device/address_allocator.h"
#include "src/device/open.h"
#include "src/device/providers.h"
#include "src/regs/command.h"
#include "tests/unit/device/golden_job.h"

namespace npu::device {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<Device> MustOpen(const OpenOptions& options) {
  Result<std::shared_ptr<Device>> device = Open(options);
  EXPECT_TRUE(device.ok()) << device.status().message();
  return device.ok() ? *std::move(device) : nullptr;
}

std::unique_ptr<Buffer> MustAllocate(Device* device, uint64_t bytes) {
  Result<std::unique_ptr<Buffer>> buffer = device->Allocate(bytes);
  EXPECT_TRUE(buffer.ok()) << buffer.status().message();
  return buffer.ok() ? *std::move(buffer) : nullptr;
}

TEST(AddressAllocator, FollowsTheKernelsSequence) {
  // kernel-interfaces A.4, one page further up because of the guard page.
  AddressAllocator addresses(uint64_t{1} << 32, 4096);
  EXPECT_EQ(*addresses.Allocate(1000), 0x1000u);
  EXPECT_EQ(*addresses.Allocate(4096), 0x2000u);
  EXPECT_EQ(*addresses.Allocate(4097), 0x3000u);
  EXPECT_EQ(*addresses.Allocate(12288), 0x5000u);
  EXPECT_TRUE(addresses.Free(0x3000));
  EXPECT_EQ(*addresses.Allocate(8192), 0x3000u);
  EXPECT_EQ(*addresses.Allocate(100), 0x8000u);
}

TEST(AddressAllocator, TakesTheSmallestHoleThatFits) {
  AddressAllocator addresses(uint64_t{1} << 32, 4096);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(addresses.Allocate(4096).ok());
  EXPECT_TRUE(addresses.Free(0x1000));
  EXPECT_TRUE(addresses.Free(0x2000));
  EXPECT_TRUE(addresses.Free(0x5000));
  EXPECT_EQ(*addresses.Allocate(4000), 0x5000u);
  EXPECT_EQ(*addresses.Allocate(8192), 0x1000u);
}

TEST(AddressAllocator, RefusesWhenNoHoleIsLargeEnough) {
  AddressAllocator addresses(uint64_t{1} << 32, 4096);
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(addresses.Allocate(uint64_t{256} << 20).ok());
  const Result<uint32_t> last = addresses.Allocate(uint64_t{256} << 20);
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.status().code(), ErrorCode::kOutOfMemory);
  EXPECT_THAT(last.status().message(), HasSubstr("out of NPU address space"));
  EXPECT_EQ(addresses.largest_hole(), (uint64_t{256} << 20) - 4096);
  EXPECT_FALSE(addresses.Free(0));
  EXPECT_FALSE(addresses.Free(0x1234));
  EXPECT_FALSE(addresses.Allocate(0).ok());
}

TEST(Open, NamesWhatExists) {
  const auto message = [](OpenOptions options, ErrorCode code) {
    const Result<std::shared_ptr<Device>> device = Open(options);
    EXPECT_FALSE(device.ok());
    EXPECT_EQ(device.status().code(), code);
    return device.status().message();
  };
  EXPECT_THAT(message({.provider = "gpu"}, ErrorCode::kInvalidArgument),
              HasSubstr("known: sim, rocket, null"));
  EXPECT_THAT(message({.provider = "sim", .chip = "rk9999"}, ErrorCode::kInvalidArgument),
              HasSubstr("rk3588"));
  EXPECT_THAT(message({.provider = "none"}, ErrorCode::kNoDevice), HasSubstr("device=none"));
  for (const char* bad : {"record:", "record:sim", "record:sim:", "record::x", "record:record:x"}) {
    message({.provider = bad}, ErrorCode::kInvalidArgument);
  }
  message({.provider = "auto"}, ErrorCode::kNoDevice);
}

TEST(SimDevice, BuffersStartAsZerosAtPagesAndAreCounted) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  EXPECT_TRUE(device->info().simulated);
  EXPECT_EQ(device->info().chip, "rk3588");
  {
    const std::unique_ptr<Buffer> a = MustAllocate(device.get(), 100);
    const std::unique_ptr<Buffer> b = MustAllocate(device.get(), 5000);
    EXPECT_EQ(a->iova(), 0x1000u);
    EXPECT_EQ(b->iova(), 0x2000u);
    EXPECT_EQ(b->bytes().size(), 5000u);
    for (const std::byte v : b->bytes()) ASSERT_EQ(v, std::byte{0});
    EXPECT_TRUE(a->BeginCpuAccess().ok());
    EXPECT_TRUE(a->EndCpuAccess().ok());
    EXPECT_EQ(device->statistics().live_buffers, 2u);
    EXPECT_EQ(device->statistics().live_bytes, 5100u);
  }
  EXPECT_EQ(device->statistics().live_buffers, 0u);
  EXPECT_EQ(device->statistics().live_bytes, 0u);
}

TEST(SimDevice, BuffersMayOutliveTheDevice) {
  std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  const std::unique_ptr<Buffer> buffer = MustAllocate(device.get(), 4096);
  device.reset();
  std::memset(buffer->bytes().data(), 1, 4096);
}

TEST(SimDevice, EndOfTheAddressSpaceIsAnErrorThatSaysSo) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(MustAllocate(device.get(), uint64_t{1} << 30));
  const Result<std::unique_ptr<Buffer>> last = device->Allocate(uint64_t{1} << 30);
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.status().code(), ErrorCode::kOutOfMemory);
  EXPECT_THAT(last.status().message(), HasSubstr("out of NPU address space"));
  buffers.pop_back();
  EXPECT_TRUE(device->Allocate(uint64_t{1} << 30).ok());
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1} << 31, ~uint64_t{0}}) {
    EXPECT_FALSE(device->Allocate(bytes).ok()) << bytes;
  }
}

// A device with a list of `words` in one buffer and another buffer as output.
class JobRules : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    device_ = MustOpen({.provider = GetParam()});
    commands_ = MustAllocate(device_.get(), 4096);
    output_ = MustAllocate(device_.get(), 4096);
    job_.tasks = {{commands_->iova(), 4}};
    job_.inputs = {commands_.get()};
    job_.outputs = {output_.get()};
  }
  std::string Refusal(ErrorCode code = ErrorCode::kInvalidArgument) {
    JobReport report;
    const Status status = device_->Run(job_, &report);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_FALSE(report.completed);
    EXPECT_EQ(device_->statistics().submits, 0u);
    return status.message();
  }
  std::shared_ptr<Device> device_;
  std::unique_ptr<Buffer> commands_, output_;
  Job job_;
};

TEST_P(JobRules, NoTask) {
  job_.tasks.clear();
  EXPECT_THAT(Refusal(), HasSubstr("no task"));
}
TEST_P(JobRules, NoOutput) {
  job_.outputs.clear();
  EXPECT_THAT(Refusal(), HasSubstr("no output buffer"));
}
TEST_P(JobRules, OddCount) {
  job_.tasks[0].count = 3;
  EXPECT_THAT(Refusal(), HasSubstr("3 words"));
}
TEST_P(JobRules, ZeroCount) {
  job_.tasks[0].count = 0;
  EXPECT_THAT(Refusal(), HasSubstr("0 words"));
}
TEST_P(JobRules, HugeCount) {
  job_.tasks[0].count = 0xFFFFFFFE;
  EXPECT_THAT(Refusal(), HasSubstr("the fetcher takes 131072"));
}
TEST_P(JobRules, UnalignedList) {
  job_.tasks[0].regcmd += 8;
  EXPECT_THAT(Refusal(), HasSubstr("16-byte aligned"));
}
TEST_P(JobRules, ListPastItsBuffer) {
  job_.tasks[0].regcmd += 4096 - 16;
  EXPECT_THAT(Refusal(), HasSubstr("in no buffer"));
}
TEST_P(JobRules, ListInAGuardPage) {
  job_.tasks[0].regcmd = 0;
  EXPECT_THAT(Refusal(), HasSubstr("in no buffer"));
}
TEST_P(JobRules, ListBufferNotNamed) {
  const std::unique_ptr<Buffer> other = MustAllocate(device_.get(), 64);
  job_.inputs = {other.get()};
  EXPECT_THAT(Refusal(), HasSubstr("not named as an input"));
}
TEST_P(JobRules, BufferNamedTwice) {
  job_.outputs.push_back(commands_.get());
  EXPECT_THAT(Refusal(), HasSubstr("named twice"));
}
TEST_P(JobRules, NullBuffer) {
  job_.inputs.push_back(nullptr);
  EXPECT_THAT(Refusal(), HasSubstr("null"));
}
TEST_P(JobRules, BufferOfAnotherDevice) {
  const std::shared_ptr<Device> other = MustOpen({.provider = GetParam()});
  const std::unique_ptr<Buffer> foreign = MustAllocate(other.get(), 64);
  job_.outputs = {foreign.get()};
  EXPECT_THAT(Refusal(), HasSubstr("does not belong to this device"));
}
TEST_P(JobRules, ChainingNeedsTheCapability) {
  job_.chained = true;
  EXPECT_THAT(Refusal(ErrorCode::kUnsupported), HasSubstr("cannot chain"));
}
INSTANTIATE_TEST_SUITE_P(Providers, JobRules, testing::Values("sim", "null"));

TEST(NullDevice, AcceptsAJobAndWritesNothing) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "null"});
  const JobFile file = ReadGolden("mm_i8_4x32x32");
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  JobReport report;
  const Job job = placed.MakeJob();
  ASSERT_TRUE(device->Run(job, &report).ok());
  EXPECT_TRUE(report.completed);
  EXPECT_EQ(report.kicks, 1u);
  EXPECT_GT(placed.Mismatches(), 0u);
}

TEST(SimDevice, RunsAGoldenCase) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  const JobFile file = ReadGolden("mm_i8_4x32x32");
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  EXPECT_GT(placed.Mismatches(), 0u);
  JobReport report;
  const Status status = device->Run(placed.MakeJob(), &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(placed.Mismatches(), 0u);
  EXPECT_TRUE(report.completed);
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.kicks, 1u);
  EXPECT_GT(report.modelled_us, 54.0) << "the submit alone takes longer";
  EXPECT_LT(report.modelled_us, 100.0);
  const DeviceStatistics statistics = device->statistics();
  EXPECT_EQ(statistics.submits, 1u);
  EXPECT_EQ(statistics.tasks, 1u);
  EXPECT_EQ(statistics.kicks, 1u);
  EXPECT_EQ(statistics.failures, 0u);
  EXPECT_EQ(statistics.modelled_us, report.modelled_us);
}

TEST(SimDevice, AListWithoutLaunchHangsAndTheNextJobRuns) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  const JobFile file = ReadGolden("mm_i8_4x32x32");
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  Job job = placed.MakeJob();
  const uint32_t words = job.tasks[0].count;
  job.tasks[0].count = words - 2;  // SYNC and ENABLE are cut off
  JobReport report;
  const Status status = device->Run(job, &report);
  EXPECT_EQ(status.code(), ErrorCode::kDeviceFault);
  EXPECT_THAT(report.failure, StartsWith("hang: "));
  EXPECT_THAT(status.message(), HasSubstr(report.failure));
  EXPECT_FALSE(report.completed);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_THAT(report.diagnostics.back(), HasSubstr("kick 0: error"));
  EXPECT_EQ(device->statistics().failures, 1u);
  EXPECT_GT(placed.Mismatches(), 0u);

  job.tasks[0].count = words;
  EXPECT_TRUE(device->Run(job, &report).ok()) << "the failed job left the core wedged";
  EXPECT_EQ(placed.Mismatches(), 0u);
}

TEST(SimDevice, AnUnmappedDestinationIsAFault) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  const JobFile file = ReadGolden("mm_i8_4x32x32");
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  const Job job = placed.MakeJob();
  const Buffer* commands = nullptr;
  for (const JobBuffer& b : file.buffers) {
    if (b.iova <= job.tasks[0].regcmd && job.tasks[0].regcmd - b.iova < b.size) {
      commands = placed.buffer(b.id);
    }
  }
  ASSERT_NE(commands, nullptr);
  const Result<uint64_t> elsewhere =
      regs::MakeWord(regs::rk3588::DpuDstBaseAddr{.dst_base_addr = 0xF0000000u});
  ASSERT_TRUE(elsewhere.ok());
  std::byte* words = commands->bytes().data() + (job.tasks[0].regcmd - commands->iova());
  for (uint32_t i = 0; i < job.tasks[0].count; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, words + i * 8, 8);
    if (regs::Split(word).offset != regs::rk3588::DpuDstBaseAddr::kOffset) continue;
    std::memcpy(words + i * 8, &*elsewhere, 8);
  }
  JobReport report;
  const Status status = device->Run(job, &report);
  EXPECT_EQ(status.code(), ErrorCode::kDeviceFault);
  EXPECT_THAT(report.failure, StartsWith("fault: "));
}

TEST(SimDevice, ChainedTasksAreOneKick) {
  const JobFile file = ReadGolden("chain3_i8_kick_32x11x9_128_40");
  ASSERT_TRUE(file.submits[0].jobs[0].batched());
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim", .can_chain = true});
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  JobReport report;
  const Status status = device->Run(placed.MakeJob(), &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.kicks, 1u);
  EXPECT_EQ(device->statistics().tasks, 3u);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

TEST(SimDevice, SeveralTasksAreSeveralKicksThatCostRearming) {
  const JobFile file = ReadGolden("chain3_i8_tasks_16x9x9_64_24");
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  JobReport report;
  const Status status = device->Run(placed.MakeJob(), &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.kicks, 3u);
  EXPECT_GT(report.modelled_us, 54.0 + 3 * (3 + 4) + 2 * 15);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

TEST(SimDevice, ThreadsShareADevice) {
  const std::shared_ptr<Device> device = MustOpen({.provider = "sim"});
  const JobFile file = ReadGolden("mm_i8_4x32x32");
  PlacedJob placed(file, device.get());
  placed.LoadMemory();
  const Job job = placed.MakeJob();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i) {
        const std::unique_ptr<Buffer> buffer = MustAllocate(device.get(), 4096);
        EXPECT_TRUE(device->Run(job, nullptr).ok());
        (void)device->statistics();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device->statistics().submits, 32u);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

class Recording : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  std::shared_ptr<Device> OpenRecording(uint32_t limit = 1000) {
    return MustOpen({.provider = "record:sim:" + directory_.string(), .record_limit = limit});
  }
  JobFile Saved(const char* name) {
    Result<JobFile> file = ReadJobFile(directory_ / name);
    EXPECT_TRUE(file.ok()) << file.status().message();
    return file.ok() ? *std::move(file) : JobFile();
  }
  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / "saved:jobs" / "here";
};

TEST_F(Recording, ASavedJobReplaysWithTheSameResult) {
  const JobFile golden = ReadGolden("mm_i8_4x32x32");
  {
    const std::shared_ptr<Device> device = OpenRecording();
    EXPECT_EQ(device->info().provider, "record:sim");
    PlacedJob placed(golden, device.get());
    placed.LoadMemory();
    const Status status = device->Run(placed.MakeJob(), nullptr);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(placed.Mismatches(), 0u);
  }
  const JobFile saved = Saved("job-000001.npujob");
  EXPECT_EQ(saved.outcome, "result");
  ASSERT_EQ(saved.submits.size(), 1u);
  EXPECT_EQ(saved.submits[0].jobs[0].tasks[0].words, golden.submits[0].jobs[0].tasks[0].words);
  ASSERT_EQ(saved.submits[0].checks.size(), 1u);
  EXPECT_GT(saved.submits[0].checks[0].length, 0u);

  const std::shared_ptr<Device> fresh = MustOpen({.provider = "sim"});
  PlacedJob again(saved, fresh.get());
  again.LoadMemory();
  EXPECT_GT(again.Mismatches(), 0u);
  const Status status = fresh->Run(again.MakeJob(), nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(again.Mismatches(), 0u);
}

TEST_F(Recording, AHungJobIsSavedAsOne) {
  const JobFile golden = ReadGolden("mm_i8_4x32x32");
  const std::shared_ptr<Device> device = OpenRecording();
  PlacedJob placed(golden, device.get());
  placed.LoadMemory();
  Job job = placed.MakeJob();
  job.tasks[0].count -= 2;
  EXPECT_EQ(device->Run(job, nullptr).code(), ErrorCode::kDeviceFault);
  const JobFile saved = Saved("job-000001.npujob");
  EXPECT_EQ(saved.outcome, "hang");
  EXPECT_THAT(saved.detail, StartsWith("hang: "));
  EXPECT_TRUE(saved.submits[0].checks.empty());
}

TEST_F(Recording, RefusedJobsAndJobsBeyondTheLimitAreNotSaved) {
  const JobFile golden = ReadGolden("mm_i8_4x32x32");
  const std::shared_ptr<Device> device = OpenRecording(1);
  PlacedJob placed(golden, device.get());
  placed.LoadMemory();
  Job bad = placed.MakeJob();
  bad.outputs.clear();
  EXPECT_EQ(device->Run(bad, nullptr).code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "job-000001.npujob"));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(device->Run(placed.MakeJob(), nullptr).ok());
  EXPECT_TRUE(std::filesystem::exists(directory_ / "job-000001.npujob"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "job-000002.npujob"));
}

TEST_F(Recording, DevicesThatShareADirectoryKeepEachOthersJobs) {
  const JobFile golden = ReadGolden("mm_i8_4x32x32");
  const auto jobs_of = [&](const std::shared_ptr<Device>& device) {
    PlacedJob placed(golden, device.get());
    placed.LoadMemory();
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(device->Run(placed.MakeJob(), nullptr).ok());
  };
  const std::shared_ptr<Device> first = OpenRecording(), second = OpenRecording();
  std::thread other(jobs_of, first);
  jobs_of(second);
  other.join();
  jobs_of(OpenRecording());  // a later run
  for (int i = 1; i <= 24; ++i) {
    const std::string number = std::to_string(i);
    const std::string name = "job-" + std::string(6 - number.size(), '0') + number + ".npujob";
    EXPECT_EQ(Saved(name.c_str()).outcome, "result") << name;
  }
  const auto entries = std::filesystem::directory_iterator(directory_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 24);
}

TEST_F(Recording, AJobThatCannotBeSavedIsNoFailureOfTheDevice) {
  const JobFile golden = ReadGolden("mm_i8_4x32x32");
  const std::shared_ptr<Device> device = OpenRecording();
  PlacedJob placed(golden, device.get());
  placed.LoadMemory();
  std::filesystem::remove_all(directory_);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(device->Run(placed.MakeJob(), nullptr).ok());
  EXPECT_EQ(placed.Mismatches(), 0u);
}

TEST_F(Recording, ForeignBuffersAreRefusedByTheInnerDevice) {
  const std::shared_ptr<Device> device = OpenRecording(), other = MustOpen({.provider = "sim"});
  const std::unique_ptr<Buffer> foreign = MustAllocate(other.get(), 4096);
  Job job{.tasks = {{foreign->iova(), 2}}, .inputs = {}, .outputs = {foreign.get()}};
  EXPECT_EQ(device->Run(job, nullptr).code(), ErrorCode::kInvalidArgument);
}

TEST_F(Recording, ADirectoryThatCannotBeIsAnError) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "a-file";
  std::ofstream(file) << "x";
  const Result<std::shared_ptr<Device>> device =
      Open({.provider = "record:sim:" + (file / "sub").string()});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), ErrorCode::kIoError);
}

}  // namespace
}  // namespace npu::device
