// SPDX-License-Identifier: Apache-2.0
// The int8 reference programs of rk3588-conv-matmul section 15, reproduced register for register:
// E raw int32, F int8, G and H row tiles, I and J depthwise, K fully connected, O matmul, and the
// variants V1 (per channel), V2 (ReLU), V5 (weight zero point 3). There are no differences.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "src/encode/rk3588/conv_task.h"
#include "src/regs/command.h"

namespace npu::encode::rk3588 {
namespace {

using Words = std::map<uint16_t, uint32_t>;

// Section 15, "registers common to all 19 programs".
Words Common() {
  Words w = {{0x4004, 0xE},     {0x5004, 0xE},      {0x104C, 0xB},      {0x1050, 0x10000},
             {0x1054, 0x10000}, {0x1058, 0x10000},  {0x105C, 0x10000},  {0x1070, 0x100000},
             {0x1078, 0xF000F}, {0x1110, 0x200000}, {0x4020, 0x300000}, {0x4060, 0x53},
             {0x4078, 1},       {0x5068, 0x1010101}};
  for (const int r :
       {0x1060, 0x1064, 0x1074, 0x1100, 0x1104, 0x1180, 0x301C, 0x3030, 0x4014, 0x4038,
        0x4044, 0x4048, 0x404C, 0x4064, 0x4068, 0x406C, 0x4074, 0x407C, 0x40C4, 0x5028,
        0x502C, 0x5048, 0x5064, 0x5018, 0x5038, 0x5040, 0x504C, 0x506C}) {
    w[static_cast<uint16_t>(r)] = 0;
  }
  for (uint16_t r = 0x1140; r <= 0x117C; r += 4) w[r] = 0;
  for (uint16_t r = 0x4090; r <= 0x40AC; r += 4) w[r] = 0;
  for (uint16_t r = 0x4100; r <= 0x412C; r += 4) w[r] = 0;
  return w;
}

// Table 15.2: register, then programs E F G H I J K.
constexpr const char* kTable152 = R"(
100C 0 0 0 0 3 3 0
1010 1D0 1D0 1E0 390 340 350 50
1014 9 9 12 9 9 12 9
1020 1C001C 1C001C E1001D 700038 1C001C 380038 10004
1024 3F0040 3F0040 1F0020 1F0020 3F0040 3F0040 3FF0400
1028 1C 1C 70 70 1C 1C 1
102C 310 310 620 1880 310 310 4
1030 9000 9000 2400 800 240 240 20000
1034 240 240 120 20 240 240 400
1038 3030040 3030040 3030020 1010040 3030001 3030001 1010080
1040 93 93 48 48 93 48 A2
1044 1C 1C 71 38 1C 38 10
1068 11 11 0 0 11 11 0
107C 70 70 384 1C0 70 E0 4
1080 2A0 2A0 15F9 16C0 2A0 B60 0
1084 1C001C 1C001C E1001D 700038 1C001C 380038 10004
1088 40 40 20 20 40 40 400
1184 0 FEFEFEFE FFFFFFFF 80808080 FEFEFEFE FEFEFEFE 80808080
3010 0 1 1 1 3 3 1
3014 1B001B 1B001B D006F 37006F 1B001B 1B001B 30000
3018 3F 3F 1F 3F 3F 3F 7F
400C 1E4 1E4 1E4 1E4 1FC 1FC 1E4
4010 80000000 0 0 0 0 0 0
4024 3100 3100 6200 18800 3100 3100 40
4030 1B 1B 6F 6F 1B 1B 0
4034 1B 1B D 37 1B 1B 3
403C 3F003F 3F003F 1F001F 3F003F 3F003F 3F003F 7F007F
4040 53 20150 20150 20150 20150 20150 20150
4050 7FE 124 124 124 36C 36C 124
4054 0 0 0 0 0 0 FFFD
4058 3F 3F 1F 3F 3F 3F 7F
405C 1B001B 1B001B D006F 37006F 1B001B 1B001B 30000
4070 383 383 383 383 383 383 383
4080 0 5 FFFFFF80 FFFFFFFD 5 5 A
4084 1 450B 51B4 4D02 450B 450B 7B36
4088 0 16 16 16 16 16 19
40C0 18800 6200 C400 31000 C400 C400 80
500C 1B 1B 6F 6F 1B 1B 0
5010 1B 1B D 37 1B 1B 3
5014 3F 3F 1F 3F 3F 3F 7F
501C 0 2 2 2 2 2 2
5020 0 400000 400000 400000 400000 400000 400000
5034 1 1 1 1 1 1 1
5044 7810 7810 7810 7810 7816 7816 7810
)";

// Column O of table 15.3.
constexpr const char* kTable153 = R"(
100C 0
1010 410
1014 9
1020 10040
1024 1FF0200
1028 1
102C 40
1030 20000
1034 200
1038 1010100
1040 A2
1044 8
107C 4
1080 3C
1084 10040
1088 200
3010 0
3014 3F0000
3018 FF
400C 1E4
4010 80000000
4024 400
4034 3F
403C FF00FF
4040 53
4050 7FE
4058 FF
405C 3F0000
4070 383
4084 1
40C0 2000
5010 3F
5014 FF
5018 0
5034 1
5038 0
5040 0
5044 7810
504C 0
506C 0
)";

