// SPDX-License-Identifier: Apache-2.0
// Whole tasks against the definition of convolution: address models, padding, weight order, groups.
#include <gtest/gtest.h>

#include <bit>

#include "src/arith/rounding.h"
#include "src/base/checked.h"
#include "tests/unit/sim/program.h"

namespace npu::sim {
namespace {

using regs::Var;

struct Data {
  Tensor x, w;
  std::vector<int32_t> bias;
};

Data Load(const ConvShape& s, uint32_t seed, Machine* machine) {
  Data d;
  d.x = RandomTensor(static_cast<size_t>(int64_t{s.ic} * s.ih * s.iw), seed);
  const int rows = s.depthwise ? s.ic : s.oc * s.ic;
  d.w = RandomTensor(static_cast<size_t>(int64_t{rows} * s.kh * s.kw), seed + 1);
  for (int8_t v : RandomTensor(static_cast<size_t>(s.oc), seed + 2)) d.bias.push_back(v * 37);
  machine->Put(kFeatures, PackFeatures(d.x, s.ic, s.ih, s.iw));
  machine->Put(kWeights, PackWeights(d.w, s));
  machine->PutInts(kBias, d.bias);
  return d;
}

// Elements of the int8 output that differ from sat8(sum + bias >> 6 rounded half to even).
int CountWrong(const ConvShape& s, const Data& d, const Machine& m, int8_t pad, int ow_op) {
  int wrong = 0;
  for (int c = 0; c < s.oc; ++c) {
    for (int h = 0; h < s.oh(); ++h) {
      for (int w = 0; w < s.ow(); ++w) {
        const int64_t sum = Sum(s, d.x, d.w, pad, ow_op, c, h, w) + d.bias[static_cast<size_t>(c)];
        const int64_t scaled = arith::ShiftRightRound<arith::Rounding::kHalfEven>(sum, 6);
        wrong += m.Byte(OutputAddress(s, 1, c, h, w)) != Saturate<int8_t>(scaled) ? 1 : 0;
      }
    }
  }
  return wrong;
}

Program Requantized(const ConvShape& s, int8_t pad, int ow_op) {
  Program p = MakeConv(s);
  p.Edit<rk::DpuOutCvtShift>([](auto& r) { r.out_cvt_shift = 6; });
  p.Edit<rk::DpuBsOwOp>([&](auto& r) { r.ow_op = Var(ow_op); });
  const auto byte = static_cast<uint8_t>(pad);
  const auto word = static_cast<int32_t>(uint32_t{byte} * 0x01010101u);
  return p.Edit<rk::CnaPadCon1>([&](auto& r) { r.pad_value = Var(word); });
}

void ExpectExact(const ConvShape& s, uint32_t seed, int8_t pad, int ow_op) {
  Machine m;
  const Data d = Load(s, seed, &m);
  const KickResult result = m.Run(Requantized(s, pad, ow_op));
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  for (const Diagnostic& found : result.diagnostics) ADD_FAILURE() << ToString(found);
  EXPECT_EQ(CountWrong(s, d, m, pad, ow_op), 0);
}

// conv-matmul 14.9: 7x5 plane, 3x3, stride 2, padding 1, w0 = 4, x0 = -3: 768 of 768 outputs.
TEST(Conv, OddPlaneWithZeroPoints) {
  ConvShape s{.ic = 32, .ih = 7, .iw = 5, .oc = 64, .kh = 3, .kw = 3, .sy = 2, .sx = 2};
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
  ASSERT_EQ(s.oc * s.oh() * s.ow(), 768);
  ExpectExact(s, 1, -3, -4);
}

// conv-matmul 14.9: a 2-row plane is right with the negative surface stride, all wrong with 0.
TEST(Conv, TwoRowPlaneNeedsTheNegativeSurfaceStride) {
  const ConvShape s{.ic = 64, .ih = 2, .iw = 6, .oc = 32};
  ASSERT_EQ(s.oc * s.oh() * s.ow(), 384);
  Machine m;
  const Data d = Load(s, 7, &m);
  m.Fill(kFeatures + 64 * 12, 0x1000, 0x55);
  const auto right = [&] {
    int count = 0;
    for (int i = 0; i < 384; ++i) {
      const int c = i / 12, h = i / 6 % 2, w = i % 6;
      count += m.Int(OutputAddress(s, 4, c, h, w)) == Sum(s, d.x, d.w, 0, 0, c, h, w) ? 1 : 0;
    }
    return count;
  };
  Program p = MakeRawConv(s);
  ASSERT_EQ(p.Get<rk::CnaDmaCon2>().surf_stride.get(), -12);
  EXPECT_EQ(m.Run(p).outcome, Outcome::kComplete);
  EXPECT_EQ(right(), 384);
  p.Edit<rk::CnaDmaCon2>([](auto& r) { r.surf_stride = 0; });
  EXPECT_TRUE(Has(m.Run(p), "cna.surface_stride_clamped"));
  EXPECT_EQ(right(), 0);
}

// conv-matmul 3.4 and 14.9: C[M,N] = A[M,K] * B, A and C row-major: 512 of 512 outputs.
TEST(Conv, RowMajorMatmul) {
  const ConvShape s{.ic = 64, .ih = 16, .iw = 1, .oc = 32};
  Machine m;
  const Tensor a = RandomTensor(16 * 64, 3);
  const Tensor w = RandomTensor(32 * 64, 4);
  m.Put(kFeatures, a);
  m.Put(kWeights, PackWeights(w, s));
  Program p = MakeRawConv(s);
  p.Edit<rk::CnaConvCon1>([](auto& r) { r.group_line_off = 1; });
  p.Edit<rk::CnaDmaCon1>([](auto& r) { r.line_stride = 64 / 16; });
  p.Edit<rk::CnaDmaCon2>([](auto& r) { r.surf_stride = 0; });
  p.Edit<rk::DpuDstSurfStride>([](auto& r) { r.dst_surf_stride = 1; });
  p.Edit<rk::DpuSurfaceAdd>([](auto& r) { r.surf_add = 8; });
  p.Edit<rk::DpuDataCubeNotchAddr>([](auto& r) {
    r.notch_addr_0 = 32 / 4 - 1;
    r.notch_addr_1 = 32 / 4 - 1;
  });
  const KickResult result = m.Run(p);
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_TRUE(result.diagnostics.empty());
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t n = 0; n < 32; ++n) {
      int32_t sum = 0;
      for (uint32_t k = 0; k < 64; ++k) sum += a[row * 64 + k] * w[n * 64 + k];
      ASSERT_EQ(m.Int(kOutput + 4 * (row * 32 + n)), sum) << row << "," << n;
    }
  }
}

