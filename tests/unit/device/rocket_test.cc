// SPDX-License-Identifier: Apache-2.0
// The rocket provider over faked system calls: what it asks of the kernel, and what it makes of
// every answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "src/device/open.h"
#include "src/device/pool.h"
#include "src/device/rocket_checks.h"
#include "src/device/rocket_file.h"
#include "tests/unit/device/fake_sys.h"
#include "tests/unit/device/golden_job.h"

namespace npu::device {
namespace {

using testing::HasSubstr;

constexpr char kNode[] = "/fake/accel3";

class RocketTest : public testing::Test {
 protected:
  RocketTest() { sys_->nodes[kNode] = {}; }

  OpenOptions Options() {
    OpenOptions options;
    options.provider = "rocket";
    options.chip = "rk3588";
    options.node = kNode;
    options.root = testing::TempDir() + "/no-such-root";
    options.sys = sys_;
    options.logger = Logger([this](LogLevel, std::string_view text) { log_ += text; });
    return options;
  }
  std::shared_ptr<Device> MustOpen() {
    Result<std::shared_ptr<Device>> device = Open(Options());
    EXPECT_TRUE(device.ok()) << device.status().message();
    return device.ok() ? *std::move(device) : nullptr;
  }
  std::string OpenError(ErrorCode code = ErrorCode::kNoDevice) {
    const Result<std::shared_ptr<Device>> device = Open(Options());
    EXPECT_FALSE(device.ok());
    EXPECT_EQ(device.status().code(), code);
    ExpectNothingLeft();
    return device.status().message();
  }
  void ExpectNothingLeft() {
    EXPECT_EQ(sys_->open_files(), 0u);
    EXPECT_EQ(sys_->buffers(), 0u);
    EXPECT_EQ(sys_->mappings(), 0u);
  }

  std::shared_ptr<FakeSys> sys_ = std::make_shared<FakeSys>();
  const JobFile golden_ = ReadGolden("mm_i8_4x32x32");
  std::string log_;
};

// The golden job with a canary at its first result.
struct Placed {
  Placed(const JobFile& file, Device* device) : placed(file, device) {
    placed.LoadMemory();
    job = placed.MakeJob();
    auto* output = const_cast<Buffer*>(job.outputs[0]);
    job.canary = {output, file.submits[0].checks[0].base - output->iova(), 16};
  }
  PlacedJob placed;
  Job job;
};

TEST_F(RocketTest, RunsAGoldenJobAndAsksTheKernelForNothingTwice) {
  {
    const std::shared_ptr<Device> device = MustOpen();
    EXPECT_EQ(device->info().provider, "rocket");
    EXPECT_EQ(device->info().chip, "rk3588");
    EXPECT_FALSE(device->info().simulated);
    EXPECT_FALSE(device->info().can_chain);
    EXPECT_FALSE(device->info().completes_ppu);
    Placed golden(golden_, device.get());
    const size_t finis = sys_->count(uapi::kIoctlFiniBo);
    JobReport report;
    const Status status = device->Run(golden.job, &report);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(report.completed);
    EXPECT_EQ(report.kicks, 1u);
    EXPECT_EQ(report.elapsed.count(), sys_->job_ns);
    EXPECT_EQ(golden.placed.Mismatches(), 0u);
    EXPECT_EQ(sys_->count(uapi::kIoctlFiniBo), finis + 1) << "the canary's";
    EXPECT_EQ(sys_->count(uapi::kIoctlPrepBo), 1u) << "the wait made the output readable";
    EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), 1u);
    EXPECT_EQ(sys_->last_job_bytes, 48u);
    EXPECT_EQ(sys_->last_job.flags, 0u);
    const DeviceStatistics statistics = device->statistics();
    EXPECT_EQ(statistics.submits, 1u);
    EXPECT_EQ(statistics.kicks, 1u);
    EXPECT_EQ(statistics.failures, 0u);
    EXPECT_GT(statistics.live_buffers, 0u);
  }
  ExpectNothingLeft();
}

