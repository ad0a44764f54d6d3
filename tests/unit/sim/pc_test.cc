// SPDX-License-Identifier: Apache-2.0
// The command fetcher: chains, launches, interrupts, delta lists, and the ways to hang it.
#include <gtest/gtest.h>

#include "tests/unit/sim/program.h"

namespace npu::sim {
namespace {

using regs::MakeWord;
using regs::Target;
using regs::Var;

const ConvShape kSmall{.ic = 32, .ih = 4, .iw = 4, .oc = 32};

// DPU output registers of a small convolution that writes `output` at `address`.
Program SmallConv(uint32_t address) {
  return MakeConv(kSmall).Edit<rk::DpuDstBaseAddr>(
      [&](auto& r) { r.dst_base_addr = Var(address); });
}

void LoadSmall(Machine* m) {
  m->Put(kFeatures, PackFeatures(RandomTensor(32 * 16, 1, -3, 3), 32, 4, 4));
  m->Put(kWeights, PackWeights(RandomTensor(32 * 32, 2, -2, 2), kSmall));
  m->PutInts(kBias, std::vector<int32_t>(32, 1));
  m->Fill(kOutput, 0x10000, 0xA5);
}

bool Untouched(const Machine& m, uint32_t address) {
  for (uint32_t i = 0; i < 512; ++i) {
    if (m.Byte(address + i) != static_cast<int8_t>(0xA5)) return false;
  }
  return true;
}

bool Same(const Machine& m, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < 512; ++i) {
    if (m.Byte(a + i) != m.Byte(b + i)) return false;
  }
  return true;
}

constexpr uint32_t kSecond = kOutput + 0x1000, kThird = kOutput + 0x2000;

// registers-rk3588 13.3: one interrupt for the chain, RAW_STATUS 0x155 | 0x2AA.
TEST(Fetcher, ChainOfTwoListsRaisesOneInterrupt) {
  Machine m;
  LoadSmall(&m);
  Program first = SmallConv(kOutput);
  first.next_base = kLists + 0x1000;
  const Program second = SmallConv(kSecond);
  first.next_words = static_cast<uint32_t>(second.Words().size());
  m.PutWords(kLists + 0x1000, second.Words());
  const KickResult result = m.RunWords(first.Words(), 2);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(result.tasks_done, 2u);
  EXPECT_EQ(result.interrupts, 1u);
  EXPECT_EQ(result.raw_status, 0x3FFu);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_TRUE(Same(m, kOutput, kSecond));
  EXPECT_FALSE(Untouched(m, kOutput));
}

// registers-rk3588 13.4: DPU_0, DPU_1, DPU_0.
TEST(Fetcher, SingleKicksAlternateTheGroup) {
  Machine m;
  LoadSmall(&m);
  for (const uint32_t expected : {0x155u, 0x2AAu, 0x155u}) {
    const KickResult result = m.Run(SmallConv(kOutput));
    ASSERT_EQ(result.outcome, Outcome::kComplete);
    EXPECT_EQ(result.raw_status, expected);
    EXPECT_EQ(result.interrupts, 1u);
  }
}

std::vector<uint64_t> Delta(uint32_t address) {
  return {MakeWord(Target::kDpu, address, rk::DpuDstBaseAddr::kOffset),
          regs::EnableWord(rk::kEnableConv)};
}

// registers-rk3588 13.5: after one full list the delta's group is unconfigured.
TEST(Fetcher, DeltaAfterOneFullListDoesNotCompute) {
  Machine m;
  LoadSmall(&m);
  ASSERT_EQ(m.Run(SmallConv(kOutput)).outcome, Outcome::kComplete);
  const KickResult delta = m.RunWords(Delta(kSecond));
  EXPECT_EQ(delta.outcome, Outcome::kHang);
  EXPECT_TRUE(Untouched(m, kSecond));
}

TEST(Fetcher, DeltaAfterTwoFullListsInheritsTheGroup) {
  Machine m;
  LoadSmall(&m);
  ASSERT_EQ(m.Run(SmallConv(kOutput)).outcome, Outcome::kComplete);
  ASSERT_EQ(m.Run(SmallConv(kThird)).outcome, Outcome::kComplete);
  const KickResult delta = m.RunWords(Delta(kSecond));
  EXPECT_EQ(delta.outcome, Outcome::kComplete) << delta.reason;
  EXPECT_TRUE(Same(m, kOutput, kSecond));
}

TEST(Fetcher, ResetForgetsTheGroups) {
  Machine m;
  LoadSmall(&m);
  m.Run(SmallConv(kOutput));
  m.Run(SmallConv(kOutput));
  m.core.Reset();
  EXPECT_EQ(m.RunWords(Delta(kSecond)).outcome, Outcome::kHang);
}

// registers-rk3588 4 rule 6: single-group lists after automatic ones.
TEST(Fetcher, SingleGroupListsRunAfterAutomaticOnes) {
  Machine m;
  LoadSmall(&m);
  ASSERT_EQ(m.Run(SmallConv(kOutput)).outcome, Outcome::kComplete);
  Program manual = SmallConv(kSecond);
  manual.s_pointer = 0;
  for (int i = 0; i < 3; ++i) {
    const KickResult result = m.Run(manual);
    ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
    EXPECT_EQ(result.raw_status & 0x300u, 0x100u);
  }
  EXPECT_TRUE(Same(m, kOutput, kSecond));
}

TEST(Fetcher, SeveralEnablesInOneListRunEveryArmedGroup) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  const std::vector<uint64_t> second = SmallConv(kSecond).Words();
  words.insert(words.end(), second.begin(), second.end());
  const std::vector<uint64_t> third = SmallConv(kThird).Words();
  words.insert(words.end(), third.begin(), third.end());
  const KickResult result = m.RunWords(words);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(result.tasks.size(), 3u);
  EXPECT_TRUE(Same(m, kOutput, kSecond));
  EXPECT_TRUE(Same(m, kOutput, kThird));
}

