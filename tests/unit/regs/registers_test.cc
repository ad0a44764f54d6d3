// SPDX-License-Identifier: Apache-2.0
// The generated registers against registers-rk3588 sections 2, 3.3, 7 and 13.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "src/regs/command.h"

namespace npu::regs {
namespace {

using namespace rk3588;  // NOLINT: the test is about these names

template <typename Reg>
uint32_t Word(const Reg& reg) {
  const Result<uint32_t> word = Encode(reg);
  EXPECT_TRUE(word.ok()) << word.status().message();
  return word.ok() ? *word : 0xDEADBEEF;
}

TEST(CommandWord, SixWorkedExamplesOfSection2) {
  EXPECT_EQ(*MakeWord(CnaConvCon3{.conv_x_stride = 1, .conv_y_stride = 1}), 0x0201'00000009'1014u);
  EXPECT_EQ(*MakeWord(DpuSPointer{.pointer_pp_en = true,
                                  .executer_pp_en = true,
                                  .pointer_pp_mode = PointerPpMode::kByPointer}),
            0x1001'0000000E'4004u);
  EXPECT_EQ(*MakeWord(PcBaseAddress{.pc_source_addr = 0xFFFDDB80u}), 0x0101'FFFDDB80'0010u);
  EXPECT_EQ(*MakeWord(PcRegisterAmounts{.pc_data_amount = Var(LengthCode(112))}),
            0x0101'00000037'0014u);
  EXPECT_EQ(kSyncWord, 0x0041'00000000'0000u);
  EXPECT_EQ(EnableWord(kEnableConv), 0x0081'0000001D'0008u);
}

TEST(CommandWord, SplitUndoesMakeWord) {
  const CommandWord word = Split(0x0201'80000009'1014u);
  EXPECT_EQ(word, (CommandWord{0x0201, 0x80000009u, 0x1014}));
  EXPECT_EQ(MakeWord(Target::kCna, word.value, word.offset), 0x0201'80000009'1014u);
}

TEST(CommandWord, TargetsFollowTheRegularityOfSection1) {
  for (const BlockInfo& block : kBlocks) {
    if (!block.has_target || block.enable_bit < 0) continue;
    EXPECT_EQ(static_cast<uint16_t>(block.target), (1u << (block.enable_bit + 9)) | 1u)
        << block.name;
    EXPECT_EQ(BlockOf(static_cast<uint16_t>(block.target)), block.block);
    EXPECT_EQ(TargetOf(block.block), block.target);
    EXPECT_EQ(FindTarget(block.name), block.target);
    EXPECT_EQ(TargetName(static_cast<uint16_t>(block.target)), block.name);
  }
  EXPECT_EQ(EnableBitOf(Block::kDpuRdma), 4u);
  EXPECT_FALSE(EnableBitOf(Block::kPc));
  EXPECT_FALSE(TargetOf(Block::kDdma));
  EXPECT_FALSE(BlockOf(0x0001));
  EXPECT_EQ(TargetName(0x0001), "");
}

TEST(CommandWord, RegisterOutsideCommandListsIsRefused) {
  const Result<uint64_t> word = MakeWord(GlobalOperationEnable{});
  ASSERT_FALSE(word.ok());
  EXPECT_EQ(word.status().code(), ErrorCode::kInvalidArgument);
}

TEST(LengthCode, OneToTwentyOfSection13) {
  const std::vector<uint32_t> expected = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4,
                                          5, 5, 6, 6, 7, 7, 8, 8, 9, 9};
  for (uint32_t n = 1; n <= 20; ++n) EXPECT_EQ(LengthCode(n), expected[n - 1]) << n;
  EXPECT_EQ(LengthCode(126), 0x3Eu);
  EXPECT_EQ(LengthCode(130), 0x40u);
  EXPECT_EQ(LengthCode(std::numeric_limits<uint32_t>::max()), 0x7FFFFFFFu);
}

TEST(LengthCode, ChainVectorOfSection13) {
  EXPECT_EQ(*MakeWord(PcBaseAddress{.pc_source_addr = 0x103F0}), 0x0101'000103F0'0010u);
  EXPECT_EQ(*MakeWord(PcRegisterAmounts{.pc_data_amount = Var(LengthCode(126))}),
            0x0101'0000003E'0014u);
}

TEST(CompositeWord, BsAndBn) {
  EXPECT_EQ(Word(DpuBsCfg{.bs_mul_bypass = 1,
                          .bs_relu_bypass = 1,
                          .bs_alu_src = OperandSrc::kDma,
                          .bs_alu_algo = AluAlgoAffine::kAdd}),
            0x00020150u);
  EXPECT_EQ(
      Word(DpuBsCfg{
          .bs_relu_bypass = 1, .bs_alu_src = OperandSrc::kDma, .bs_alu_algo = AluAlgoAffine::kAdd}),
      0x00020140u);
  EXPECT_EQ(Word(DpuBsMulCfg{.bs_mul_src = OperandSrc::kDma, .bs_mul_shift_value = 14}), 0xE01u);
  EXPECT_EQ(Word(DpuDataFormat{.bs_mul_shift_value_neg = 14}), 0xE0u);
  EXPECT_EQ(Word(DpuBnCfg{.bn_alu_bypass = 1, .bn_mul_bypass = 1}), 0x12u);
  EXPECT_EQ(Word(DpuBnCfg{.bn_relu_bypass = 1, .bn_alu_algo = AluAlgoAffine::kAdd}), 0x00020040u);
}

// Words whose meaning the table of section 7 gives in prose: every one is made of declared bits
// only and survives decode -> encode through its struct.
template <typename Reg>
void ExpectRoundTrip(const std::vector<uint32_t>& words) {
  const RegisterInfo* info = FindRegister(Reg::kOffset);
  ASSERT_NE(info, nullptr);
  for (const uint32_t word : words) {
    EXPECT_EQ(word & ~info->field_mask, 0u) << Reg::kName << std::hex << word;
    EXPECT_EQ(Word(Decode<Reg>(word)), word) << Reg::kName << std::hex << word;
  }
}

TEST(CompositeWord, EveryWordOfSection7RoundTrips) {
  ExpectRoundTrip<DpuBsCfg>({0x20150, 0x20140});
  ExpectRoundTrip<DpuBsMulCfg>({0xE01});
  ExpectRoundTrip<DpuBnCfg>({0x12, 0x20040});
  ExpectRoundTrip<DpuEwCfg>(
      {0x108202C0, 0x108402C0, 0x108002C0, 0x108102C0, 0x108003C4, 0x108303C0, 0x904202C0, 0x300});
  ExpectRoundTrip<DpuFeatureModeCfg>({0x1E4, 0x1FC, 0x1E5});
  ExpectRoundTrip<DpuDataFormat>({0xE0, 0x48000002, 0xA8000002, 0x80000000, 0});
  ExpectRoundTrip<DpuRdmaFeatureModeCfg>({0x7810, 0x7D00, 0x17D40, 0x17849});
  ExpectRoundTrip<DpuRdmaErdmaCfg>({1, 0x40000004, 0x40000008, 0x4000000C});
  ExpectRoundTrip<DpuRdmaBrdmaCfg>({0x02, 0x0E});
  ExpectRoundTrip<CnaConvCon1>({0, 0x120, 0x123, 0x60008000, 0x6000A000});
}

TEST(CompositeWord, DecodedFieldsMeanWhatSection7Says) {
  EXPECT_EQ(Decode<DpuDataFormat>(0x48000002).out_precision.as_enum(), PrecisionDpu::kFp16);
  EXPECT_EQ(Decode<DpuDataFormat>(0xA8000002).out_precision.as_enum(), PrecisionDpu::kFp32);
  EXPECT_EQ(Decode<DpuDataFormat>(0x80000000).out_precision.as_enum(), PrecisionDpu::kInt32);
  EXPECT_EQ(Decode<CnaConvCon1>(0x123).conv_mode.as_enum(), ConvMode::kDepthwise);
  EXPECT_EQ(Decode<CnaConvCon1>(0x120).proc_precision.as_enum(), PrecisionMac::kFp16);
  EXPECT_EQ(Decode<CnaConvCon1>(0x6000A000).argb_in.get(), 10);
  EXPECT_EQ(Decode<DpuFeatureModeCfg>(0x1E5).flying_mode.get(), 1);
  EXPECT_EQ(Decode<DpuFeatureModeCfg>(0x1E4).output_mode.as_enum(), OutputMode::kToMemory);
}

TEST(Registers, TableCoversTheSpecification) {
  size_t fields = 0;
  std::set<std::string> names;
  uint32_t last = 0;
  for (const RegisterInfo& info : Registers()) {
    fields += info.fields.size();
    names.insert(std::string(info.full_name));
    EXPECT_TRUE(info.offset > last || &info == Registers().data()) << info.full_name;
    last = info.offset;
    EXPECT_EQ(FindRegister(info.offset), &info);
    EXPECT_EQ(FindRegister(info.full_name), &info);
  }
  EXPECT_EQ(Registers().size(), 201u);
  EXPECT_EQ(fields, 534u);
  EXPECT_EQ(names.size(), 201u);
  EXPECT_EQ(FindRegister(0x1002u), nullptr);
  EXPECT_EQ(FindRegister("CNA.NOTHING"), nullptr);
}

TEST(Registers, EveryFieldTakesItsExtremesAndRefusesTheNextValue) {
  for (const RegisterInfo& info : Registers()) {
    for (size_t i = 0; i < info.fields.size(); ++i) {
      const FieldInfo& field = info.fields[i];
      const int64_t min = FieldMin(field.width, field.kind == FieldKind::kSigned);
      const int64_t max = FieldMax(field.lsb, field.width, field.kind);
      std::vector<int64_t> values(info.fields.size(), 0);
      for (const int64_t v : {min, max, int64_t{0}}) {
        values[i] = v;
        const Result<uint32_t> word = EncodeFields(info, values);
        ASSERT_TRUE(word.ok()) << word.status().message();
        EXPECT_EQ(*word & ~FieldMask(field.lsb, field.width), 0u);
        EXPECT_EQ(FieldExtract(*word, field.lsb, field.width, field.kind), v)
            << info.full_name << "." << field.name;
        for (size_t k = 0; k < info.fields.size(); ++k) {
          const FieldInfo& other = info.fields[k];
          if (k == i) continue;
          EXPECT_EQ(FieldExtract(*word, other.lsb, other.width, other.kind), 0);
        }
      }
      for (const int64_t v : {min - 1, max + 1}) {
        values[i] = v;
        const Result<uint32_t> word = EncodeFields(info, values);
        ASSERT_FALSE(word.ok());
        const std::string full = std::string(info.full_name) + "." + std::string(field.name);
        EXPECT_NE(word.status().message().find(full), std::string::npos) << word.status().message();
        EXPECT_EQ(word.status().code(), ErrorCode::kOutOfRange);
      }
    }
  }
}

TEST(Registers, NeutralWordsOfSection6) {
  EXPECT_EQ(CnaCvtCon0::kNeutral, 0x0000000Bu);
  EXPECT_EQ(CnaDmaCon0::kNeutral, 0x000F000Fu);
  EXPECT_EQ(DpuBsCfg::kNeutral, 0x00000053u);
  EXPECT_EQ(DpuBnCfg::kNeutral, 0x00000053u);
  EXPECT_EQ(DpuEwCfg::kNeutral, 0x00000383u);
  EXPECT_EQ(DpuRdmaFeatureModeCfg::kNeutral, 0x00007810u);
  EXPECT_EQ(DpuRdmaErdmaCfg::kNeutral, 0x00000001u);
  EXPECT_EQ(FindRegister("CORE.MAC_GATING")->reset, 0x07800800u);
}

TEST(RunTimeWidth, OverflowNamesRegisterFieldValueAndWidth) {
  const Result<uint32_t> word = Encode(CnaDataSize0{.datain_height = Var(4096)});
  ASSERT_FALSE(word.ok());
  EXPECT_EQ(word.status().code(), ErrorCode::kOutOfRange);
  EXPECT_EQ(word.status().message(),
            "CNA.DATA_SIZE0.DATAIN_HEIGHT: 4096 does not fit 11 bits (0..2047)");
}

TEST(RunTimeWidth, HugeUnsignedAndNegativeValuesAreRefused) {
  EXPECT_FALSE(Encode(CnaDataSize0{.datain_height = Var(~uint64_t{0})}).ok());
  EXPECT_FALSE(Encode(CnaDataSize0{.datain_height = Var(-1)}).ok());
  EXPECT_FALSE(Encode(DpuOutCvtScale{.out_cvt_scale = Var(32768)}).ok());
  EXPECT_EQ(Word(DpuOutCvtScale{.out_cvt_scale = Var(-32768)}), 0x8000u);
  EXPECT_EQ(Word(CnaDmaCon2{.surf_stride = Var(-3)}), 0x0FFFFFFDu);
  EXPECT_EQ(Decode<CnaDmaCon2>(0x0FFFFFFD).surf_stride.get(), -3);
}

TEST(RunTimeWidth, UnalignedAddressIsRefused) {
  const Result<uint32_t> word = Encode(PcBaseAddress{.pc_source_addr = Var(0x1008)});
  ASSERT_FALSE(word.ok());
  EXPECT_EQ(word.status().message(),
            "PC.BASE_ADDRESS.PC_SOURCE_ADDR: address 0x1008 is not a multiple of 16");
}

}  // namespace
}  // namespace npu::regs
