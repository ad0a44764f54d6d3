// SPDX-License-Identifier: Apache-2.0
// Profiles against the numbers of the specification, and against the widths of the registers.
#include "src/chip/profile.h"

#include <gtest/gtest.h>

#include "src/regs/command.h"

namespace npu::chip {
namespace {

const Profile& Rk3588() {
  const Profile* profile = FindChip("rk3588");
  EXPECT_NE(profile, nullptr);
  return *profile;
}

TEST(Profile, UnknownChipIsNull) {
  EXPECT_EQ(FindChip("rk3599"), nullptr);
  EXPECT_EQ(FindChip(""), nullptr);
  EXPECT_EQ(Rk3588().FindPrecision("int7"), nullptr);
}

TEST(Profile, EveryListedChipIsFoundByItsName) {
  ASSERT_FALSE(AllChips().empty());
  for (const Profile* profile : AllChips()) EXPECT_EQ(FindChip(profile->name), profile);
}

TEST(Profile, Rk3588CbufAndGroups) {
  const Profile& chip = Rk3588();
  EXPECT_EQ(chip.cores, 3u);
  EXPECT_EQ(chip.cbuf.banks * chip.cbuf.bank_bytes, 12u * 32768u);
  EXPECT_EQ(chip.cbuf.bank_bytes / chip.cbuf.entry_bytes, 512u);
  const Precision* int8 = chip.FindPrecision("int8");
  ASSERT_NE(int8, nullptr);
  EXPECT_EQ(int8->feature_c2 * int8->bits / 8, chip.layout.atom_bytes);
  EXPECT_EQ(int8->weight_ic_group, 32u);
  EXPECT_EQ(int8->kernel_group, 32u);
  EXPECT_EQ(int8->depthwise_group, 64u);
  EXPECT_EQ(int8->mac_per_cycle, 1024u);
  EXPECT_EQ(chip.memory.address_space_bytes, uint64_t{1} << 32);
}

TEST(Profile, EveryPrecisionFillsAnAtomExactly) {
  for (const Precision& p : Rk3588().layout.precisions) {
    EXPECT_EQ(p.feature_c2 * p.bits, Rk3588().layout.atom_bytes * 8) << p.name;
  }
}

TEST(Profile, CostIsThatOfPerformanceFacts) {
  const Cost& cost = Rk3588().cost;
  EXPECT_EQ(cost.eta, 0.91);
  EXPECT_EQ(cost.dma_bytes_per_cycle, 11.5);
  EXPECT_NEAR(cost.dram_share * cost.dram_peak_gbps, 23.7, 0.05);
  EXPECT_EQ(cost.task_us, 4.0);
  EXPECT_EQ(cost.rearm_us, 15.0);
}

// A limit that its register field cannot hold would be refused by Encode: the two must agree.
TEST(Profile, LimitsFitTheRegisterFields) {
  using namespace regs::rk3588;  // NOLINT: register names
  using regs::Var;
  const FeatureLimits& f = Rk3588().feature;
  EXPECT_TRUE(Encode(CnaDataSize0{.datain_height = Var(f.input_height_max),
                                  .datain_width = Var(f.input_width_max)})
                  .ok());
  EXPECT_FALSE(Encode(CnaDataSize0{.datain_width = Var(f.input_width_max + 1)}).ok());
  EXPECT_TRUE(Encode(CnaDataSize2{.dataout_width = Var(f.output_width_max)}).ok());
  EXPECT_TRUE(Encode(CnaConvCon2{.feature_grains = Var(f.feature_grains_max)}).ok());
  EXPECT_FALSE(Encode(CnaConvCon2{.feature_grains = Var(f.feature_grains_max + 1)}).ok());
  EXPECT_TRUE(Encode(CnaConvCon3{.conv_x_stride = Var(f.stride_max),
                                 .atrous_x_dilation = Var(f.dilation_max - 1)})
                  .ok());
  EXPECT_FALSE(Encode(CnaConvCon3{.conv_x_stride = Var(f.stride_max + 1)}).ok());
  EXPECT_FALSE(Encode(CnaConvCon3{.atrous_x_dilation = Var(f.dilation_max)}).ok());
  EXPECT_TRUE(Encode(CnaPadCon0{.pad_top = Var(f.pad_max), .pad_left = Var(f.pad_max)}).ok());
  EXPECT_FALSE(Encode(CnaPadCon0{.pad_left = Var(f.pad_max + 1)}).ok());
  EXPECT_TRUE(Encode(CnaCbufCon1{.data_entries = Var(f.data_entries_max)}).ok());
  EXPECT_TRUE(Encode(CnaWeightSize1{.weight_bytes_per_kernel = Var(f.kernel_bytes_max)}).ok());
  EXPECT_TRUE(Encode(DpuOutCvtScale{.out_cvt_scale = Var(f.out_scale_max)}).ok());
  EXPECT_FALSE(Encode(DpuOutCvtScale{.out_cvt_scale = Var(f.out_scale_max + 1)}).ok());
  EXPECT_TRUE(Encode(DpuDataCubeChannel{.channel = Var(f.output_channels_max - 1)}).ok());
  EXPECT_TRUE(Encode(PcTaskCon{.task_number = Var(Rk3588().memory.tasks_per_kick_max)}).ok());
  EXPECT_FALSE(Encode(PcTaskCon{.task_number = Var(Rk3588().memory.tasks_per_kick_max + 1)}).ok());
  EXPECT_TRUE(Encode(PcRegisterAmounts{.pc_data_amount = Var(
                                           regs::LengthCode(Rk3588().memory.command_words_max))})
                  .ok());
}

}  // namespace
}  // namespace npu::chip