struct Named {
  const char* name;
  ConvShape shape;
  int8_t pad = 0;
  int ow_op = 0;
};

class ConvShapes : public testing::TestWithParam<Named> {};

TEST_P(ConvShapes, EqualTheDefinition) {
  ExpectExact(GetParam().shape, 11, GetParam().pad, GetParam().ow_op);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvShapes,
    testing::Values(
        Named{"Pointwise", {.ic = 32, .ih = 5, .iw = 9, .oc = 32}},
        Named{"DeepPointwise", {.ic = 96, .ih = 4, .iw = 3, .oc = 64}},
        Named{"SixteenChannels", {.ic = 16, .ih = 6, .iw = 6, .oc = 32, .kh = 3, .kw = 3}},
        Named{"ShortLastInputGroup", {.ic = 48, .ih = 6, .iw = 6, .oc = 32, .kh = 3, .kw = 2}},
        Named{"OnePixel", {.ic = 64, .ih = 1, .iw = 1, .oc = 64}},
        Named{"ThreeRows", {.ic = 64, .ih = 3, .iw = 7, .oc = 32, .kh = 3, .kw = 3}},
        Named{"WideKernel",
              {.ic = 32,
               .ih = 5,
               .iw = 14,
               .oc = 32,
               .kh = 1,
               .kw = 7,
               .pad_left = 3,
               .pad_right = 3},
              -128,
              3},
        Named{"Dilated",
              {.ic = 32,
               .ih = 11,
               .iw = 9,
               .oc = 32,
               .kh = 3,
               .kw = 3,
               .dy = 2,
               .dx = 3,
               .pad_top = 2,
               .pad_left = 3,
               .pad_bottom = 2,
               .pad_right = 3},
              5,
              -7},
        Named{"UnequalStrides",
              {.ic = 32,
               .ih = 12,
               .iw = 13,
               .oc = 32,
               .kh = 3,
               .kw = 3,
               .sy = 3,
               .sx = 2,
               .pad_top = 1,
               .pad_bottom = 1},
              1,
              0},
        Named{"BottomAndRightOnly",
              {.ic = 32,
               .ih = 8,
               .iw = 8,
               .oc = 64,
               .kh = 3,
               .kw = 3,
               .sy = 2,
               .sx = 2,
               .pad_bottom = 1,
               .pad_right = 1},
              9,
              2},
        Named{"Depthwise",
              {.ic = 64,
               .ih = 6,
               .iw = 7,
               .oc = 64,
               .kh = 3,
               .kw = 3,
               .pad_top = 1,
               .pad_left = 1,
               .pad_bottom = 1,
               .pad_right = 1,
               .depthwise = true},
              -8,
              5},
        Named{"DepthwiseTwoGroups",
              {.ic = 128, .ih = 5, .iw = 5, .oc = 128, .kh = 5, .kw = 3, .depthwise = true},
              0,
              1}),
    [](const auto& named) { return named.param.name; });

