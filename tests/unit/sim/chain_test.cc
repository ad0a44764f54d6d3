// SPDX-License-Identifier: Apache-2.0
// Several tasks in one kick: a later task sees what an earlier one wrote, an earlier one read what
// a later one overwrites, and a wrong count or link hangs (registers-rk3588 3.5, 3.6).
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/sim/program.h"

namespace npu::sim {
namespace {

using regs::Var;

constexpr uint32_t kListStride = 0x1000;
const ConvShape kShape{.ic = 32, .ih = 8, .iw = 8, .oc = 32};
constexpr uint32_t kCube = 32 * 64;  // bytes

// Convolution, addition or pool of cubes of 32 channels, from one address to another.
Program Conv(uint32_t from, uint32_t to) {
  Program p = MakeConv(kShape);
  p.Edit<rk::CnaFeatureDataAddr>([&](auto& r) { r.feature_base_addr = Var(from); });
  p.Edit<rk::DpuDstBaseAddr>([&](auto& r) { r.dst_base_addr = Var(to); });
  return p;
}

Program Add(uint32_t a, uint32_t b, uint32_t to) {
  Program p = MakeElementwise(kCube / 16);
  p.Edit<rk::DpuRdmaSrcBaseAddr>([&](auto& r) { r.src_base_addr = Var(a); });
  p.Edit<rk::DpuRdmaEwBaseAddr>([&](auto& r) { r.ew_base_addr = Var(b); });
  p.Edit<rk::DpuDstBaseAddr>([&](auto& r) { r.dst_base_addr = Var(to); });
  return p;
}

Program Pool(uint32_t from, uint32_t to) {
  Program p = MakePool({.channels = 32,
                        .ih = 8,
                        .iw = 8,
                        .oh = 8,
                        .ow = 8,
                        .kh = 1,
                        .kw = 3,
                        .sy = 1,
                        .sx = 1,
                        .left = 1,
                        .right = 1,
                        .pad_value = -128});
  p.Edit<rk::PpuRdmaSrcBaseAddr>([&](auto& r) { r.src_base_addr = Var(from); });
  p.Edit<rk::PpuDstBaseAddr>([&](auto& r) { r.dst_base_addr = Var(to); });
  return p;
}

void Load(Machine* m) {
  m->Put(kFeatures, RandomTensor(kCube, 1));
  m->Put(kWeights, RandomTensor(32 * 32, 2, -2, 2));
  m->PutInts(kBias, std::vector<int32_t>(32, 3));
  m->Put(kOperand, RandomTensor(kCube, 3));
  m->Fill(kOutput, 0x10000, 0xA5);
}

// Links the programs; the first list is returned, the others are in memory.
std::vector<uint64_t> Link(Machine* m, std::vector<Program> programs) {
  for (size_t i = 0; i + 1 < programs.size(); ++i) {
    programs[i].next_base = kLists + static_cast<uint32_t>(i + 1) * kListStride;
    programs[i].next_words = static_cast<uint32_t>(programs[i + 1].Words().size());
  }
  for (size_t i = 1; i < programs.size(); ++i) {
    m->PutWords(kLists + static_cast<uint32_t>(i) * kListStride, programs[i].Words());
  }
  return programs.front().Words();
}

SimOptions On(Path path) {
  SimOptions options;
  options.path = path;
  options.assume.ppu_raises_dpu_interrupt = true;
  return options;
}

// The same tasks in one kick and in a kick each leave the same memory.
void CheckChain(const std::vector<Program>& programs) {
  for (const Path path : {Path::kClear, Path::kFast}) {
    Machine chained(On(path)), single(On(path));
    Load(&chained);
    Load(&single);
    const KickResult result =
        chained.RunWords(Link(&chained, programs), static_cast<uint32_t>(programs.size()));
    ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
    EXPECT_EQ(result.tasks_done, programs.size());
    EXPECT_EQ(result.interrupts, 1u);
    EXPECT_TRUE(result.diagnostics.empty());
    for (const Program& program : programs) {
      ASSERT_EQ(single.Run(program).outcome, Outcome::kComplete);
    }
    const auto from = kFeatures - kMemoryBase, to = kOutput + 0x10000 - kMemoryBase;
    EXPECT_TRUE(std::equal(chained.bytes.begin() + from, chained.bytes.begin() + to,
                           single.bytes.begin() + from));
    EXPECT_NE(chained.Half(kOutput), 0xA5A5);
  }
}

TEST(Chain, ALaterTaskReadsWhatAnEarlierOneWrote) {
  CheckChain({Conv(kFeatures, kOutput), Add(kOutput, kOperand, kOutput + 0x1000),
              Pool(kOutput + 0x1000, kOutput + 0x2000), Conv(kOutput + 0x2000, kOutput + 0x3000),
              Add(kOutput + 0x3000, kOutput, kOutput + 0x4000)});
}

TEST(Chain, ALaterTaskOverwritesWhatAnEarlierOneRead) {
  CheckChain({Conv(kFeatures, kOutput), Pool(kOutput, kFeatures), Conv(kFeatures, kOutput + 0x1000),
              Add(kFeatures, kOutput, kOutput), Conv(kOutput, kFeatures)});
}

TEST(Chain, ManyTasksOfOneKick) {
  std::vector<Program> programs;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t from = i % 2 == 0 ? kOutput : kOutput + 0x1000;
    programs.push_back(Add(from, kOperand, i % 2 == 0 ? kOutput + 0x1000 : kOutput));
  }
  CheckChain(programs);
}

TEST(Chain, FewerLinksThanTasksHang) {
  Machine m;
  Load(&m);
  const auto words = Link(&m, {Conv(kFeatures, kOutput), Conv(kFeatures, kOutput + 0x1000)});
  const KickResult result = m.RunWords(words, 3);
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_EQ(result.tasks_done, 2u);
  ASSERT_TRUE(Has(result, "pc.chain_missing"));
  EXPECT_EQ(Find(result, "pc.chain_missing")->task, 2u);
  EXPECT_EQ(m.Int(kOutput), m.Int(kOutput + 0x1000));  // both ran
}

TEST(Chain, MoreLinksThanTasksStopAtTheCount) {
  Machine m;
  Load(&m);
  const auto words = Link(&m, {Conv(kFeatures, kOutput), Conv(kFeatures, kOutput + 0x1000)});
  EXPECT_EQ(m.RunWords(words, 1).outcome, Outcome::kComplete);
  EXPECT_EQ(m.Half(kOutput + 0x1000), 0xA5A5);
}

// The length code of a driver that is right for n mod 4 = 2 only (registers-rk3588 3.3).
TEST(Chain, ALengthThatMissesTheEnableHangs) {
  Machine m;
  Load(&m);
  Program first = Conv(kFeatures, kOutput);
  const auto second = Conv(kFeatures, kOutput + 0x1000).Words();
  first.next_base = kLists + kListStride;
  first.next_words = static_cast<uint32_t>(second.size()) - 2;
  m.PutWords(kLists + kListStride, second);
  const KickResult result = m.RunWords(first.Words(), 2);
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_EQ(result.tasks_done, 1u);
  EXPECT_TRUE(Has(result, "pc.no_enable"));
}

// The kernel's mask applies to the last task.
TEST(Chain, APoolAtTheEndIsNotSeen) {
  Machine m;
  Load(&m);
  const auto words = Link(&m, {Conv(kFeatures, kOutput), Pool(kOutput, kOutput + 0x1000)});
  const KickResult result = m.RunWords(words, 2);
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(result, "pc.no_interrupt"));
  EXPECT_EQ(result.tasks_done, 2u);
  EXPECT_NE(m.Half(kOutput + 0x1000), 0xA5A5);  // but it is there
}

TEST(Chain, PerChannelMultipliersWarn) {
  Machine m;
  Load(&m);
  Program second = Conv(kFeatures, kOutput + 0x1000);
  second.Edit<rk::DpuBsCfg>([](auto& r) { r.bs_mul_bypass = 0; });
  second.Edit<rk::DpuBsMulCfg>([](auto& r) { r.bs_mul_src = rk::OperandSrc::kDma; });
  second.Edit<rk::DpuRdmaBrdmaCfg>([](auto& r) {
    r.brdma_use_cpend = 1;
    r.brdma_use_mul = 1;
  });
  const KickResult result = m.RunWords(Link(&m, {Conv(kFeatures, kOutput), second, second}), 3);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  ASSERT_TRUE(Has(result, "pc.chained_per_channel"));
  EXPECT_EQ(result.diagnostics.size(), 1u);  // one is enough
  EXPECT_EQ(Find(result, "pc.chained_per_channel")->task, 1u);
  m.core.Reset();
  EXPECT_TRUE(m.Run(second).diagnostics.empty());
}

}  // namespace
}  // namespace npu::sim