TEST_F(RocketTest, NamesEveryHandleOnceAndTakesTheGuardPageFirst) {
  const std::shared_ptr<Device> device = MustOpen();
  EXPECT_EQ(sys_->buffers(), 1u);
  Result<std::unique_ptr<Buffer>> first = device->Allocate(100);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->iova(), 0x1000u);
  EXPECT_EQ((*first)->bytes().size(), 100u);
  Result<std::unique_ptr<Buffer>> second = device->Allocate(4096);
  std::memset((*first)->bytes().data(), 0, 64);
  const Job job{.tasks = {{0x1000, 4}}, .inputs = {first->get()}, .outputs = {second->get()}};
  (void)device->Run(job, nullptr);
  EXPECT_THAT(sys_->last_in, testing::ElementsAre(2u));
  EXPECT_THAT(sys_->last_out, testing::ElementsAre(3u));
}

TEST_F(RocketTest, OpenErrorsNameTheNodeTheReasonAndTheRemedy) {
  const auto message = [&](int error) {
    sys_->nodes[kNode].open_error = error;
    return OpenError();
  };
  EXPECT_THAT(message(EACCES), testing::AllOf(HasSubstr(kNode), HasSubstr("Permission denied"),
                                              HasSubstr("render"), HasSubstr("udev")));
  EXPECT_THAT(message(EPERM), testing::AllOf(HasSubstr("container"), HasSubstr("device=sim")));
  EXPECT_THAT(message(ENODEV), HasSubstr("No such device"));
  EXPECT_THAT(message(ENOMEM), HasSubstr("memory"));
  EXPECT_THAT(message(EMFILE), HasSubstr("ulimit"));
  sys_->nodes.clear();
  EXPECT_THAT(OpenError(), HasSubstr("modprobe rocket"));
  sys_->nodes[kNode] = {.driver = "ethosu"};
  EXPECT_THAT(OpenError(), HasSubstr("the driver ethosu"));
  sys_->nodes[kNode] = {.driver = ""};
  EXPECT_THAT(OpenError(), HasSubstr("no DRM driver"));
}

TEST_F(RocketTest, AChipWithoutDataIsRefused) {
  sys_->nodes[kNode] = {};
  OpenOptions options = Options();
  options.chip = "auto";
  EXPECT_THAT(Open(options).status().message(), HasSubstr("option chip"));
  options.chip = "rk9999";
  EXPECT_THAT(Open(options).status().message(), HasSubstr("rk9999"));
  ExpectNothingLeft();
}

TEST_F(RocketTest, AnInterruptedWaitKeepsItsDeadline) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  std::vector<int64_t> deadlines;
  sys_->on_ioctl = [&](uint32_t request, void* argument) -> std::optional<int> {
    if (request != uapi::kIoctlPrepBo) return std::nullopt;
    deadlines.push_back(static_cast<uapi::RocketPrepBo*>(argument)->timeout_ns);
    if (deadlines.size() > 3) return std::nullopt;
    sys_->now_ns += 1000;
    return -EINTR;
  };
  EXPECT_TRUE(device->Run(golden.job, nullptr).ok());
  ASSERT_EQ(deadlines.size(), 4u);
  for (const int64_t deadline : deadlines) EXPECT_EQ(deadline, deadlines[0]);
  EXPECT_GT(deadlines[0], sys_->now_ns);
  EXPECT_EQ(golden.placed.Mismatches(), 0u);
}

TEST(Deadline, SaturatesAtForever) {
  EXPECT_EQ(Deadline(5, 7), 12);
  EXPECT_EQ(Deadline(INT64_MAX - 5, 7), INT64_MAX);
}

TEST_F(RocketTest, ADroppedJobIsFoundByItsCanary) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  sys_->job_outcome = FakeJob::kDropped;
  JobReport report;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status status = device->Run(golden.job, &report);
    EXPECT_EQ(status.code(), ErrorCode::kDeviceFault);
    EXPECT_THAT(report.failure, HasSubstr("dropped"));
    EXPECT_FALSE(report.completed);
  }
  sys_->job_outcome = FakeJob::kGood;
  EXPECT_TRUE(device->Run(golden.job, &report).ok());
  EXPECT_EQ(golden.placed.Mismatches(), 0u);
  EXPECT_EQ(device->statistics().failures, 2u);
}

