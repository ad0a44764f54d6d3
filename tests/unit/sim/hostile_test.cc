// SPDX-License-Identifier: Apache-2.0
// Nothing a command stream says may crash the simulator, make it allocate without bound, or make it
// touch a byte outside the mapped buffers. Run under the sanitizers as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>

#include "tests/unit/sim/program.h"

namespace npu::sim {
namespace {

constexpr size_t kGuard = 4096;
constexpr uint32_t kSmallBase = 0x100000, kSmallSize = 0x20000;

// A small mapped region between guard zones, and another that ends at 4 GiB.
struct GuardedMachine {
  explicit GuardedMachine(Path path = Path::kClear)
      : arena(kSmallSize + 2 * kGuard, std::byte{0x5A}), top(kGuard * 3) {
    SimOptions options;
    options.path = path;
    options.max_task_macs = 1 << 22;
    options.assume.ppu_raises_dpu_interrupt = true;
    core.emplace(options);
    std::fill(top.begin(), top.end(), std::byte{0x5A});
    ok = memory.Map(kSmallBase, std::span(arena).subspan(kGuard, kSmallSize)).ok() &&
         memory.Map(0xFFFFF000u, std::span(top).subspan(kGuard, kGuard)).ok();
  }
  void PutWords(const std::vector<uint64_t>& words) {
    for (size_t i = 0; i < words.size() * 8; ++i) {
      arena.at(kGuard + i) = static_cast<std::byte>(words[i / 8] >> (8 * (i % 8)));
    }
  }
  KickResult Run(const std::vector<uint64_t>& words, uint32_t tasks) {
    PutWords(words);
    Kick kick;
    kick.regcmd = kSmallBase;
    kick.count = static_cast<uint32_t>(words.size());
    kick.task_number = tasks;
    kick.first_of_job = false;
    KickResult result = core->RunKick(memory, kick);
    if (result.outcome != Outcome::kComplete) core->Reset();
    return result;
  }
  bool GuardsIntact() const {
    const auto intact = [](std::span<const std::byte> zone) {
      return std::all_of(zone.begin(), zone.end(),
                         [](std::byte b) { return b == std::byte{0x5A}; });
    };
    return intact(std::span(arena).first(kGuard)) && intact(std::span(arena).last(kGuard)) &&
           intact(std::span(top).first(kGuard)) && intact(std::span(top).last(kGuard));
  }

  std::vector<std::byte> arena, top;
  AddressSpace memory;
  std::optional<Simulator> core;
  bool ok = false;
};

uint64_t RandomWord(std::mt19937_64& random) {
  static constexpr regs::Target kTargets[] = {
      regs::Target::kCna,     regs::Target::kCore, regs::Target::kDpu,    regs::Target::kDpuRdma,
      regs::Target::kPpu,     regs::Target::kPc,   regs::Target::kEnable, regs::Target::kSync,
      regs::Target::kPpuRdma, regs::Target::kNop};
  if (random() % 8 == 0) return random();
  const auto infos = rk::Registers();
  const auto& info = infos[random() % infos.size()];
  const auto target = random() % 4 == 0 ? kTargets[random() % 10]
                                        : regs::TargetOf(info.block).value_or(regs::Target::kNop);
  return regs::MakeWord(target, static_cast<uint32_t>(random()), info.offset);
}

TEST(Hostile, RandomWords) {
  GuardedMachine m;
  ASSERT_TRUE(m.ok);
  std::mt19937_64 random(12345);
  for (int round = 0; round < 400; ++round) {
    std::vector<uint64_t> words(64);
    for (uint64_t& word : words) word = RandomWord(random);
    if (round % 2 == 0) words.back() = regs::EnableWord(rk::kEnableConv);
    m.Run(words, 1 + static_cast<uint32_t>(random() % 3));
  }
  EXPECT_TRUE(m.GuardsIntact());
}

void FillRandom(GuardedMachine* m) {
  std::mt19937 random(7);
  for (size_t i = 0; i < kSmallSize; ++i) m->arena[kGuard + i] = static_cast<std::byte>(random());
}

// A clean program with a few register values replaced, which gets past the gates far more often.
// Both paths must do the same: outcome, diagnostics, every byte of memory.
void MutateAndRun(const Program& base, uint64_t seed, int rounds) {
  GuardedMachine clear(Path::kClear), fast(Path::kFast);
  ASSERT_TRUE(clear.ok && fast.ok);
  FillRandom(&clear);
  FillRandom(&fast);
  std::mt19937_64 random(seed);
  const std::vector<uint64_t> clean = base.Words();
  int completed = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint64_t> words = clean;
    for (uint64_t changes = random() % 4; changes > 0; --changes) {
      uint64_t& word = words[random() % (words.size() - 4)];
      const regs::CommandWord old = regs::Split(word);
      const uint32_t bits =
          random() % 4 != 0 ? 1u << (random() % 32) : static_cast<uint32_t>(random() & random());
      word = regs::MakeWord(static_cast<regs::Target>(old.target), old.value ^ bits, old.offset);
    }
    const KickResult a = clear.Run(words, 1);
    const KickResult b = fast.Run(words, 1);
    completed += a.outcome == Outcome::kComplete ? 1 : 0;
    ASSERT_EQ(a.outcome, b.outcome) << "round " << round << ": " << a.reason << " / " << b.reason;
    ASSERT_EQ(a.diagnostics.size(), b.diagnostics.size()) << "round " << round;
    ASSERT_EQ(clear.arena, fast.arena) << "round " << round;
    ASSERT_EQ(clear.top, fast.top) << "round " << round;
  }
  EXPECT_GT(completed, rounds / 4);
  EXPECT_TRUE(clear.GuardsIntact());
}

// The program's addresses moved into the small region. It then writes registers of all blocks,
// which is harmless.
Program Relocate(Program p) {
  p.Edit<rk::CnaFeatureDataAddr>([](auto& r) { r.feature_base_addr = kSmallBase + 0x4000; });
  p.Edit<rk::CnaDcompAddr0>([](auto& r) { r.decompress_addr0 = kSmallBase + 0x8000; });
  p.Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kSmallBase + 0x10000; });
  p.Edit<rk::DpuRdmaBsBaseAddr>([](auto& r) { r.bs_base_addr = kSmallBase + 0x2000; });
  p.Edit<rk::DpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kSmallBase + 0x4000; });
  p.Edit<rk::DpuRdmaEwBaseAddr>([](auto& r) { r.ew_base_addr = kSmallBase + 0x8000; });
  p.Edit<rk::PpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kSmallBase + 0x10000; });
  p.Edit<rk::PpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kSmallBase + 0x4000; });
  return p;
}