// Mesa's form: a short last depthwise group under whole-group output fields (3.6).
TEST(Conv, DepthwiseShortGroupLeavesPaddingChannelsAtTheBias) {
  ConvShape s{.ic = 96, .ih = 5, .iw = 4, .oc = 96, .kh = 3, .kw = 3, .depthwise = true};
  Machine m;
  const Data d = Load(s, 21, &m);
  ConvShape padded = s;
  padded.oc = 128;
  Program p = Requantized(padded, 0, 0);
  m.PutInts(kBias + 4 * 96, std::vector<int32_t>(32, 640));
  const KickResult result = m.Run(p);
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(CountWrong(s, d, m, 0, 0), 0);
  EXPECT_EQ(m.Byte(OutputAddress(padded, 1, 127, 2, 1)), 10);
}

// A partial kernel count under whole-group channel fields (3.5): the rest accumulates 0.
TEST(Conv, PartialKernelCountLeavesTheRestAtTheBias) {
  ConvShape s{.ic = 32, .ih = 4, .iw = 4, .oc = 40};
  Machine m;
  const Data d = Load(s, 22, &m);
  ConvShape padded = s;
  padded.oc = 64;
  Program p = Requantized(padded, 0, 0);
  p.Edit<rk::CnaWeightSize2>([](auto& r) { r.weight_kernels = 40; });
  p.Edit<rk::CnaWeightSize0>([](auto& r) { r.weight_bytes = 40 * 32; });
  m.PutInts(kBias + 4 * 40, std::vector<int32_t>(24, -64));
  const KickResult result = m.Run(p);
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(CountWrong(s, d, m, 0, 0), 0);
  EXPECT_EQ(m.Byte(OutputAddress(padded, 1, 63, 0, 0)), -1);
}

// In-place row tile (9.2): the strides are those of the whole plane.
TEST(Conv, RowTileInsideALargerPlane) {
  ConvShape whole{.ic = 32, .ih = 12, .iw = 6, .oc = 32, .kh = 3, .kw = 3};
  Machine m;
  const Data d = Load(whole, 31, &m);
  ConvShape tile = whole;
  tile.ih = 5;  // output rows 4..6 need input rows 4..8
  Program p = Requantized(tile, 0, 0);
  p.Edit<rk::CnaFeatureDataAddr>([](auto& r) { r.feature_base_addr = kFeatures + 16 * 6 * 4; });
  p.Edit<rk::CnaDmaCon2>([](auto& r) { r.surf_stride = 6 * (12 - 4); });
  p.Edit<rk::DpuDstSurfStride>([](auto& r) { r.dst_surf_stride = 40; });
  p.Edit<rk::DpuSurfaceAdd>([](auto& r) { r.surf_add = 80; });
  p.Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kOutput + 16 * 4 * 4; });
  m.Fill(kOutput, 0x1000, 0xA5);
  ASSERT_EQ(m.Run(p).outcome, Outcome::kComplete);
  for (int c = 0; c < 32; ++c) {
    for (int h = 0; h < 10; ++h) {
      const uint32_t at = OutputAddress(whole, 1, c, h, 2);
      if (h < 4 || h > 6) {
        EXPECT_EQ(m.Byte(at), static_cast<int8_t>(0xA5));
        continue;
      }
      const int64_t sum = Sum(whole, d.x, d.w, 0, 0, c, h, 2) + d.bias[static_cast<size_t>(c)];
      EXPECT_EQ(m.Byte(at),
                Saturate<int8_t>(arith::ShiftRightRound<arith::Rounding::kHalfEven>(sum, 6)));
    }
  }
}