// A result whose bytes are the mark by chance fails once, not forever.
TEST_F(RocketTest, AResultThatLooksLikeTheCanaryPassesTheSecondTime) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  sys_->job_outcome = FakeJob::kDropped;
  Buffer* output = golden.job.canary.buffer;
  ASSERT_FALSE(device->Run(golden.job, nullptr).ok());
  std::vector<std::byte> mark(output->bytes().begin(), output->bytes().end());
  sys_->on_ioctl = [&](uint32_t request, void*) -> std::optional<int> {
    if (request == uapi::kIoctlPrepBo) std::ranges::copy(mark, output->bytes().begin());
    return request == uapi::kIoctlPrepBo ? std::optional<int>(0) : std::nullopt;
  };
  EXPECT_TRUE(device->Run(golden.job, nullptr).ok());
}

TEST_F(RocketTest, AJobTheWatchdogEndedIsAFaultAlthoughItLooksDone) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  golden.job.canary = {};
  sys_->job_outcome = FakeJob::kSilentTimeout;
  JobReport report;
  const Status status = device->Run(golden.job, &report);
  EXPECT_EQ(status.code(), ErrorCode::kDeviceFault);
  EXPECT_THAT(status.message(), HasSubstr("NPU job timed out"));
  EXPECT_THAT(report.failure, testing::StartsWith("hang: "));
  sys_->job_outcome = FakeJob::kGood;
  EXPECT_TRUE(device->Run(golden.job, &report).ok()) << "the device is still usable";
}

TEST_F(RocketTest, ALostWakeupCostsOneSlice) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  sys_->job_outcome = FakeJob::kLostWakeup;
  JobReport report;
  const Status status = device->Run(golden.job, &report);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_LT(report.elapsed.count(), 100'000'000);
  EXPECT_EQ(golden.placed.Mismatches(), 0u);
}

TEST_F(RocketTest, AJobThatNeverEndsCostsASecondAndTheDevice) {
  {
    const std::shared_ptr<Device> device = MustOpen();
    Placed golden(golden_, device.get());
    sys_->job_outcome = FakeJob::kNever;
    const int64_t start = sys_->now_ns;
    EXPECT_EQ(device->Run(golden.job, nullptr).code(), ErrorCode::kDeviceFault);
    const Status again = device->Run(golden.job, nullptr);
    EXPECT_EQ(again.code(), ErrorCode::kNoDevice);
    EXPECT_THAT(again.message(), HasSubstr("did not end"));
    EXPECT_FALSE(device->Ready().ok());
    EXPECT_EQ(sys_->now_ns - start, 1'000'000'000);
  }
  ExpectNothingLeft();
}

TEST_F(RocketTest, ASimulatedNodeMayBeSlow) {
  OpenOptions options = Options();
  options.time_scale = 100;
  Result<std::shared_ptr<Device>> device = Open(options);
  ASSERT_TRUE(device.ok()) << device.status().message();
  Placed golden(golden_, device->get());
  sys_->job_ns = 20'000'000'000;
  const Status status = (*device)->Run(golden.job, nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(RocketTest, TheShorterJobStructureIsTriedWithAGoodJobAndKept) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  sys_->longest_job_struct = 40;
  EXPECT_TRUE(device->Run(golden.job, nullptr).ok());
  EXPECT_EQ(sys_->last_job_bytes, 40u);
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), 2u);
  EXPECT_TRUE(device->Run(golden.job, nullptr).ok());
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), 3u) << "the answer is remembered";
}