TEST(Hostile, MutatedConvolutions) {
  ConvShape s{.ic = 48, .ih = 6, .iw = 5, .oc = 64, .kh = 3, .kw = 3};
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
  MutateAndRun(Relocate(MakeConv(s)), 1, 600);
  MutateAndRun(Relocate(MakeRawConv(s)), 2, 600);
}

TEST(Hostile, MutatedDepthwiseAndElementwise) {
  ConvShape s{.ic = 64, .ih = 6, .iw = 5, .oc = 64, .kh = 3, .kw = 3, .depthwise = true};
  MutateAndRun(Relocate(MakeConv(s)), 3, 600);
  MutateAndRun(Relocate(MakeElementwise(64)), 4, 600);
}

TEST(Hostile, MutatedPools) {
  MutateAndRun(Relocate(MakePool({.channels = 40,
                                  .ih = 9,
                                  .iw = 9,
                                  .oh = 4,
                                  .ow = 4,
                                  .kh = 3,
                                  .kw = 3,
                                  .top = 1,
                                  .left = 1,
                                  .pad_value = -128})),
               5, 600);
  MutateAndRun(Relocate(MakePool({.channels = 20, .method = rk::PoolMethod::kAverage})), 6, 600);
  MutateAndRun(Relocate(MakePool({.channels = 20, .fp16 = true})), 7, 300);
}

TEST(Hostile, MutatedFloatTasks) {
  ConvShape s{.ic = 40, .ih = 6, .iw = 5, .oc = 48, .kh = 3, .kw = 3};
  MutateAndRun(Relocate(MakeHalfConv(s)), 8, 300);
  s.oc = s.ic = 64;
  s.depthwise = true;
  MutateAndRun(Relocate(MakeHalfConv(s)), 9, 300);
  MutateAndRun(Relocate(MakeHalfElementwise(64)), 10, 600);
}

TEST(Hostile, AddressesAtTheEndOfTheSpace) {
  const ConvShape s{.ic = 32, .ih = 4, .iw = 4, .oc = 32};
  for (const uint32_t address : {0xFFFFFFF0u, 0xFFFFFF00u, 0xFFFFF000u, 0u}) {
    for (int which = 0; which < 4; ++which) {
      GuardedMachine m;
      ASSERT_TRUE(m.ok);
      Program p = Relocate(MakeConv(s));
      const regs::Var at(address);
      if (which == 0) p.Edit<rk::CnaFeatureDataAddr>([&](auto& r) { r.feature_base_addr = at; });
      if (which == 1) p.Edit<rk::CnaDcompAddr0>([&](auto& r) { r.decompress_addr0 = at; });
      if (which == 2) p.Edit<rk::DpuDstBaseAddr>([&](auto& r) { r.dst_base_addr = at; });
      if (which == 3) p.Edit<rk::DpuRdmaBsBaseAddr>([&](auto& r) { r.bs_base_addr = at; });
      const KickResult result = m.Run(p.Words(), 1);
      // 512 bytes of features and output, 1024 of weights, 128 of biases, in a page of 4096.
      const bool fits = address == 0xFFFFF000u || (address == 0xFFFFFF00u && which == 3);
      EXPECT_EQ(result.outcome, fits ? Outcome::kComplete : Outcome::kFault)
          << std::hex << address << " " << which << " " << result.reason;
      EXPECT_TRUE(m.GuardsIntact());
    }
  }
}

TEST(Hostile, ListsAtTheEndOfTheSpace) {
  GuardedMachine m;
  ASSERT_TRUE(m.ok);
  for (const uint32_t count : {1u, 2u, 3u, 512u, 513u, 131072u, 131073u, 0xFFFFFFFFu}) {
    Kick kick;
    kick.regcmd = 0xFFFFFFF0;
    kick.count = count;
    const KickResult result = m.core->RunKick(m.memory, kick);
    EXPECT_NE(result.outcome, Outcome::kComplete);
    m.core->Reset();
  }
  EXPECT_TRUE(m.GuardsIntact());
}

TEST(Hostile, AListThatLinksToItselfEndsWithTheTaskNumber) {
  GuardedMachine m;
  ASSERT_TRUE(m.ok);
  Program p = Relocate(MakeConv(ConvShape{.ic = 32, .ih = 4, .iw = 4, .oc = 32}));
  p.next_base = kSmallBase;
  p.next_words = static_cast<uint32_t>(p.Words().size());
  const KickResult result = m.Run(p.Words(), 100);
  EXPECT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(result.tasks_done, 100u);
}

}  // namespace
}  // namespace npu::sim