// Registers of table 15.3 that are zero in every program.
constexpr uint16_t kZero153[] = {0x1068, 0x1184, 0x4030, 0x4054, 0x4080,
                                 0x4088, 0x500C, 0x501C, 0x5020};

Words Expected(const char* table, int column) {
  Words w = Common();
  std::istringstream lines(table);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    uint32_t reg = 0, value = 0;
    if (!(cells >> std::hex >> reg)) continue;
    for (int i = 0; i <= column; ++i) cells >> std::hex >> value;
    w[static_cast<uint16_t>(reg)] = value;
  }
  return w;
}

// The addresses of section 15.
uint32_t Address(Slot slot) {
  switch (slot) {
    case Slot::kInput:
      return 0x100000;
    case Slot::kWeights:
      return 0x200000;
    case Slot::kOutput:
      return 0x300000;
    case Slot::kOperands:
      return 0x400000;
    case Slot::kInputB:
      return 0x500000;
  }
  return 0;
}

Words Decode(const TaskProgram& program) {
  std::vector<uint64_t> words = program.words;
  for (const Relocation& r : program.relocations) {
    const regs::CommandWord w = regs::Split(words[r.word]);
    EXPECT_EQ(w.value, 0u);
    words[r.word] =
        regs::MakeWord(static_cast<regs::Target>(w.target), Address(r.slot) + r.offset, w.offset);
  }
  Words out;
  for (size_t i = 0; i + regs::kTailWords < words.size(); ++i) {
    if (words[i] == regs::kNopWord) continue;  // fills the last line
    const regs::CommandWord w = regs::Split(words[i]);
    EXPECT_EQ(out.count(w.offset), 0u) << "written twice: " << std::hex << w.offset;
    out[w.offset] = w.value;
  }
  return out;
}

void ExpectProgram(const ConvTask& task, const Words& expected) {
  const Result<TaskProgram> program = BuildConvTask(task);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->words.size(), 128u);
  const Words actual = Decode(*program);
  for (const auto& [reg, value] : expected) {
    ASSERT_EQ(actual.count(reg), 1u) << std::hex << reg << " is missing";
    EXPECT_EQ(actual.at(reg), value)
        << std::hex << reg << ": " << actual.at(reg) << " instead of " << value;
  }
  for (const auto& [reg, value] : actual) {
    EXPECT_EQ(expected.count(reg), 1u) << std::hex << reg << " = " << value << " is not expected";
  }
}

