// SPDX-License-Identifier: Apache-2.0
// The session when the device misbehaves, and what it must not do: allocate, hang, hide a failure.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "src/device/open.h"
#include "src/plan/compile.h"
#include "src/runtime/host_path.h"
#include "src/runtime/session.h"
#include "tests/graph/graph_builder.h"

namespace {
// Counts allocations of this thread while armed; the test of "nothing is allocated per inference".
thread_local bool counting = false;
thread_local size_t allocations = 0;
}  // namespace

// Not inlined: GCC 14 would see malloc paired with delete and warn.
__attribute__((noinline)) void* operator new(size_t size) {
  if (counting) ++allocations;
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace npu::testing {
namespace {

// Forwards to another device; fails or corrupts as told.
class FaultyDevice final : public device::Device {
 public:
  explicit FaultyDevice(std::shared_ptr<device::Device> inner) : inner_(std::move(inner)) {}

  const device::DeviceInfo& info() const override { return inner_->info(); }
  Result<std::unique_ptr<device::Buffer>> Allocate(uint64_t bytes) override {
    if (fail_allocation == allocated_++) {
      return Status(ErrorCode::kOutOfMemory, "no IOVA space left");
    }
    return inner_->Allocate(bytes);
  }
  Status Run(const device::Job& job, device::JobReport* report) override {
    ++runs;
    if (failures_left > 0) {
      --failures_left;
      return {ErrorCode::kDeviceFault, "the job timed out"};
    }
    if (drop_next) {
      drop_next = false;
      // As a provider sees it: the mark is still there. Without one nobody could tell.
      if (job.canary.bytes != 0) return {ErrorCode::kDeviceFault, "dropped"};
      return OkStatus();
    }
    const Status status = inner_->Run(job, report);
    if (corrupt) job.outputs[0]->bytes()[5] ^= std::byte{0x40};
    return status;
  }
  device::DeviceStatistics statistics() const override { return inner_->statistics(); }

  int failures_left = 0;
  int fail_allocation = -1;
  bool corrupt = false;
  bool drop_next = false;  // the kernel takes the job, runs nothing and calls it done
  int runs = 0;

 private:
  std::shared_ptr<device::Device> inner_;
  int allocated_ = 0;
};

std::shared_ptr<device::Device> Open(const std::string& provider) {
  auto device = device::Open({.provider = provider});
  EXPECT_TRUE(device.ok()) << device.status().message();
  return device.ok() ? *device : nullptr;
}

// The parameter: whether the graph's tensors are uint8.
class RuntimeTest : public ::testing::TestWithParam<bool> {
 protected:
  RuntimeTest() : builder_(21) {
    ir::ValueId x = builder_.Input(12, 10, 5);
    x = builder_.Conv(x, 24, 3, 1, ir::Padding::kSame, ir::Activation::kRelu6);
    x = builder_.LeakyRelu(x);
    x = builder_.Depthwise(x, 3, 2);
    builder_.Output(x);
    builder_.Output(builder_.Softmax(builder_.FullyConnected(builder_.Mean(x), 10)));
    if (GetParam()) builder_.MakeUint8();
    input_ = builder_.RandomInput(0);
    for (ir::ValueId out : builder_.graph().outputs) {
      outputs_.emplace_back(static_cast<size_t>(builder_.type(out).shape.elements()));
    }
    auto program = plan::Compile(builder_.graph(), {});
    EXPECT_TRUE(program.ok()) << program.status().message();
    if (program.ok()) program_ = std::move(program).value();
    device_ = std::make_shared<FaultyDevice>(Open("sim"));
  }

  std::unique_ptr<runtime::Session> MakeSession(bool verify) {
    runtime::SessionOptions options;
    options.verify_first = verify;
    options.logger = Logger([this](LogLevel, std::string_view text) { log_ += text; });
    auto session = runtime::Session::Create(program_, device_, options);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? std::move(session).value() : nullptr;
  }

  Status Run(runtime::Session* session) {
    const std::span<const std::byte> inputs[] = {input_};
    const std::span<std::byte> outputs[] = {outputs_[0], outputs_[1]};
    return session->Run(inputs, outputs);
  }

  void ExpectHostResult() {
    auto path = runtime::HostPath::Create(builder_.graph());
    ASSERT_TRUE(path.ok());
    auto want = outputs_;
    const std::span<const std::byte> inputs[] = {input_};
    const std::span<std::byte> outputs[] = {want[0], want[1]};
    path.value()->Run(inputs, outputs);
    EXPECT_EQ(outputs_, want);
  }

  GraphBuilder builder_;
  std::vector<std::byte> input_;
  std::vector<std::vector<std::byte>> outputs_;
  std::shared_ptr<const plan::CompiledProgram> program_;
  std::shared_ptr<FaultyDevice> device_;
  std::string log_;
};

INSTANTIATE_TEST_SUITE_P(Types, RuntimeTest, ::testing::Bool(), [](const auto& uint8) {
  return std::string(uint8.param ? "Uint8" : "Int8");
});

TEST_P(RuntimeTest, RetriesAFailedJobOnceAndStaysOnTheDevice) {
  auto session = MakeSession(false);
  device_->failures_left = 1;
  EXPECT_TRUE(Run(session.get()).ok());
  EXPECT_EQ(session->statistics().device_failures, 1U);
  EXPECT_EQ(session->statistics().host_runs, 0U);
  EXPECT_NE(log_.find("trying once more"), std::string::npos) << log_;
}

TEST_P(RuntimeTest, FallsBackToTheHostForGoodAfterTwoFailures) {
  auto session = MakeSession(false);
  device_->failures_left = 2;
  EXPECT_TRUE(Run(session.get()).ok());
  ExpectHostResult();
  const int runs = device_->runs;
  EXPECT_TRUE(Run(session.get()).ok());
  ExpectHostResult();
  EXPECT_EQ(device_->runs, runs) << "the device must not be used again";
  EXPECT_EQ(session->statistics().host_runs, 2U);
  EXPECT_NE(log_.find("runs on the host from now on"), std::string::npos) << log_;
}

TEST_P(RuntimeTest, VerifyFirstDetectsAWrongByte) {
  auto session = MakeSession(true);
  device_->corrupt = true;
  EXPECT_TRUE(Run(session.get()).ok());
  ExpectHostResult();
  EXPECT_GE(session->statistics().verify_mismatches, 1U);
  EXPECT_EQ(session->statistics().host_runs, 1U);
  EXPECT_NE(log_.find("verify=first"), std::string::npos) << log_;
}

TEST_P(RuntimeTest, VerifyFirstPassesOnAGoodDevice) {
  auto session = MakeSession(true);
  EXPECT_TRUE(Run(session.get()).ok());
  EXPECT_EQ(session->statistics().verify_mismatches, 0U);
  EXPECT_EQ(session->statistics().host_runs, 0U);
  const auto first = outputs_;
  EXPECT_TRUE(Run(session.get()).ok());
  EXPECT_EQ(outputs_, first);
}

// A job lost at start must not cost the NPU for good: it is told from wrong arithmetic by its mark,
// and tried again.
TEST_P(RuntimeTest, TriesADroppedJobAgainAlsoWhileVerifying) {
  auto good = MakeSession(true);
  EXPECT_TRUE(Run(good.get()).ok());
  const auto expected = outputs_;
  auto session = MakeSession(true);
  device_->drop_next = true;
  EXPECT_TRUE(Run(session.get()).ok());
  EXPECT_EQ(session->statistics().device_failures, 1U);
  EXPECT_EQ(session->statistics().verify_mismatches, 0U);
  EXPECT_EQ(session->statistics().host_runs, 0U);
  EXPECT_EQ(outputs_, expected);
}

TEST_P(RuntimeTest, ReportsAFullAddressSpaceAtCreation) {
  for (int i = 0; i < 3; ++i) {
    device_ = std::make_shared<FaultyDevice>(Open("sim"));
    device_->fail_allocation = i;
    auto session = runtime::Session::Create(program_, device_, {});
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.status().code(), ErrorCode::kOutOfMemory);
    EXPECT_EQ(device_->statistics().live_buffers, 0U);
  }
}

TEST_P(RuntimeTest, RejectsTensorsOfTheWrongSize) {
  auto session = MakeSession(false);
  input_.pop_back();
  const Status status = Run(session.get());
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("input 0 has 599 bytes"), std::string::npos) << status.message();
}

TEST_P(RuntimeTest, AllocatesNothingPerInference) {
  auto session = runtime::Session::Create(program_, Open("null"), {});
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_TRUE(Run(session.value().get()).ok());
  allocations = 0;
  counting = true;
  const Status status = Run(session.value().get());
  counting = false;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(allocations, 0U);
}

TEST_P(RuntimeTest, LeavesNoBufferBehind) {
  {
    auto session = MakeSession(false);
    EXPECT_GT(device_->statistics().live_buffers, 0U);
    EXPECT_TRUE(Run(session.get()).ok());
  }
  EXPECT_EQ(device_->statistics().live_buffers, 0U);
  EXPECT_EQ(device_->statistics().live_bytes, 0U);
}

}  // namespace
}  // namespace npu::testing