TEST_F(RocketTest, RefusedJobsNeverReachTheKernel) {
  const std::shared_ptr<Device> device = MustOpen(), other = MustOpen();
  Placed golden(golden_, device.get());
  const Result<std::unique_ptr<Buffer>> foreign = other->Allocate(4096);
  const auto refused = [&](auto change, ErrorCode code = ErrorCode::kInvalidArgument) {
    Job job = golden.job;
    change(&job);
    const Status status = device->Run(job, nullptr);
    EXPECT_EQ(status.code(), code) << status.message();
    return status.message();
  };
  refused([](Job* job) { job->tasks.clear(); });
  refused([](Job* job) { job->tasks[0].count += 1; });
  refused([](Job* job) { job->tasks[0].count = 0; });
  refused([](Job* job) { job->tasks[0].count = 131074; });
  refused([](Job* job) { job->tasks[0].regcmd += 8; });
  refused([](Job* job) { job->tasks[0].regcmd = 0; });
  refused([](Job* job) { job->outputs.clear(); });
  refused([](Job* job) { job->outputs.push_back(job->outputs[0]); });
  refused([](Job* job) { job->inputs.push_back(nullptr); });
  refused([&](Job* job) { job->outputs.push_back(foreign->get()); });
  refused([](Job* job) { job->chained = true; }, ErrorCode::kUnsupported);
  refused([&](Job* job) { job->canary.buffer = foreign->get(); });
  refused([](Job* job) { job->canary.offset = uint64_t{1} << 40; });
  EXPECT_THAT(
      refused([](Job* job) { job->tasks[0].modelled_us = 100'000; }, ErrorCode::kUnsupported),
      HasSubstr("500 ms at 200 MHz"));
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), 0u);
  EXPECT_TRUE(device->Run(golden.job, nullptr).ok());
}

TEST_F(RocketTest, AnswersThatCannotBeAreErrors) {
  const std::shared_ptr<Device> device = MustOpen();
  const auto spoil = [&](std::function<void(uapi::RocketCreateBo*)> change) {
    sys_->on_created = change;
    const Result<std::unique_ptr<Buffer>> buffer = device->Allocate(8192);
    EXPECT_FALSE(buffer.ok());
    EXPECT_EQ(buffer.status().code(), ErrorCode::kDeviceFault);
    return buffer.status().message();
  };
  const Result<std::unique_ptr<Buffer>> live = device->Allocate(4096);
  EXPECT_THAT(spoil([](auto* bo) { bo->dma_address = 0x1000; }), HasSubstr("cannot be"));
  spoil([](auto* bo) { bo->dma_address += 1; });
  spoil([](auto* bo) { bo->dma_address = uint64_t{1} << 32; });
  spoil([](auto* bo) { bo->offset += 7; });
  EXPECT_THAT(spoil([](auto* bo) { bo->dma_address = 0; }), HasSubstr("address 0"));
  EXPECT_EQ(device->statistics().live_buffers, 1u);
  EXPECT_EQ(sys_->mappings(), 1u);
}

TEST_F(RocketTest, AShortObjectOrAFailedMappingLeavesNothing) {
  const std::shared_ptr<Device> device = MustOpen();
  const size_t before = sys_->buffers();
  sys_->map_error = ENOMEM;
  EXPECT_EQ(device->Allocate(4096).status().code(), ErrorCode::kOutOfMemory);
  sys_->map_error = EINVAL;
  EXPECT_THAT(device->Allocate(4096).status().message(), HasSubstr("mapping"));
  EXPECT_EQ(sys_->buffers(), before);
  EXPECT_EQ(sys_->mappings(), 0u);
  sys_->map_error = 0;
  EXPECT_TRUE(device->Allocate(4096).ok());
}

TEST_F(RocketTest, AForkedChildTouchesNothingOfItsParent) {
  std::shared_ptr<Device> device = MustOpen();
  auto golden = std::make_unique<Placed>(golden_, device.get());
  const size_t submits = sys_->count(uapi::kIoctlSubmit),
               closes = sys_->count(uapi::kIoctlGemClose);
  const size_t finis = sys_->count(uapi::kIoctlFiniBo);
  sys_->process = 101;
  EXPECT_THAT(device->Ready().message(), HasSubstr("forked"));
  EXPECT_EQ(device->Run(golden->job, nullptr).code(), ErrorCode::kNoDevice);
  EXPECT_EQ(device->Allocate(4096).status().code(), ErrorCode::kNoDevice);
  EXPECT_FALSE(golden->job.canary.buffer->EndCpuAccess().ok());
  golden.reset();
  device.reset();
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), submits);
  EXPECT_EQ(sys_->count(uapi::kIoctlFiniBo), finis);
  EXPECT_EQ(sys_->count(uapi::kIoctlGemClose), closes) << "it would close the parent's buffers";
}

