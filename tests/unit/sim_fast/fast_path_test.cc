// SPDX-License-Identifier: Apache-2.0
// The fast path against the clear path: the same bytes in the same places.
#include "src/sim/fast_path.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
// The same targets as the kernels are made for.
#define HWY_WANT_AVX3_DL
#include <hwy/targets.h>

#include "src/base/checked.h"
#include "src/sim/datapath.h"
#include "src/sim/fast_elementwise.h"
#include "src/sim/register_file.h"
#include "src/sim/task_view.h"
#include "tests/unit/sim_fast/random_task.h"

namespace npu::sim {
namespace {

// Sanitizers and the emulator of other machines make a task ten times as slow; all kinds of task
// come up early.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
constexpr uint32_t kTasks = 200;
#else
constexpr uint32_t kTasks = 2000;
#endif

// The clear path on a task whose image is `memory`; the last accumulator.
int32_t RunClearTask(const RandomTask& task, AddressSpace* memory, Cbuf* cbuf) {
  const RegisterFile file;
  DiagnosticSink sink;
  TaskView view(file, Launch{}, 0, 0, &sink);
  LoadOperands(task.conv, false, *memory, cbuf, &view);
  EXPECT_TRUE(view.runs());
  std::vector<ChannelOperands> operands;
  int64_t fault = 0;
  EXPECT_TRUE(FetchChannelOperands(task.dpu, task.rdma, *memory, &operands, &fault));
  Datapath path;
  path.conv = &task.conv;
  path.features = &cbuf->features;
  path.weights = &cbuf->weights;
  path.dpu = &task.dpu;
  path.rdma = &task.rdma;
  path.operands = &operands;
  const DatapathResult result = RunClear(path, memory);
  EXPECT_FALSE(result.fault.has_value());
  return result.last_accumulator;
}

struct Image {
  explicit Image(const std::vector<std::byte>& source) : bytes(source) {
    EXPECT_TRUE(space.Map(0, bytes).ok());
  }
  std::vector<std::byte> bytes;
  AddressSpace space;
};

// Both paths on one task; true if all bytes of memory agree.
void Compare(const RandomTask& task, FastPath* fast) {
  Image clear(task.memory), quick(task.memory);
  Cbuf clear_cbuf, fast_cbuf;
  const int32_t expected = RunClearTask(task, &clear.space, &clear_cbuf);
  const std::optional<int32_t> got =
      fast->Run(task.conv, task.dpu, task.rdma, &quick.space, &fast_cbuf);
  ASSERT_TRUE(got.has_value()) << "declined: " << task.Describe();
  EXPECT_EQ(*got, expected) << task.Describe();
  const auto differs = std::mismatch(clear.bytes.begin(), clear.bytes.end(), quick.bytes.begin());
  ASSERT_TRUE(differs.first == clear.bytes.end())
      << "byte " << differs.first - clear.bytes.begin() << ": clear "
      << static_cast<int>(*differs.first) << " fast " << static_cast<int>(*differs.second) << ", "
      << task.Describe();
  ASSERT_NE(std::memcmp(clear.bytes.data() + kOutputAt, task.memory.data() + kOutputAt, 4096), 0)
      << "nothing written: " << task.Describe();
}

TEST(FastPath, EqualsTheClearPathOnRandomTasks) {
  FastPath fast(nullptr);
  for (uint32_t seed = 1; seed <= kTasks; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(Compare(MakeRandomTask(seed), &fast));
  }
}

TEST(FastPath, EqualsTheClearPathOnSeveralThreads) {
  WorkerPool pool(3);
  FastPath fast(&pool);
  for (uint32_t seed = 10001; seed <= 10000 + kTasks / 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(Compare(MakeRandomTask(seed), &fast));
  }
}

// Every instruction set this machine can run, not only the best one.
TEST(FastPath, EqualsTheClearPathOnEveryTarget) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    FastPath fast(nullptr);
    for (uint32_t seed = 30001; seed <= 30000 + kTasks / 10; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Compare(MakeRandomTask(seed), &fast);
      if (HasFatalFailure()) break;
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Both paths on one flying task.
void CompareElementwise(const RandomTask& task, WorkerPool* pool) {
  Image clear(task.memory), quick(task.memory);
  std::vector<ChannelOperands> operands;
  int64_t fault = 0;
  ASSERT_TRUE(FetchChannelOperands(task.dpu, task.rdma, clear.space, &operands, &fault));
  Datapath path;
  path.dpu = &task.dpu;
  path.rdma = &task.rdma;
  path.operands = &operands;
  ASSERT_FALSE(RunClear(path, &clear.space).fault.has_value());
  ASSERT_TRUE(RunElementwiseFast(task.dpu, task.rdma, operands, &quick.space, pool));
  const auto differs = std::mismatch(clear.bytes.begin(), clear.bytes.end(), quick.bytes.begin());
  ASSERT_TRUE(differs.first == clear.bytes.end())
      << "byte " << differs.first - clear.bytes.begin() << ": clear "
      << static_cast<int>(*differs.first) << " fast " << static_cast<int>(*differs.second);
  // In place, an operation without effect leaves everything as it was.
  ASSERT_TRUE(task.dpu.dst_base != kOutputAt || clear.bytes != task.memory) << "nothing written";
}

TEST(FastPath, ElementwiseEqualsTheClearPath) {
  WorkerPool pool(3);
  for (uint32_t seed = 1; seed <= kTasks / 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(
        CompareElementwise(MakeRandomElementwise(seed), seed % 2 == 0 ? &pool : nullptr));
  }
}

TEST(FastPath, ElementwiseDeclinesWhatItCannotDo) {
  const auto accepts = [](const RandomTask& task) {
    Image image(task.memory);
    const std::vector<ChannelOperands> operands(RoundUp(64u, 16u));
    const bool ran = RunElementwiseFast(task.dpu, task.rdma, operands, &image.space, nullptr);
    EXPECT_TRUE(ran || image.bytes == task.memory) << "a declined task touched memory";
    return ran;
  };
  RandomTask good = MakeRandomElementwise(1);
  good.dpu.dst_base = kOutputAt;
  EXPECT_TRUE(accepts(good));
  RandomTask task = good;
  task.rdma.src_base = static_cast<int64_t>(kMemoryBytes) - 16;
  EXPECT_FALSE(accepts(task));
  task = good;
  task.dpu.dst_base = task.rdma.src_base + 16;  // not in place: shifted
  EXPECT_FALSE(accepts(task));
  task = good;
  task.dpu.bs.mul = true;
  task.dpu.bs.shift_positive = task.dpu.bs.shift_negative + 1;
  EXPECT_FALSE(accepts(task));
  task = good;
  task.dpu.out_type = OutType::kInt32;
  EXPECT_FALSE(accepts(task));
}

TEST(FastPath, LeavesWhatALaterTaskReuses) {
  FastPath fast(nullptr);
  for (uint32_t seed = 20001; seed <= 20000 + kTasks / 20; ++seed) {
    const RandomTask task = MakeRandomTask(seed);
    Image clear(task.memory), quick(task.memory);
    Cbuf expected, cbuf;
    RunClearTask(task, &clear.space, &expected);
    ASSERT_TRUE(fast.Run(task.conv, task.dpu, task.rdma, &quick.space, &cbuf).has_value());
    EXPECT_TRUE(cbuf.has_features && cbuf.has_weights);
    EXPECT_EQ(cbuf.weights_resident, expected.weights_resident);
    EXPECT_EQ(cbuf.data_banks, expected.data_banks);
    EXPECT_EQ(cbuf.weight_banks, expected.weight_banks);
    fast.Materialize(&cbuf);
    ASSERT_EQ(cbuf.features.pitch, expected.features.pitch);
    ASSERT_EQ(cbuf.features.data, expected.features.data) << task.Describe();
    ASSERT_EQ(cbuf.weights.data, expected.weights.data) << task.Describe();
  }
}

// A plain task of one kernel group, to be broken in one place.
RandomTask PlainTask() {
  RandomTask task = MakeRandomTask(1);
  ConvConfig& c = task.conv;
  c = {};
  c.ic = 32;
  c.ih = c.iw = c.oh = c.ow = 6;
  c.oc = c.kernels = 32;
  c.kh = c.kw = 1;
  c.feature_base = kFeaturesAt;
  c.weight_base = kWeightsAt;
  c.line_stride = 24;
  c.surf_stride = 12;
  DpuConfig& d = task.dpu;
  d = {};
  d.channels = 32;
  d.height = d.width = 6;
  d.dst_base = kOutputAt;
  d.surfaces = 2;
  d.line_pitch = 96;
  d.dst_surf_stride = 576;
  d.surface_add = 1152;
  d.out_cvt.scale = 20000;
  d.out_cvt.shift = 24;
  task.rdma = {};
  return task;
}

bool Accepts(const RandomTask& task) {
  FastPath fast(nullptr);
  Image image(task.memory);
  Cbuf cbuf;
  const bool accepted = fast.Run(task.conv, task.dpu, task.rdma, &image.space, &cbuf).has_value();
  if (!accepted) {
    EXPECT_TRUE(image.bytes == task.memory) << "a declined task touched memory";
    EXPECT_FALSE(cbuf.has_features || cbuf.has_weights);
  }
  return accepted;
}

TEST(FastPath, AcceptsThePlainTask) {
  FastPath fast(nullptr);
  EXPECT_NO_FATAL_FAILURE(Compare(PlainTask(), &fast));
}

TEST(FastPath, DeclinesReuseBits) {
  RandomTask task = PlainTask();
  task.conv.weight_reuse = true;
  EXPECT_FALSE(Accepts(task));
  task.conv.weight_reuse = false;
  task.conv.data_reuse = true;
  EXPECT_FALSE(Accepts(task));
}

TEST(FastPath, DeclinesUnmappedAddresses) {
  RandomTask task = PlainTask();
  task.conv.feature_base = static_cast<int64_t>(kMemoryBytes) - 64;
  EXPECT_FALSE(Accepts(task));
  task = PlainTask();
  task.conv.weight_base = static_cast<int64_t>(kMemoryBytes);
  EXPECT_FALSE(Accepts(task));
  task = PlainTask();
  task.dpu.dst_base = static_cast<int64_t>(kMemoryBytes) - 64;
  EXPECT_FALSE(Accepts(task));
  task = PlainTask();
  task.rdma.channels = 32;
  task.rdma.bs_alu = true;
  task.rdma.bs_base = static_cast<int64_t>(kMemoryBytes);
  EXPECT_FALSE(Accepts(task));
}

TEST(FastPath, DeclinesOutputsThatOverlapThemselves) {
  RandomTask task = PlainTask();
  task.dpu.dst_surf_stride = 560;  // the last atom of a surface is the first of the next
  EXPECT_FALSE(Accepts(task));
  task = PlainTask();
  task.dpu.line_pitch = 80;
  EXPECT_FALSE(Accepts(task));
}

TEST(FastPath, DeclinesUnequalShiftsAndTruncation) {
  RandomTask task = PlainTask();
  task.dpu.bs.mul = true;
  task.dpu.bs.shift_positive = 3;
  EXPECT_FALSE(Accepts(task));
  task = PlainTask();
  task.conv.clip_shift = 1;
  EXPECT_FALSE(Accepts(task));
}

TEST(FastPath, ComputesInPlaceLikeTheClearPath) {
  RandomTask task = PlainTask();  // features are a snapshot, as in CBUF
  task.dpu.dst_base = kFeaturesAt;
  FastPath fast(nullptr);
  Image clear(task.memory), quick(task.memory);
  Cbuf a, b;
  RunClearTask(task, &clear.space, &a);
  ASSERT_TRUE(fast.Run(task.conv, task.dpu, task.rdma, &quick.space, &b).has_value());
  EXPECT_TRUE(clear.bytes == quick.bytes);
}

TEST(FastPath, AnOperandMayBeOverwrittenOnlyInPlace) {
  RandomTask task = PlainTask();
  task.dpu.ew.op = true;
  task.rdma = {.enabled = true, .channels = 32, .height = 6, .width = 6};
  task.rdma.ew = EwSource::kConvFed;
  task.rdma.src_base = kOutputAt;
  task.rdma.ew_base = kOutputAt + 576;
  task.rdma.surf_notch = task.rdma.ew_surf_notch = task.rdma.ew_surf_stride = 576;
  FastPath fast(nullptr);
  EXPECT_NO_FATAL_FAILURE(Compare(task, &fast));
  task.rdma.src_base += 96;  // one row further: the order of rows would matter
  EXPECT_FALSE(Accepts(task));
}

TEST(FastPath, RereadsWeightsThatChanged) {
  RandomTask task = PlainTask();
  FastPath fast(nullptr);
  ASSERT_NO_FATAL_FAILURE(Compare(task, &fast));
  task.memory[kWeightsAt + 5] ^= std::byte{0x41};
  ASSERT_NO_FATAL_FAILURE(Compare(task, &fast));
  task.conv.kernels = 20;
  ASSERT_NO_FATAL_FAILURE(Compare(task, &fast));
}

}  // namespace
}  // namespace npu::sim