// registers-rk3588 3.3: the word behind an odd list is executed.
TEST(Fetcher, OddListExecutesTheWordBehindIt) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  words.insert(words.begin(), regs::kNopWord);
  ASSERT_EQ(words.size() % 2, 1u);
  std::vector<uint64_t> stale = words;
  stale.push_back(regs::EnableWord(rk::kEnableConv));
  m.PutWords(kLists, stale);
  const KickResult result = m.RunWords(words);
  EXPECT_TRUE(Has(result, "pc.odd_list"));
  // The second launch runs the other, unconfigured group.
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_EQ(result.tasks.size(), 1u);
}

TEST(Fetcher, OddListWithANopBehindItIsFine) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  words.insert(words.begin(), regs::kNopWord);
  EXPECT_EQ(m.RunWords(words).outcome, Outcome::kComplete);
}

TEST(Fetcher, AcceptsListsWithoutSyncAndAmounts) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  words.erase(words.end() - 4, words.end() - 1);
  const KickResult result = m.RunWords(words);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << result.reason;
}

TEST(Fetcher, IgnoresUnknownTargetsAndRegistersWithADiagnostic) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  words.insert(words.begin(), {uint64_t{0x0001} << 48, MakeWord(Target::kDpu, 1, 0x4FFC),
                               MakeWord(Target::kPc, 1, rk::PcTaskCon::kOffset),
                               MakeWord(Target::kCna, 0xFFFFFFFF, rk::CnaPadCon0::kOffset)});
  const KickResult result = m.RunWords(words);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(Find(result, "pc.unknown_target")->command, 0u);
  EXPECT_EQ(Find(result, "pc.unknown_register")->command, 1u);
  EXPECT_EQ(Find(result, "pc.ignored_register")->command, 2u);
  EXPECT_EQ(Find(result, "pc.reserved_bits")->command, 3u);
}

TEST(Fetcher, MissingEnableHangs) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  words.resize(words.size() - 4);
  const KickResult result = m.RunWords(words);
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(result, "pc.no_enable"));
  EXPECT_EQ(result.interrupts, 0u);
  EXPECT_TRUE(Untouched(m, kOutput));
}

TEST(Fetcher, MissingLinkHangsAfterTheFirstTask) {
  Machine m;
  LoadSmall(&m);
  const KickResult result = m.RunWords(SmallConv(kOutput).Words(), 2);
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_EQ(result.tasks_done, 1u);
  ASSERT_TRUE(Has(result, "pc.chain_missing"));
  EXPECT_EQ(Find(result, "pc.chain_missing")->task, 1u);
  EXPECT_FALSE(Untouched(m, kOutput));
}

TEST(Fetcher, LinkOfASingleTaskKickIsIgnored) {
  Machine m;
  LoadSmall(&m);
  Program program = SmallConv(kOutput);
  program.next_base = 0xDEAD0000;
  program.next_words = 126;
  EXPECT_EQ(m.Run(program).outcome, Outcome::kComplete);
}

TEST(Fetcher, UnmappedListsFault) {
  Machine m;
  Kick kick;
  kick.regcmd = 0xC0DE0000;
  kick.count = 126;
  const KickResult result = m.core.RunKick(m.memory, kick);
  EXPECT_EQ(result.outcome, Outcome::kFault);
  EXPECT_TRUE(Has(result, "memory.fetch_fault"));
}

TEST(Fetcher, MalformedKicksHang) {
  for (const Kick& kick : {Kick{kLists + 8, 4, 1, true}, Kick{kLists, 0, 1, true},
                           Kick{kLists, 4, 0, true}, Kick{kLists, 4, 4096, true}}) {
    Machine m;
    const KickResult result = m.core.RunKick(m.memory, kick);
    EXPECT_EQ(result.outcome, Outcome::kHang);
    EXPECT_TRUE(Has(result, "pc.bad_kick"));
  }
}