ConvTask Square(uint32_t channels, uint32_t size) {
  ConvTask t;
  t.ic = t.oc = channels;
  t.ih = t.iw = t.plane_ih = t.oh = t.ow = t.plane_oh = size;
  t.kh = t.kw = 3;
  t.pad_top = t.pad_left = 1;
  t.data_banks = 3;
  t.weight_banks = 9;
  return t;
}

// F: x0 = -2, y0 = 5, gain 0.0042139 = 17675 / 2^22.
ConvTask F() {
  ConvTask t = Square(64, 28);
  t.pad_value = -2;
  t.out_scale = 17675;
  t.out_shift = 22;
  t.out_offset = 5;
  return t;
}

TEST(ReferencePrograms, ERawInt32) {
  ConvTask t = Square(64, 28);
  t.raw_int32 = true;
  ExpectProgram(t, Expected(kTable152, 0));
}

TEST(ReferencePrograms, FInt8) { ExpectProgram(F(), Expected(kTable152, 1)); }

TEST(ReferencePrograms, GRowTile) {
  ConvTask t;
  t.ic = t.oc = 32;
  t.ih = t.plane_ih = 29;
  t.iw = 225;
  t.oh = t.plane_oh = 14;
  t.ow = 112;
  t.kh = t.kw = 3;
  t.sh = t.sw = 2;
  t.pad_value = -1;
  t.data_banks = 8;
  t.weight_banks = 4;
  t.out_scale = 0x51B4;
  t.out_shift = 0x16;
  t.out_offset = -128;
  ExpectProgram(t, Expected(kTable152, 2));
}

TEST(ReferencePrograms, HPointwiseRowTile) {
  ConvTask t;
  t.ic = 32;
  t.oc = 64;
  t.ih = t.plane_ih = t.oh = t.plane_oh = 56;
  t.iw = t.ow = 112;
  t.pad_value = -128;
  t.data_banks = 8;
  t.weight_banks = 4;
  t.out_scale = 0x4D02;
  t.out_shift = 0x16;
  t.out_offset = -3;
  ExpectProgram(t, Expected(kTable152, 3));
}

TEST(ReferencePrograms, IDepthwise) {
  ConvTask t = F();
  t.depthwise = true;
  ExpectProgram(t, Expected(kTable152, 4));
}

TEST(ReferencePrograms, JDepthwiseStride2) {
  ConvTask t = F();
  t.depthwise = true;
  t.ih = t.iw = t.plane_ih = 56;
  t.sh = t.sw = 2;
  t.data_banks = 8;
  t.weight_banks = 4;
  ExpectProgram(t, Expected(kTable152, 5));
}

TEST(ReferencePrograms, KFullyConnected) {
  ConvTask t;
  t.ic = 1024;
  t.oc = 128;
  t.ih = t.plane_ih = t.oh = t.plane_oh = 4;
  t.iw = t.ow = 1;
  t.pad_value = -128;
  t.weight_zero_point = 3;
  t.data_banks = 2;
  t.weight_banks = 10;
  t.out_scale = 0x7B36;
  t.out_shift = 0x19;
  t.out_offset = 10;
  ExpectProgram(t, Expected(kTable152, 6));
}

TEST(ReferencePrograms, OMatmul) {
  ConvTask t;
  t.ic = 512;
  t.oc = 256;
  t.ih = t.plane_ih = t.oh = t.plane_oh = 64;
  t.iw = t.ow = 1;
  t.raw_int32 = true;
  t.data_banks = 2;
  t.weight_banks = 10;
  Words expected = Expected(kTable153, 0);
  for (const uint16_t reg : kZero153) expected[reg] = 0;
  ExpectProgram(t, expected);
}

TEST(ReferencePrograms, V1PerChannel) {
  ConvTask t = F();
  t.per_channel = true;
  t.bs_shift = 15;
  t.out_scale = 0x4EA6;
  t.out_shift = 0x18;
  Words expected = Expected(kTable152, 1);
  expected[0x4010] = 0xF0;
  expected[0x4040] = 0x20140;
  expected[0x4048] = 0xF01;
  expected[0x4084] = 0x4EA6;
  expected[0x4088] = 0x18;
  expected[0x501C] = 0xE;
  ExpectProgram(t, expected);
}