TEST_F(RocketTest, BuffersMayOutliveTheDevice) {
  std::shared_ptr<Device> device = MustOpen();
  Result<std::unique_ptr<Buffer>> buffer = device->Allocate(4096);
  device.reset();
  EXPECT_EQ(sys_->open_files(), 1u);
  std::memset((*buffer)->bytes().data(), 1, 4096);
  buffer->reset();
  ExpectNothingLeft();
}

TEST_F(RocketTest, ChainsNeedTheVersionTheParameterAndTheCheck) {
  sys_->nodes[kNode] = {.major = 1, .minor = 0};
  EXPECT_FALSE(MustOpen()->info().can_chain);
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), 0u);
  sys_->nodes[kNode] = {.major = 1, .minor = 1};
  EXPECT_TRUE(MustOpen()->info().can_chain);
  EXPECT_EQ(sys_->last_job.flags, uapi::kRocketJobBatched);
  EXPECT_EQ(sys_->last_job.task_count, 2u);
  EXPECT_EQ(log_, "");
  sys_->honours_batched = false;  // runs the first task and reads no link
  sys_->job_outcome = FakeJob::kSilentTimeout;
  EXPECT_FALSE(MustOpen()->info().can_chain);
  EXPECT_THAT(log_, HasSubstr("not used"));
  ExpectNothingLeft();
}

// A core keeps the registers of the job before: an int32 matrix product, here.
TEST_F(RocketTest, TheStartUpChecksOweNothingToTheJobBefore) {
  {
    const std::shared_ptr<Device> device = MustOpen();
    Placed golden(golden_, device.get());
    ASSERT_TRUE(device->Run(golden.job, nullptr).ok());
  }
  sys_->nodes[kNode] = {.major = 1, .minor = 1};
  const std::shared_ptr<Device> device = MustOpen();
  EXPECT_TRUE(device->info().can_chain) << log_;
  EXPECT_EQ(sys_->findings, "");
}

// The simulator's task of the PPU alone computes and raises no interrupt, as mainline may see it.
TEST_F(RocketTest, APpuTaskThatIsNotSeenToCompleteIsNotOffered) {
  OpenOptions options = Options();
  options.probe_ppu = true;
  const std::shared_ptr<Device> device = *Open(options);
  EXPECT_FALSE(device->info().completes_ppu);
  EXPECT_THAT(log_, testing::AllOf(HasSubstr("PPU"), HasSubstr("watchdog")));
  EXPECT_THAT(sys_->findings, HasSubstr("no completion interrupt"));
  EXPECT_TRUE(ProveChains(device.get()).code() == ErrorCode::kUnsupported);
  sys_->ignore_hangs = true;  // a kernel that listens to the PPU
  EXPECT_TRUE((*Open(options))->info().completes_ppu) << log_;
}

TEST_F(RocketTest, AChainIsCheckedLinkByLink) {
  sys_->nodes[kNode] = {.major = 1, .minor = 1};
  const JobFile chain = ReadGolden("chain3_i8_kick_32x11x9_128_40");
  const std::shared_ptr<Device> device = MustOpen();
  PlacedJob placed(chain, device.get());
  placed.LoadMemory();
  const Job job = placed.MakeJob();
  ASSERT_TRUE(job.chained);
  JobReport report;
  const Status status = device->Run(job, &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.kicks, 1u);
  EXPECT_EQ(placed.Mismatches(), 0u);

  const size_t submits = sys_->count(uapi::kIoctlSubmit);
  Job gapped = job;
  gapped.tasks[1].regcmd += 64;
  EXPECT_THAT(device->Run(gapped, nullptr).message(), HasSubstr("right before"));
  Job reordered = job;
  std::swap(reordered.tasks[0], reordered.tasks[2]);
  EXPECT_FALSE(device->Run(reordered, nullptr).ok());
  for (const Buffer* buffer : job.inputs) {  // spoil the first link
    const uint64_t offset = job.tasks[0].regcmd - buffer->iova();
    if (offset >= buffer->bytes().size()) continue;
    buffer->bytes()[offset + job.tasks[0].count * 8 - 30] ^= std::byte{1};
  }
  EXPECT_THAT(device->Run(job, nullptr).message(), HasSubstr("name the next"));
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), submits);
}

