// SPDX-License-Identifier: Apache-2.0
// The stages as pure functions against the worked numbers of the specification.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "src/sim/cna.h"
#include "src/sim/decode.h"
#include "src/sim/dpu.h"
#include "src/sim/rdma.h"
#include "src/sim/writer.h"

namespace npu::sim {
namespace {

// registers-rk3588 13.8: a 3x3 fp16 cube; surface 1 is channel 8.
TEST(FeatureReader, NegativeSurfaceStrideOfAThreeRowPlane) {
  ConvConfig c;
  c.ih = c.iw = 3;
  c.line_stride = 12;
  c.surf_stride = -3;
  EXPECT_EQ(FeatureAddress(c, 1, 2, 1), 256);
  c.surf_stride = 0;
  EXPECT_EQ(FeatureAddress(c, 1, 2, 1), 304);
}

// conv-matmul 3.1 example (37, 2, 3) of int8 8x8, whose surfaces hold 16 channels.
TEST(FeatureReader, DenseCube) {
  ConvConfig c;
  c.ih = c.iw = 8;
  c.line_stride = 32;
  c.surf_stride = 8 * (8 - 4);
  c.feature_base = 0x1000;
  EXPECT_EQ(FeatureAddress(c, 37 / 16, 2, 3) + 37 % 16, 0x1000 + 2 * 1024 + 19 * 16 + 5);
}

TEST(FeatureReader, RowMajorMatrix) {
  ConvConfig c;
  c.iw = 1;
  c.ih = 64;
  c.lines_per_burst = 1;
  c.line_stride = 32;  // K = 512 int8
  c.surf_stride = 0;
  EXPECT_EQ(FeatureAddress(c, 3, 5, 0), 5 * 512 + 3 * 16);
}

TEST(WeightStream, DirectExample) {
  ConvConfig c;
  c.ic = 64;
  c.kernels = 64;
  c.kh = c.kw = 3;
  EXPECT_EQ(WeightOffset(c, 21, 40, 1, 2), 15016);
}

TEST(WeightStream, DepthwiseExamples) {
  ConvConfig c;
  c.depthwise = true;
  c.kernels = 1;
  c.kh = c.kw = 3;
  c.ic = 64;
  EXPECT_EQ(WeightOffset(c, 0, 50, 1, 2), 370);
  c.ic = 96;  // a short last group has a shorter tap pitch
  EXPECT_EQ(WeightOffset(c, 0, 70, 1, 2), 742);
}

TEST(Cbuf, EntriesOfTheExamples) {
  EXPECT_EQ(EntriesPerLine(28, 64), 28);
  EXPECT_EQ(EntriesPerLine(7, 48), 7);     // erratum E19: the plain formula says 6
  EXPECT_EQ(EntriesPerLine(14, 112), 28);  // and 25
  EXPECT_EQ(EntriesPerLine(40, 40), 40);
  EXPECT_EQ(EntriesPerLine(1, 672), 11);
  EXPECT_EQ(EntriesPerLine(225, 32), 113);
  EXPECT_EQ(BanksNeeded(144, 11), 4);
  EXPECT_EQ(BanksNeeded(29, 113), 7);
}

// conv-matmul 5.1: where the plain byte count is one bank short, for W = 1.
TEST(Cbuf, PredictsTheMeasuredWindowsOfErratumE3) {
  const auto short_by_bytes = [](int m, int k) {
    return BanksNeeded(m, EntriesPerLine(1, k)) > (m * k + 32767) / 32768;
  };
  const auto bad = [&](int m, std::initializer_list<int> sets) {
    for (int i = 1; i <= 37; ++i) {
      const bool expected = std::find(sets.begin(), sets.end(), i) != sets.end();
      if (short_by_bytes(m, i * 32) != expected) return false;
    }
    return true;
  };
  EXPECT_TRUE(bad(144, {7, 21, 35}));
  EXPECT_TRUE(bad(192, {5, 21, 37}));
  EXPECT_TRUE(bad(240, {17, 21, 25, 29}));
  for (int m = 180; m <= 225; ++m) {
    EXPECT_EQ(short_by_bytes(m, 1184), (m >= 189 && m <= 193) || (m >= 216 && m <= 221)) << m;
  }
}

DpuConfig OutputOf(OutType type, int16_t scale, uint8_t shift, int32_t offset) {
  DpuConfig d;
  d.out_type = type;
  d.out_cvt.scale = scale;
  d.out_cvt.shift = shift;
  d.out_cvt.offset = offset;
  return d;
}

int8_t Byte(const DpuConfig& d, int32_t acc) {
  return static_cast<int8_t>(DpuElement(d, {}, acc, 0, 0));
}

// The rounding table of conv-matmul 6.6.
TEST(OutConverter, RoundingTable) {
  DpuConfig d = OutputOf(OutType::kInt8, 16384, 15, 0);
  EXPECT_EQ(Byte(d, 5), 2);
  EXPECT_EQ(Byte(d, 7), 4);
  EXPECT_EQ(Byte(d, -5), -2);
  EXPECT_EQ(Byte(d, -7), -4);
  d.out_cvt.rounding = arith::Rounding::kHalfAway;
  EXPECT_EQ(Byte(d, 5), 3);
  EXPECT_EQ(Byte(d, 7), 4);
  EXPECT_EQ(Byte(d, -5), -3);
  EXPECT_EQ(Byte(d, -7), -4);
  EXPECT_EQ(Byte(OutputOf(OutType::kInt8, 17675, 22, 0), 1134), 5);
}

TEST(OutConverter, OffsetAfterTheShiftSaturationAfterTheOffset) {
  EXPECT_EQ(Byte(OutputOf(OutType::kInt8, 1, 0, -100), 200), 100);
  EXPECT_EQ(Byte(OutputOf(OutType::kInt8, 1, 0, 100), 100), 127);
  EXPECT_EQ(Byte(OutputOf(OutType::kInt8, -32768, 15, 0), 5), -5);
}

TEST(OutConverter, ScaleThreeTriplesCastedOutputs) {
  const DpuConfig d = OutputOf(OutType::kFp32, 3, 0, 0);
  EXPECT_EQ(std::bit_cast<float>(DpuElement(d, {}, -7, 0, 0)), -21.0f);
  const DpuConfig one = OutputOf(OutType::kFp32, 1, 0, 0);
  EXPECT_EQ(std::bit_cast<float>(DpuElement(one, {}, 16777217, 0, 0)), 16777216.0f);
  EXPECT_EQ(std::bit_cast<float>(DpuElement(one, {}, 16777219, 0, 0)), 16777220.0f);
}

// conv-matmul 6.3: x = [5, -7], x0 = 1, w = [4, -2], w0 = 3, bias 10: 54.
TEST(Cpend, WorkedExample) {
  DpuConfig d = OutputOf(OutType::kInt32, 1, 0, 0);
  d.cpend = true;
  d.bs.alu = true;
  ChannelOperands operands;
  operands.ow_op = -3;
  operands.bs_add = 14;
  EXPECT_EQ(static_cast<int32_t>(DpuElement(d, operands, 34, -2, 0)), 54);
  d.cpend = false;
  EXPECT_EQ(static_cast<int32_t>(DpuElement(d, operands, 34, -2, 0)), 48);
}

// conv-matmul 6.7: C = {32767, 8192, 1365}, s = 15, acc = 20000 -> 19999, 5000, 833 -> 24, 6, 1.
TEST(BsStage, PerChannelExample) {
  ScaleStage bs;
  bs.mul = true;
  bs.shift_positive = bs.shift_negative = 15;
  const int16_t c[] = {32767, 8192, 1365};
  const int32_t expected[] = {19999, 5000, 833};
  const int8_t out[] = {24, 6, 1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(BsStage(bs, 0, c[i], 20000), expected[i]);
    DpuConfig d = OutputOf(OutType::kInt8, 20134, 24, 0);
    d.bs = bs;
    ChannelOperands operands;
    operands.bs_mul = c[i];
    EXPECT_EQ(static_cast<int8_t>(DpuElement(d, operands, 20000, 0, 0)), out[i]);
  }
}

TEST(BsStage, AddsBeforeItMultiplies) {
  ScaleStage s;
  s.alu = s.mul = true;
  EXPECT_EQ(BsStage(s, 2, 3, 1), 9);
}

TEST(BsStage, ShiftFollowsTheSignOfTheProduct) {
  ScaleStage s;
  s.mul = true;
  s.shift_positive = 1;
  s.shift_negative = 2;
  EXPECT_EQ(BsStage(s, 0, 4, 4), 8);
  EXPECT_EQ(BsStage(s, 0, 4, -4), -4);
}

TEST(BsStage, TiesToEvenAndSaturationAfterTheShift) {
  ScaleStage s;
  s.mul = true;
  s.shift_positive = s.shift_negative = 1;
  EXPECT_EQ(BsStage(s, 0, 1, 5), 2);
  EXPECT_EQ(BsStage(s, 0, 1, 7), 4);
  EXPECT_EQ(BsStage(s, 0, 1, -5), -2);
  EXPECT_EQ(BsStage(s, 0, 2, 0x7FFFFFFF), 0x7FFFFFFF);
  s.shift_positive = 0;
  EXPECT_EQ(BsStage(s, 0, 2, 0x7FFFFFFF), 0x7FFFFFFF);
}

TEST(BsStage, ReluReluxPreluAndSub) {
  ScaleStage s;
  s.relu = true;
  EXPECT_EQ(BsStage(s, 0, 0, -4), 0);
  s.relux = true;
  s.relux_limit = 6;
  EXPECT_EQ(BsStage(s, 0, 0, 9), 6);
  ScaleStage prelu;
  prelu.mul = prelu.prelu = true;
  prelu.shift_negative = 1;
  EXPECT_EQ(BsStage(prelu, 0, 3, 10), 10);
  EXPECT_EQ(BsStage(prelu, 0, 3, -10), -15);
  ScaleStage sub;
  sub.alu = true;
  sub.alu_op = AluOp::kSub;
  EXPECT_EQ(BsStage(sub, 7, 0, 5), -2);
}

TEST(BnStage, MultipliesBeforeItAdds) {
  ScaleStage s;
  s.alu = s.mul = true;
  s.mul_operand = 3;
  s.alu_operand = 2;
  EXPECT_EQ(BnStage(s, 1), 5);
}

// dpu-ppu 9.3: y byte 20, zp 110 -> 38 -> 21458; 26458 * 25914 / 2^24 = 40.87 -> 41.
TEST(EwStage, FusedAddExample) {
  DpuConfig d = OutputOf(OutType::kInt8, 25914, 24, 0);
  d.ew.op = d.ew.convert = true;
  d.ew.converter.scale = 18070;
  d.ew.converter.shift = 5;
  d.ew.converter.offset = 0x80 - 110;
  d.ew.converter.add_first = true;
  EXPECT_EQ(EwElement(d.ew, 0, 20), 21458);
  EXPECT_EQ(static_cast<int8_t>(DpuElement(d, {}, 5000, 0, 20)), 41);
}

TEST(EwStage, OperationsSaturate) {
  EwStage s;
  s.op = true;
  EXPECT_EQ(EwElement(s, 0x7FFFFFF0, 100), 0x7FFFFFFF);
  s.alu_op = AluOp::kSub;
  EXPECT_EQ(EwElement(s, 3, 10), -7);
  s.alu_op = AluOp::kMax;
  EXPECT_EQ(EwElement(s, 3, -10), 3);
  s.alu_op = AluOp::kMin;
  EXPECT_EQ(EwElement(s, 3, -10), -10);
}

// conv-matmul 3.7, program E: c = 45, (h, w) = (2, 3) of int8 -> int32 28x28 at byte 138932.
TEST(Writer, ProgramEExample) {
  DpuConfig d;
  d.width = d.height = 28;
  d.out_type = OutType::kInt32;
  d.dst_surf_stride = 784 * 16;
  d.surface_add = 8 * d.dst_surf_stride;
  d.line_pitch = 28 * 16;
  EXPECT_EQ(OutputRowAddress(d, 1, 3, 2) + 3 * 16 + 1 * 4, 138932);
}

// registers-rk3588 13.9: row-major C[5][50] of N = 96 fp32, blocks of 16.
TEST(Writer, RowMajorExample) {
  DpuConfig d;
  d.width = 1;
  d.dst_surf_stride = 16;
  d.surface_add = 4 * 16;
  d.line_pitch = 16 * (1 + 23);
  EXPECT_EQ(OutputRowAddress(d, 50 / 16, 0, 5) + (50 % 16) * 4, 4 * (5 * 96 + 50));
}

// dpu-ppu 5: W*H = 64, all three words 400h: surface 3 of an operand at 500000h is at 500C00h.
TEST(Rdma, OperandSurfacesAlternateBetweenTheEngines) {
  RdmaConfig r;
  r.width = 8;
  r.height = 8;
  r.ew = EwSource::kConvFed;
  r.src_base = 0x500000;
  r.ew_base = 0x500400;
  r.surf_notch = r.ew_surf_stride = r.ew_surf_notch = 0x400;
  EXPECT_EQ(EwRowAddress(r, 0, 0), 0x500000);
  EXPECT_EQ(EwRowAddress(r, 1, 0), 0x500400);
  EXPECT_EQ(EwRowAddress(r, 2, 1), 0x500800 + 8 * 16);
  EXPECT_EQ(EwRowAddress(r, 3, 0), 0x500C00);
}

// conv-matmul 3.8: channel 13 of the 64-byte records: A at byte 84, C at 122.
TEST(Rdma, RecordLayout) {
  std::vector<std::byte> page(4096);
  page[84] = std::byte{7};
  page[64 + 32 + 10] = std::byte{5};
  page[122] = std::byte{9};
  AddressSpace memory;
  ASSERT_TRUE(memory.Map(0x1000, page).ok());
  DpuConfig d;
  d.channels = d.group = 32;
  d.cpend_from_memory = d.bs.alu_from_memory = d.bs.mul_from_memory = true;
  RdmaConfig r;
  r.channels = 32;
  r.bs_alu = r.bs_cpend = r.bs_mul = true;
  r.bs_base = 0x1000;
  std::vector<ChannelOperands> operands;
  int64_t fault = 0;
  ASSERT_TRUE(FetchChannelOperands(d, r, memory, &operands, &fault));
  EXPECT_EQ(operands[13].bs_add, 7);
  EXPECT_EQ(operands[13].ow_op, 5);
  EXPECT_EQ(operands[13].bs_mul, 9);
  EXPECT_EQ(operands[12].bs_add, 0);
  r.bs_base = 0x1FC0;
  EXPECT_FALSE(FetchChannelOperands(d, r, memory, &operands, &fault));
  EXPECT_EQ(fault, 0x2000);
}

}  // namespace
}  // namespace npu::sim