TEST(Conv, RawAndCastOutputs) {
  const ConvShape s{.ic = 32, .ih = 4, .iw = 4, .oc = 64, .kh = 2, .kw = 2};
  Machine m;
  const Data d = Load(s, 41, &m);
  Program p = MakeRawConv(s);
  ASSERT_EQ(m.Run(p).outcome, Outcome::kComplete);
  for (int c = 0; c < 64; ++c) {
    EXPECT_EQ(m.Int(OutputAddress(s, 4, c, 1, 2)), Sum(s, d.x, d.w, 0, 0, c, 1, 2));
  }
  p.Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kFp32; });
  ASSERT_EQ(m.Run(p).outcome, Outcome::kComplete);
  for (int c = 0; c < 64; ++c) {
    const float value = std::bit_cast<float>(m.Int(OutputAddress(s, 4, c, 1, 2)));
    EXPECT_EQ(value, static_cast<float>(Sum(s, d.x, d.w, 0, 0, c, 1, 2)));
  }
}

// registers-rk3588 13.7.
TEST(Conv, ZeroOutputScaleWritesTheOffset) {
  const ConvShape s{.ic = 32, .ih = 4, .iw = 4, .oc = 32};
  Machine m;
  Load(s, 51, &m);
  Program p = Requantized(s, 0, 0);
  p.Edit<rk::DpuOutCvtScale>([](auto& r) { r.out_cvt_scale = 0; });
  p.Edit<rk::DpuOutCvtOffset>([](auto& r) { r.out_cvt_offset = -200; });
  const KickResult result = m.Run(p);
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(result, "dpu.out_cvt_scale_zero"));
  for (int c = 0; c < 32; ++c) EXPECT_EQ(m.Byte(OutputAddress(s, 1, c, 3, 3)), -128);
}

TEST(Conv, TooSmallSizeEWritesOnlySomeSurfaces) {
  const ConvShape s{.ic = 32, .ih = 4, .iw = 4, .oc = 32};
  Machine m;
  const Data d = Load(s, 61, &m);
  m.Fill(kOutput, 0x4000, 0xA5);
  Program p = MakeRawConv(s);
  p.Edit<rk::DpuBsOwCfg>([](auto& r) {
    r.size_e_0 = 3;
    r.size_e_1 = 3;
    r.size_e_2 = 3;
  });
  const KickResult result = m.Run(p);
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(result, "writer.size_e"));
  EXPECT_EQ(m.Int(OutputAddress(s, 4, 15, 0, 0)), Sum(s, d.x, d.w, 0, 0, 15, 0, 0));
  EXPECT_EQ(m.Int(OutputAddress(s, 4, 16, 0, 0)), static_cast<int32_t>(0xA5A5A5A5));
}

TEST(Elementwise, AddsAndSaturates) {
  Machine m;
  const Tensor a = RandomTensor(48, 71), b = RandomTensor(48, 72);
  m.Put(kFeatures, a);
  m.Put(kOperand, b);
  const KickResult result = m.Run(MakeElementwise(3));
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_TRUE(result.diagnostics.empty());
  for (uint32_t i = 0; i < 48; ++i) {
    EXPECT_EQ(m.Byte(kOutput + i), Saturate<int8_t>(int{a[i]} + b[i]));
  }
}

}  // namespace
}  // namespace npu::sim