TEST_F(RocketTest, PpuTasksAreProvedOnlyWhenAsked) {
  EXPECT_FALSE(MustOpen()->info().completes_ppu);
  EXPECT_EQ(sys_->count(uapi::kIoctlSubmit), 0u);
}

TEST_F(RocketTest, ThePoolOpensAFileForEachCoreAndThenShares) {
  OpenOptions options = Options();
  options.root = testing::TempDir() + "/three-cores";
  for (const char* core : {"fdab0000.npu", "fdac0000.npu", "fdad0000.npu"}) {
    std::filesystem::create_directories(options.root / "sys/bus/platform/drivers/rocket" / core /
                                        "power");
  }
  Pool pool(options);
  std::shared_ptr<Device> users[5];
  for (auto& user : users) user = *pool.Get();
  EXPECT_EQ(users[0]->info().cores, 3u);
  EXPECT_EQ(sys_->open_files(), 3u);
  EXPECT_NE(users[0], users[1]);
  EXPECT_NE(users[3], users[4]) << "the least used ones are shared";
  users[1] = nullptr;
  EXPECT_EQ((*pool.Get())->info().provider, "rocket");
  sys_->process = 101;  // the child opens its own
  const std::shared_ptr<Device> child = *pool.Get();
  EXPECT_TRUE(child->Ready().ok());
  for (auto& user : users) user = nullptr;
  std::filesystem::remove_all(options.root);
}

TEST_F(RocketTest, ThreadsShareADevice) {
  const std::shared_ptr<Device> device = MustOpen();
  Placed golden(golden_, device.get());
  // The fake is not thread-safe; the provider submits and waits under one lock, which is what is
  // tested.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(device->Run(golden.job, nullptr).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device->statistics().submits, 16u);
  EXPECT_EQ(golden.placed.Mismatches(), 0u);
}

// Every ioctl of a whole life fails once with every errno: the result is right or the error says
// so, within two seconds of the kernel's clock, and nothing is left.
class EveryCallFails : public RocketTest, public testing::WithParamInterface<int> {};

TEST_P(EveryCallFails, RightOrAnError) {
  sys_->nodes[kNode] = {.major = 1, .minor = 1};
  size_t calls = 0;
  for (size_t fail = SIZE_MAX; fail == SIZE_MAX || fail < calls; ++fail) {  // first none
    size_t call = 0;
    bool last_was_close = false;
    sys_->on_ioctl = [&](uint32_t request, void*) -> std::optional<int> {
      last_was_close = request == uapi::kIoctlGemClose;
      // A close that fails has nobody left to tell, and the fake would keep its buffer.
      if (call++ == fail && !last_was_close) return -GetParam();
      return std::nullopt;
    };
    const int64_t start = sys_->now_ns;
    Result<std::shared_ptr<Device>> device = Open(Options());
    if (device.ok()) {
      Status status;
      std::unique_ptr<Buffer> commands, output;
      for (auto* buffer : {&commands, &output}) {
        Result<std::unique_ptr<Buffer>> made = (*device)->Allocate(4096);
        if (made.ok()) *buffer = *std::move(made);
        if (!made.ok()) status = made.status();
      }
      if (status.ok()) status = ProveChains(device->get());
      const bool can_chain = (*device)->info().can_chain;
      EXPECT_TRUE(status.ok() || !status.message().empty());
      if (GetParam() == EINTR) {
        EXPECT_TRUE(status.ok() && can_chain) << status.message();
      }
    } else {
      EXPECT_FALSE(device.status().message().empty());
    }
    device = Status(ErrorCode::kNoDevice, "closed");
    EXPECT_LT(sys_->now_ns - start, 2'000'000'000) << "call " << fail;
    ExpectNothingLeft();
    calls = std::max(calls, call);
  }
  EXPECT_GT(calls, 20u);
}
INSTANTIATE_TEST_SUITE_P(Errno, EveryCallFails,
                         testing::Values(EINTR, ENOMEM, ENODEV, EIO, EINVAL, EBUSY, ETIMEDOUT,
                                         ENOENT, EFAULT, ENOSPC, EACCES));

}  // namespace
}  // namespace npu::device
