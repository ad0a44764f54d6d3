// SPDX-License-Identifier: Apache-2.0
#include "src/regs/disassembler.h"

#include <gtest/gtest.h>

#include <random>

#include "src/regs/assembler.h"
#include "src/regs/command.h"

namespace npu::regs {
namespace {

TEST(Disassembler, ShowsNamesOfRegistersFieldsAndValues) {
  EXPECT_EQ(DisassembleWord(0x0201'00000009'1014),
            "CNA.CONV_CON3 CONV_X_STRIDE=1 CONV_Y_STRIDE=1 NN_MODE=M32x32");
  EXPECT_EQ(DisassembleWord(0x0101'FFFDDB80'0010), "PC.BASE_ADDRESS PC_SOURCE_ADDR=0xFFFDDB80");
  EXPECT_EQ(DisassembleWord(0x0201'0FFFFFFD'1080), "CNA.DMA_CON2 SURF_STRIDE=-3");
  EXPECT_EQ(DisassembleWord(0x0201'00000123'100C),
            "CNA.CONV_CON1 CONV_MODE=DEPTHWISE IN_PRECISION=FP16 PROC_PRECISION=FP16 ARGB_IN=OFF");
}

TEST(Disassembler, ActionsAndUnknownWords) {
  EXPECT_EQ(DisassembleWord(0), "NOP");
  EXPECT_EQ(DisassembleWord(kSyncWord), "SYNC");
  EXPECT_EQ(DisassembleWord(EnableWord(0x1D)), "ENABLE CNA CORE DPU DPU_RDMA");
  EXPECT_EQ(DisassembleWord(EnableWord(0)), "ENABLE");
  EXPECT_EQ(DisassembleWord(EnableWord(0x1F)), ".word 0x00810000001F0008") << "bit 1 has no block";
  EXPECT_EQ(DisassembleWord(0x0001'00000000'0000), ".word 0x0001000000000000");
  EXPECT_EQ(DisassembleWord(0x0201'00000000'4004), ".word 0x0201000000004004") << "wrong block";
  EXPECT_EQ(DisassembleWord(0x0041'00000001'0000), ".word 0x0041000000010000");
}

TEST(Disassembler, ReservedBitsAreShown) {
  EXPECT_EQ(DisassembleWord(0x0201'00800000'1028), "CNA.DATA_SIZE2 RESERVED=0x00800000");
}

TEST(Disassembler, AllFieldsShowsZeros) {
  EXPECT_EQ(DisassembleWord(0x0201'00000000'1020), "CNA.DATA_SIZE0");
  EXPECT_EQ(DisassembleWord(0x0201'00000000'1020, true),
            "CNA.DATA_SIZE0 DATAIN_HEIGHT=0 DATAIN_WIDTH=0");
}

void ExpectRoundTrip(const std::vector<uint64_t>& words) {
  for (const bool all : {false, true}) {
    for (const bool comments : {false, true}) {
      const std::string text = Disassemble(words, {.all_fields = all, .word_comments = comments});
      const Result<std::vector<uint64_t>> back = Assemble(text);
      ASSERT_TRUE(back.ok()) << back.status().message();
      EXPECT_EQ(*back, words);
    }
  }
}

TEST(Assembler, RoundTripsEveryRegisterWithEveryBit) {
  std::vector<uint64_t> words;
  for (const RegisterInfo& info : rk3588::Registers()) {
    const std::optional<Target> target = TargetOf(info.block);
    if (!target) continue;
    for (unsigned bit = 0; bit < 32; ++bit) {
      words.push_back(MakeWord(*target, 1u << bit, info.offset));
    }
    words.push_back(MakeWord(*target, 0xFFFFFFFFu, info.offset));
    words.push_back(MakeWord(*target, info.neutral.value_or(0), info.offset));
  }
  ExpectRoundTrip(words);
}

TEST(Assembler, RoundTripsRandomWords) {
  std::mt19937_64 random(20260101);
  std::vector<uint64_t> words;
  for (int i = 0; i < 20000; ++i) words.push_back(random());
  for (int i = 0; i < 20000; ++i) {  // words that hit registers
    const RegisterInfo& info = rk3588::Registers()[random() % rk3588::Registers().size()];
    const std::optional<Target> target = TargetOf(info.block);
    if (target) words.push_back(MakeWord(*target, static_cast<uint32_t>(random()), info.offset));
  }
  for (uint32_t mask = 0; mask < 256; ++mask) words.push_back(EnableWord(mask));
  ExpectRoundTrip(words);
}

TEST(Assembler, AcceptsNumbersForNamesCommentsAndBlankLines) {
  const Result<std::vector<uint64_t>> words =
      Assemble("# head\n\n  CNA.CONV_CON1 CONV_MODE=3\tIN_PRECISION=0x2  # tail\r\nNOP\nSYNC");
  ASSERT_TRUE(words.ok()) << words.status().message();
  EXPECT_EQ(*words, (std::vector<uint64_t>{0x0201'00000023'100C, 0, kSyncWord}));
}

std::string Refusal(std::string_view text) {
  const Result<std::vector<uint64_t>> words = Assemble(text);
  EXPECT_FALSE(words.ok());
  return words.ok() ? std::string() : words.status().message();
}

TEST(AssemblerRefuses, ValueWiderThanItsFieldNamingTheLine) {
  EXPECT_EQ(Refusal("NOP\n# comment\nCNA.CONV_CON3 CONV_X_STRIDE=8\n"),
            "line 3: CNA.CONV_CON3.CONV_X_STRIDE: 8 does not fit 3 bits (0..7)");
  EXPECT_EQ(Refusal("DPU.OUT_CVT_SCALE OUT_CVT_SCALE=32768"),
            "line 1: DPU.OUT_CVT_SCALE.OUT_CVT_SCALE: 32768 does not fit 16 bits (-32768..32767)");
  EXPECT_EQ(Refusal("PC.BASE_ADDRESS PC_SOURCE_ADDR=0x1008"),
            "line 1: PC.BASE_ADDRESS.PC_SOURCE_ADDR: address 0x1008 is not a multiple of 16");
}

TEST(AssemblerRefuses, UnknownNames) {
  EXPECT_EQ(Refusal("NOP\nCNA.NOTHING X=1"), "line 2: unknown register \"CNA.NOTHING\"");
  EXPECT_NE(Refusal("CNA.DATA_SIZE0 WIDTH=1")
                .find("line 1: CNA.DATA_SIZE0 has no field \"WIDTH\"; it "
                      "has: DATAIN_HEIGHT DATAIN_WIDTH"),
            std::string::npos);
  EXPECT_NE(Refusal("CNA.CONV_CON1 CONV_MODE=WINOGRAD").find("DIRECT DEPTHWISE"),
            std::string::npos);
  EXPECT_NE(Refusal("ENABLE CNA GPU").find("\"GPU\" is no block"), std::string::npos);
  EXPECT_NE(Refusal("GLOBAL.OPERATION_ENABLE").find("cannot be written"), std::string::npos);
}

TEST(AssemblerRefuses, MalformedLines) {
  EXPECT_NE(Refusal("CNA.DATA_SIZE0 DATAIN_WIDTH").find("FIELD=VALUE"), std::string::npos);
  EXPECT_NE(Refusal("CNA.DATA_SIZE0 DATAIN_WIDTH=").find("neither a number"), std::string::npos);
  EXPECT_NE(Refusal("CNA.DATA_SIZE0 DATAIN_WIDTH=1 DATAIN_WIDTH=1").find("twice"),
            std::string::npos);
  EXPECT_NE(Refusal("CNA.DATA_SIZE0 DATAIN_WIDTH=99999999999999999999").find("neither"),
            std::string::npos);
  EXPECT_NE(Refusal("CNA.DATA_SIZE2 RESERVED=1").find("no mask of reserved bits"),
            std::string::npos);
  EXPECT_NE(Refusal("NOP 1").find("takes no fields"), std::string::npos);
  EXPECT_NE(Refusal(".word").find("one 64-bit number"), std::string::npos);
  EXPECT_NE(Refusal(".word 0x11112222333344445").find("one 64-bit number"), std::string::npos);
}

}  // namespace
}  // namespace npu::regs