TEST(Fetcher, AFailedKickWedgesTheCoreUntilReset) {
  Machine m;
  LoadSmall(&m);
  ASSERT_EQ(m.RunWords({regs::kNopWord, regs::kSyncWord}).outcome, Outcome::kHang);
  const KickResult wedged = m.Run(SmallConv(kOutput));
  EXPECT_EQ(wedged.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(wedged, "pc.wedged"));
  m.core.Reset();
  EXPECT_EQ(m.Run(SmallConv(kOutput)).outcome, Outcome::kComplete);
}

// conv-matmul erratum E9.
TEST(Fetcher, ListsMustNotWriteCnaOrCorePointers) {
  for (const auto& [target, offset] : {std::pair{Target::kCna, rk::CnaSPointer::kOffset},
                                       std::pair{Target::kCore, rk::CoreSPointer::kOffset}}) {
    Machine m;
    LoadSmall(&m);
    std::vector<uint64_t> words = SmallConv(kOutput).Words();
    words.insert(words.begin(), {MakeWord(target, 0xE, offset), regs::kNopWord});
    const KickResult result = m.RunWords(words);
    EXPECT_EQ(result.outcome, Outcome::kHang);
    EXPECT_TRUE(Has(result, "pc.cna_core_pointer"));
  }
}

TEST(Fetcher, BlockEnableIsNotModelled) {
  Machine m;
  LoadSmall(&m);
  std::vector<uint64_t> words = SmallConv(kOutput).Words();
  words.insert(words.begin(),
               {MakeWord(Target::kDpu, 1, rk::DpuOperationEnable::kOffset), regs::kNopWord});
  const KickResult result = m.RunWords(words);
  EXPECT_EQ(result.outcome, Outcome::kUnimplemented);
  EXPECT_TRUE(Has(result, "unimplemented.block_enable"));
}

TEST(Fetcher, UnknownMaskBitsAreIgnored) {
  Machine m;
  LoadSmall(&m);
  Program program = SmallConv(kOutput);
  program.mask |= 2;
  const KickResult result = m.Run(program);
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(result, "pc.unknown_mask_bits"));
}

// A launch whose group is not the executer's turn waits for ever.
TEST(Fetcher, ManualPointerToTheOtherGroupHangs) {
  Machine m;
  LoadSmall(&m);
  Program program = SmallConv(kOutput);
  program.s_pointer = 1;  // producer group 1, executer group 0
  const KickResult result = m.Run(program);
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(result, "pc.executer_group"));
}

// Q3: the second raw int32 task of a kick is wrong, in single kicks both are right.
TEST(Fetcher, ChainedRawIntegerOutputIsWrongFromTheSecondTask) {
  Machine m;
  LoadSmall(&m);
  Program first = MakeRawConv(kSmall);
  first.next_base = kLists + 0x1000;
  Program second = MakeRawConv(kSmall);
  second.Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kSecond; });
  first.next_words = static_cast<uint32_t>(second.Words().size());
  m.PutWords(kLists + 0x1000, second.Words());
  const KickResult chained = m.RunWords(first.Words(), 2);
  EXPECT_EQ(chained.outcome, Outcome::kComplete);
  ASSERT_TRUE(Has(chained, "pc.chained_raw_integer"));
  EXPECT_EQ(Find(chained, "pc.chained_raw_integer")->task, 1u);
  EXPECT_FALSE(Same(m, kOutput, kSecond));
  EXPECT_EQ(m.Run(second).outcome, Outcome::kComplete);
  EXPECT_TRUE(Same(m, kOutput, kSecond));
}

TEST(Fetcher, ChainedRawIntegerSwitch) {
  SimOptions options;
  options.assume.chained_raw_integer_is_wrong = false;
  Machine m(options);
  LoadSmall(&m);
  Program first = MakeRawConv(kSmall);
  first.next_base = kLists + 0x1000;
  Program second = MakeRawConv(kSmall);
  second.Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kSecond; });
  first.next_words = static_cast<uint32_t>(second.Words().size());
  m.PutWords(kLists + 0x1000, second.Words());
  EXPECT_TRUE(m.RunWords(first.Words(), 2).diagnostics.empty());
  EXPECT_TRUE(Same(m, kOutput, kSecond));
}

TEST(Fetcher, ReportsTheTermsOfTheCostModel) {
  SimOptions options;
  options.profile = chip::FindChip("rk3588");
  Machine m(options);
  ConvShape s{.ic = 128, .ih = 28, .iw = 28, .oc = 128, .kh = 3, .kw = 3};
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
  const KickResult result = m.Run(MakeConv(s));
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  const TaskReport& task = result.tasks.at(0);  // performance-facts 4.5 example 1
  EXPECT_EQ(task.mac_cycles, 112896u);
  EXPECT_EQ(task.feature_bytes, 100352u);
  EXPECT_EQ(task.output_bytes, 100352u);
  EXPECT_EQ(task.dpu_elements, 100352u);
  EXPECT_EQ(task.weight_bytes, 147456u);
  EXPECT_NEAR(task.modelled_us, 135.5, 0.1);
}

}  // namespace
}  // namespace npu::sim