TEST(ReferencePrograms, V2FusedRelu) {
  ConvTask t = F();
  t.relu = true;
  Words expected = Expected(kTable152, 1);
  expected[0x4060] = 0x12;
  ExpectProgram(t, expected);
}

// ReLUx: the encoding 0x92 of rk3588-dpu-ppu 4.3, limit in 406C.
TEST(ReferencePrograms, ReluxInBn) {
  ConvTask t = F();
  t.relu = t.relux = true;
  t.relux_limit = 12345;
  Words expected = Expected(kTable152, 1);
  expected[0x4060] = 0x92;
  expected[0x406C] = 12345;
  ExpectProgram(t, expected);
}

TEST(ReferencePrograms, V5WeightZeroPoint) {
  ConvTask t = F();
  t.weight_zero_point = 3;
  Words expected = Expected(kTable152, 1);
  expected[0x4054] = 0xFFFD;
  ExpectProgram(t, expected);
}

// rk3588-conv-matmul 3.2: negative surface strides of low planes, as 28-bit two's complement.
TEST(ReferencePrograms, SurfaceStrideOfLowPlanes) {
  for (const auto& [size, stride] :
       {std::pair{3u, 0x0FFFFFFDu}, {2u, 0x0FFFFFFCu}, {1u, 0x0FFFFFFDu}, {7u, 21u}}) {
    const Result<TaskProgram> program = BuildConvTask(Square(32, size));
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(Decode(*program).at(0x1080), stride);
  }
}

TEST(ReferencePrograms, Framing) {
  const Result<TaskProgram> program = BuildConvTask(F());
  ASSERT_TRUE(program.ok());
  const std::vector<uint64_t>& w = program->words;
  EXPECT_EQ(w[0], 0x10010000000E4004u);
  EXPECT_EQ(w[1], 0x20010000000E5004u);
  EXPECT_EQ(w[124], 0u);
  EXPECT_EQ(w[125], 0x0101000000000014u);
  EXPECT_EQ(w[126], 0x0041000000000000u);
  EXPECT_EQ(w[127], 0x00810000001D0008u);
  for (size_t i = 3; i < 122; ++i) EXPECT_LT(w[i - 1] & 0xFFFF, w[i] & 0xFFFF);
}

// Relocations carry the tile's offsets; 5020 is open only where operands are read.
TEST(ReferencePrograms, Relocations) {
  ConvTask t = F();
  t.input_offset = 16;
  t.output_offset = 32;
  t.weights_offset = 48;
  t.operands_offset = 64;
  const Result<TaskProgram> program = BuildConvTask(t);
  ASSERT_TRUE(program.ok());
  const Words words = Decode(*program);
  EXPECT_EQ(words.at(0x1070), 0x100010u);
  EXPECT_EQ(words.at(0x4020), 0x300020u);
  EXPECT_EQ(words.at(0x1110), 0x200030u);
  EXPECT_EQ(words.at(0x5020), 0x400040u);
  EXPECT_EQ(program->relocations.size(), 4u);
  t.raw_int32 = true;
  EXPECT_EQ(BuildConvTask(t)->relocations.size(), 3u);
}

// A value that does not fit its field is an error that names it, never a truncation.
TEST(ReferencePrograms, RefusesWhatDoesNotFit) {
  ConvTask t = F();
  t.pad_top = 16;
  const Result<TaskProgram> padding = BuildConvTask(t);
  ASSERT_FALSE(padding.ok());
  EXPECT_EQ(padding.status().code(), ErrorCode::kOutOfRange);
  EXPECT_NE(padding.status().message().find("PAD_TOP"), std::string::npos)
      << padding.status().message();
  t = F();
  t.input_offset = uint64_t{1} << 32;
  EXPECT_FALSE(BuildConvTask(t).ok());
}

}  // namespace
}  // namespace npu::encode::rk3588
