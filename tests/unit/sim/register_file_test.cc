// SPDX-License-Identifier: Apache-2.0
// Pointer rules of registers-rk3588 section 4.
#include "src/sim/register_file.h"

#include <gtest/gtest.h>

#include "src/regs/command.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;
using regs::Block;

constexpr uint32_t kAutomatic = 0xE;
constexpr uint16_t kPointer = rk::DpuSPointer::kOffset;
constexpr uint16_t kDst = rk::DpuDstBaseAddr::kOffset;

void WriteDpu(RegisterFile* file, uint16_t offset, uint32_t value) {
  file->Write(Block::kDpu, offset, value, {1, 7});
}

TEST(RegisterFile, StartsInGroupZeroWithoutAutomaticModes) {
  RegisterFile file;
  EXPECT_EQ(file.Launch(Block::kDpu), 0u);
  EXPECT_TRUE(file.producer_armed(Block::kDpu));
  EXPECT_TRUE(file.CanRun(Block::kDpu, 0));
  file.Complete(Block::kDpu, 0);
  EXPECT_EQ(file.Launch(Block::kDpu), 0u);
}

TEST(RegisterFile, PingPongAlternatesBothPointers) {
  RegisterFile file;
  WriteDpu(&file, kPointer, kAutomatic);
  for (unsigned group : {0u, 1u, 0u}) {
    WriteDpu(&file, kPointer, kAutomatic);  // rule 4: does not move the pointer
    EXPECT_EQ(file.Launch(Block::kDpu), group);
    ASSERT_TRUE(file.CanRun(Block::kDpu, group));
    file.Complete(Block::kDpu, group);
  }
}

TEST(RegisterFile, WritesGoToTheProducerGroupOnly) {
  RegisterFile file;
  WriteDpu(&file, kPointer, kAutomatic);
  WriteDpu(&file, kDst, 0x1000);
  file.Complete(Block::kDpu, file.Launch(Block::kDpu));
  WriteDpu(&file, kDst, 0x2000);
  EXPECT_EQ(file.Read(Block::kDpu, 0, kDst), 0x1000u);
  EXPECT_EQ(file.Read(Block::kDpu, 1, kDst), 0x2000u);
}

TEST(RegisterFile, BlocksDriftApart) {
  RegisterFile file;
  file.Write(Block::kCna, rk::CnaSPointer::kOffset, kAutomatic, {});
  WriteDpu(&file, kPointer, kAutomatic);
  file.Complete(Block::kDpu, file.Launch(Block::kDpu));
  EXPECT_EQ(file.Launch(Block::kCna), 0u);
  EXPECT_EQ(file.Launch(Block::kDpu), 1u);
}

// Rule 6: lists that write 0 after lists that wrote 0xE would wait for the other group for ever.
TEST(RegisterFile, ManualModeLoadsBothPointers) {
  RegisterFile file;
  WriteDpu(&file, kPointer, kAutomatic);
  file.Complete(Block::kDpu, file.Launch(Block::kDpu));
  WriteDpu(&file, kPointer, 0);
  EXPECT_EQ(file.Launch(Block::kDpu), 0u);
  EXPECT_TRUE(file.CanRun(Block::kDpu, 0));
}

TEST(RegisterFile, ByExecuterModePointsAtTheIdleGroup) {
  RegisterFile file;
  WriteDpu(&file, kPointer, 0x6);  // both automatic, new producer = not executer
  EXPECT_EQ(file.Launch(Block::kDpu), 0u);
  EXPECT_EQ(file.Launch(Block::kDpu), 1u);
}

TEST(RegisterFile, ClearBitsResetThePointers) {
  RegisterFile file;
  WriteDpu(&file, kPointer, kAutomatic);
  file.Complete(Block::kDpu, file.Launch(Block::kDpu));
  WriteDpu(&file, kPointer, kAutomatic | 0x30);
  EXPECT_EQ(file.Launch(Block::kDpu), 0u);
  EXPECT_TRUE(file.CanRun(Block::kDpu, 0));
}

TEST(RegisterFile, RemembersWhoWrote) {
  RegisterFile file;
  EXPECT_FALSE(file.configured(Block::kDpu));
  EXPECT_FALSE(file.Origin(Block::kDpu, 0, kDst));
  WriteDpu(&file, kPointer, 0);
  EXPECT_FALSE(file.configured(Block::kDpu));
  WriteDpu(&file, kDst, 16);
  EXPECT_TRUE(file.configured(Block::kDpu));
  ASSERT_TRUE(file.Origin(Block::kDpu, 0, kDst));
  EXPECT_EQ(file.Origin(Block::kDpu, 0, kDst)->command, 7u);
}

TEST(RegisterFile, ResetRestoresResetValues) {
  RegisterFile file;
  const uint16_t gating = rk::CoreMacGating::kOffset;
  file.Write(Block::kCore, gating, 1, {});
  WriteDpu(&file, kDst, 16);
  file.Reset();
  EXPECT_EQ(file.Read(Block::kCore, 0, gating), 0x07800800u);
  EXPECT_EQ(file.Read(Block::kCore, 1, gating), 0x07800800u);
  EXPECT_EQ(file.Read(Block::kDpu, 0, kDst), 0u);
  EXPECT_FALSE(file.configured(Block::kDpu));
}

TEST(DecodeText, ShowsFieldsThatAreNotZero) {
  const auto* info = regs::FindRegister(rk::CnaCbufCon0::kOffset);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(DecodeText(*info, 0x93), "CNA.CBUF_CON0 = 0x00000093 {DATA_BANK 3, WEIGHT_BANK 9}");
  EXPECT_EQ(DecodeText(*info, 0), "CNA.CBUF_CON0 = 0x00000000");
}

}  // namespace
}  // namespace npu::sim
