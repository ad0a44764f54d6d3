// SPDX-License-Identifier: Apache-2.0
// Float tasks: arithmetic by the worked examples of rk3588-dpu-ppu 3, 4, 8 and
// rk3588-conv-matmul 7.
#include "src/sim/real.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "src/arith/half.h"
#include "tests/unit/sim/rows.h"

namespace npu::sim {
namespace {

using regs::Var;

constexpr Outcome kDone = Outcome::kComplete;
constexpr Outcome kGate = Outcome::kUnimplemented;

uint16_t H(double v) { return arith::FloatToHalf(static_cast<float>(v)); }

std::vector<uint16_t> Halves(const std::vector<double>& values) {
  std::vector<uint16_t> halves;
  for (const double v : values) halves.push_back(H(v));
  return halves;
}

// One atom through a flying program: out[i] of main a[i] and operand b[i].
std::vector<uint16_t> RunFlying(const Program& program, const std::vector<uint16_t>& a,
                                const std::vector<uint16_t>& b = {}) {
  Machine m;
  m.PutHalves(kFeatures, a);
  m.PutHalves(kOperand, b);
  const KickResult result = m.Run(program);
  EXPECT_EQ(result.outcome, kDone) << result.reason;
  std::vector<uint16_t> out;
  for (uint32_t i = 0; i < a.size(); ++i) out.push_back(m.Half(kOutput + 2 * i));
  return out;
}

// A one-tensor flying program with the stage words of the specification's tables.
Program Stages(uint32_t bs, uint32_t bs_alu, uint32_t bs_mul, uint32_t bs_relux = 0,
               uint32_t bn = 0x53, uint32_t bn_alu = 0, uint32_t bn_mul = 0,
               uint32_t bn_relux = 0) {
  Program p = MakeHalfElementwise(1);
  p.Set(rk::Decode<rk::DpuEwCfg>(0x383));
  p.Set(rk::Decode<rk::DpuBsCfg>(bs)).Set(rk::Decode<rk::DpuBnCfg>(bn));
  p.Set(rk::Decode<rk::DpuBsAluCfg>(bs_alu)).Set(rk::Decode<rk::DpuBnAluCfg>(bn_alu));
  p.Set(rk::Decode<rk::DpuBsMulCfg>(bs_mul)).Set(rk::Decode<rk::DpuBnMulCfg>(bn_mul));
  p.Set(rk::Decode<rk::DpuBsReluxCmpValue>(bs_relux));
  p.Set(rk::Decode<rk::DpuBnReluxCmpValue>(bn_relux));
  p.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_disable = 1; });
  return p;
}

Program Elementwise(uint32_t ew_cfg) {
  Program p = MakeHalfElementwise(1);
  return p.Set(rk::Decode<rk::DpuEwCfg>(ew_cfg));
}

TEST(GroupSum, IsExactAndRoundedOnce) {
  const float big = 65504.0f, tiny = std::ldexp(1.0f, -24);
  const float x1[] = {big, tiny, -big}, w1[] = {big, tiny, big};
  EXPECT_EQ(GroupSum(x1, w1, 3), std::ldexp(1.0f, -48));
  // 2^24 + 1 is a tie, to the even side; the least product makes it round up.
  const float x2[] = {4096.0f, 1.0f, tiny}, w2[] = {4096.0f, 1.0f, tiny};
  EXPECT_EQ(GroupSum(x2, w2, 2), 16777216.0f);
  EXPECT_EQ(GroupSum(x2, w2, 3), 16777218.0f);
  const float x3[] = {-4096.0f, -1.0f, -tiny};
  EXPECT_EQ(GroupSum(x3, w2, 3), -16777218.0f);
  const float x4[] = {4096.0f, 1.0f, 1.0f}, w4[] = {4096.0f, 1.0f, 1.0f};
  EXPECT_EQ(GroupSum(x4, w4, 3), 16777218.0f);
  EXPECT_EQ(GroupSum(x4, w4, 0), 0.0f);
}

TEST(GroupSum, SpecialsAsIeee) {
  const float inf = std::numeric_limits<float>::infinity();
  const float x1[] = {1.0f, inf}, w1[] = {1.0f, 2.0f};
  EXPECT_EQ(GroupSum(x1, w1, 2), inf);
  const float x2[] = {inf, -inf};
  EXPECT_TRUE(std::isnan(GroupSum(x2, w1, 2)));
  const float w2[] = {0.0f, 0.0f};
  EXPECT_TRUE(std::isnan(GroupSum(x2, w2, 1)));
}

// conv-matmul 7.1: groups of 32 are added in order, each addition rounded to fp32.
TEST(HalfConv, GroupsOfThirtyTwoAreAddedInOrder) {
  const ConvShape s{.ic = 96, .ih = 4, .iw = 1, .oc = 16};
  Program p = MakeHalfConv(s);
  p.Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kFp32; });
  p.Edit<rk::DpuOutCvtScale>([](auto& r) {
    r.fp32tofp16_en = 0;
    r.out_cvt_scale = 0;  // the converter does not touch fp32 output
  });
  p.Edit<rk::DpuBsOwCfg>([](auto& r) {
    r.size_e_0 = 3;
    r.size_e_1 = 3;
    r.size_e_2 = 3;
  });
  p.Edit<rk::DpuSurfaceAdd>([](auto& r) { r.surf_add = Var(4 * 4); });
  Machine m;
  const auto feature = [&](int c, double v) {
    m.PutHalves(kFeatures + static_cast<uint32_t>(c / 8 * 4 * 16 + c % 8 * 2), {H(v)});
  };
  // Kernel 0: weight 1 everywhere. The stream holds [group of 32][kernel of 16][32].
  for (uint32_t g = 0; g < 3; ++g) {
    m.PutHalves(kWeights + g * 16 * 32 * 2, std::vector<uint16_t>(32, H(1)));
  }
  m.PutHalves(kWeights, {H(512)});
  feature(0, 32768);
  feature(32, 1);
  feature(64, 1);
  ASSERT_EQ(m.Run(p).outcome, kDone);
  EXPECT_EQ(std::bit_cast<float>(m.Int(kOutput)), 16777216.0f);  // each 1 is lost
  feature(64, 0);
  feature(33, 1);
  ASSERT_EQ(m.Run(p).outcome, kDone);
  EXPECT_EQ(std::bit_cast<float>(m.Int(kOutput)), 16777218.0f);  // in one group: 2
}

// A short last group of channels, padding by PAD_CON1, stride 2: exact small integers.
TEST(HalfConv, DepthwiseByTheDefinition) {
  ConvShape s{.ic = 40,
              .ih = 7,
              .iw = 6,
              .oc = 64,
              .kh = 3,
              .kw = 3,
              .sy = 2,
              .sx = 2,
              .pad_top = 1,
              .pad_left = 1,
              .pad_bottom = 1,
              .pad_right = 1,
              .depthwise = true};
  Program p = MakeHalfConv(s);
  p.Edit<rk::CnaPadCon1>([](auto& r) { r.pad_value = 0x40004000; });  // 2.0
  const Tensor x = RandomTensor(40 * 7 * 6, 1, -8, 8), w = RandomTensor(40 * 9, 2, -8, 8);
  Machine m;
  for (int c = 0; c < 40; ++c) {
    for (int i = 0; i < 42; ++i) {
      const double v = x[static_cast<size_t>(c * 42 + i)];
      m.PutHalves(kFeatures + static_cast<uint32_t>((c / 8 * 42 + i) * 16 + c % 8 * 2), {H(v)});
    }
  }
  std::vector<uint16_t> stream;
  for (int g = 0; g < 40; g += 32) {
    for (int t = 0; t < 9; ++t) {
      for (int c = g; c < std::min(g + 32, 40); ++c) {
        stream.push_back(H(w[static_cast<size_t>(c * 9 + t)]));
      }
    }
  }
  m.PutHalves(kWeights, stream);
  const KickResult result = m.Run(p);
  ASSERT_EQ(result.outcome, kDone) << result.reason;
  EXPECT_FALSE(HasErrors(result.diagnostics));
  for (int c = 0; c < 64; ++c) {
    for (int oh = 0; oh < s.oh(); ++oh) {
      for (int ow = 0; ow < s.ow(); ++ow) {
        const double sum = c < 40 ? static_cast<double>(Sum(s, x, w, 2, 0, c, oh, ow)) : 0;
        ASSERT_EQ(m.Half(OutputAddress(s, 2, c, oh, ow)), H(sum)) << c << " " << oh << " " << ow;
      }
    }
  }
}

// dpu-ppu 4.3, 4.4 and 8.4.
TEST(FloatStages, WorkedExamples) {
  const auto one = [](const Program& p, double x) {
    return arith::HalfToFloat(RunFlying(p, Halves({x, 0, 0, 0, 0, 0, 0, 0}))[0]);
  };
  EXPECT_EQ(one(Stages(0x20040, 0x40000000, 0x42000000), 1), 9.0f);
  EXPECT_EQ(one(Stages(0x62, 0, 0xBC000000), -2.5), 2.5f);
  EXPECT_EQ(one(Stages(0x62, 0, 0xBC000000), 2.5), 2.5f);
  EXPECT_EQ(one(Stages(0x62, 0, 0x2E660000), -4), -0.39990234375f);
  // BN multiplies first: 516 - 129.00787 = 386.99213, to the nearest fp16.
  EXPECT_EQ(one(Stages(0x53, 0, 0, 0, 0x20040, 0xC3010204, 0x60080000), 1), 387.0f);
  EXPECT_EQ(one(Stages(0x12, 0, 0), -3), 0.0f);
  EXPECT_EQ(one(Stages(0x92, 0, 0, 0x40C00000), 7), 6.0f);
  EXPECT_EQ(one(Stages(0x92, 0, 0, 0x40C00000), -7), 0.0f);
  // clip(-1, 2).
  const Program clip = Stages(0x20090, 0x3F800000, 0, 0x40400000, 0x20050, 0xBF800000);
  EXPECT_EQ(one(clip, -3), -1.0f);
  EXPECT_EQ(one(clip, 5), 2.0f);
  EXPECT_EQ(one(clip, 0.5), 0.5f);
  const Program hard_sigmoid = Stages(0x53, 0, 0, 0, 0x20080, 0x3F000000, 0x31550000, 0x3F800000);
  EXPECT_EQ(one(hard_sigmoid, 1), 0.66650390625f);
}

// dpu-ppu 8.1, 15.2: equal to IEEE fp16 operations.
TEST(FloatElementwise, OperationsOfTwoTensors) {
  const auto a = Halves({1, 2, 3, 4, 5, 6, 7, 8}), b = Halves({8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(RunFlying(Elementwise(0x108202C0), a, b), std::vector<uint16_t>(8, 0x4880));
  EXPECT_EQ(RunFlying(Elementwise(0x108003C4), a, b), Halves({8, 14, 18, 20, 20, 18, 14, 8}));
  EXPECT_EQ(RunFlying(Elementwise(0x108402C0), a, b), Halves({-7, -5, -3, -1, 1, 3, 5, 7}));
  EXPECT_EQ(RunFlying(Elementwise(0x10A002C0), a, b), Halves({8, 7, 6, 5, 5, 6, 7, 8}));
  EXPECT_EQ(RunFlying(Elementwise(0x108102C0), a, b), Halves({1, 2, 3, 4, 4, 3, 2, 1}));
  // Subtraction with its ReLU.
  EXPECT_EQ(RunFlying(Elementwise(0x108400C0), a, b), Halves({0, 0, 0, 0, 1, 3, 5, 7}));
  // The division program: no widening, no narrowing.
  Program divide = Elementwise(0x108303C0);
  divide.Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.mrdma_fp16tofp32_en = 0; });
  divide.Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 0; });
  EXPECT_EQ(RunFlying(divide, b, Halves({2, 7, 3, 2, 8, 4, 8, 4})),
            Halves({4, 1, 2, 2.5, 0.5, 0.75, 0.25, 0.25}));
  // ReLU of EW alone: the maximum with the register operand 0.
  Program relu = Elementwise(0x180);
  relu.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_disable = 1; });
  EXPECT_EQ(RunFlying(relu, Halves({-1, 2, -3, 4, 0, 6, -7, 8})), Halves({0, 2, 0, 4, 0, 6, 0, 8}));
}

TEST(FloatElementwise, RoundingOverflowSubnormalsAndNan) {
  const auto add = Elementwise(0x108202C0);
  //               tie: even   tie: even  infinity  subnormals      ulp  inf-inf  carried  max
  const std::vector<uint16_t> a = {0x6800, 0x6801, H(60000), 0x0001,
                                   0x3C00, 0x7C00, 0x03FF,   0x7BFF};
  const std::vector<uint16_t> b = {0x3C00, 0x3C00, H(60000), 0x0001,
                                   0x0001, 0xFC00, 0x0001,   0x4C00};
  EXPECT_EQ(RunFlying(add, a, b), (std::vector<uint16_t>{0x6800, 0x6802, 0x7C00, 0x0002, 0x3C00,
                                                         0x7C01, 0x0400, 0x7C00}));
  const auto mul = Elementwise(0x108003C4);
  const std::vector<uint16_t> c = {0x0000, 0x7C00, 0x7E00, 0x0400, 0x0001, 0x8001, 0x3C00, 0xFBFF};
  const std::vector<uint16_t> d = {0x7C00, 0x4000, 0x3C00, 0x3800, 0x3800, 0x3E00, 0xBC00, 0x4000};
  EXPECT_EQ(RunFlying(mul, c, d), (std::vector<uint16_t>{0x7C01, 0x7C00, 0x7C01, 0x0200, 0x0000,
                                                         0x8002, 0xBC00, 0xFC00}));
  const auto max = Elementwise(0x108002C0);
  EXPECT_EQ(RunFlying(max, {0x7E00, 0x3C00, 0xFC00, 0xBC00, 0, 0, 0, 0},
                      {0x3C00, 0x7E00, 0xBC00, 0x7C00, 0, 0, 0, 0}),
            (std::vector<uint16_t>{0x7C01, 0x7C01, 0xBC00, 0x7C00, 0, 0, 0, 0}));
}

// dpu-ppu 4.8: the exponent field alone, and the low half without narrowing.
TEST(FloatOutput, MinusExponentAndMissingNarrowing) {
  Program p = Stages(0x53, 0, 0);
  p.Edit<rk::DpuOutCvtShift>([](auto& r) {
    r.minus_exp = 15;
    r.cvt_type = rk::CvtOrder::kAddFirst;
  });
  const std::vector<uint16_t> in = {0x0000, H(23956), 0x3C00, H(2), 0, 0, 0, 0};
  EXPECT_EQ(RunFlying(p, in), (std::vector<uint16_t>{0x4400, 0x39D9, 0x0000, 0x0400, 0x4400, 0x4400,
                                                     0x4400, 0x4400}));
  p.Edit<rk::DpuOutCvtOffset>([](auto& r) { r.out_cvt_offset = 1; });
  EXPECT_EQ(RunFlying(p, Halves({0, 0, 0, 0, 0, 0, 0, 0})), std::vector<uint16_t>(8, 0x0000));
  Program low = Stages(0x53, 0, 0);
  low.Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 0; });
  EXPECT_EQ(RunFlying(low, {0x3C00, 0x3C01, 0x4900, 0, 0, 0, 0, 0}),
            (std::vector<uint16_t>{0x0000, 0x2000, 0x0000, 0, 0, 0, 0, 0}));
}

// dpu-ppu 5, 15.4: fp32 addends, fp16 multipliers, in the order of DATA_USE.
TEST(FloatStages, PerChannelOperands) {
  const auto x = Halves({1, 2, 3, 4, 5, 6, 7, 8});
  const auto run = [&](bool alu, bool mul) {
    Machine m;
    Program p = Stages(0x53, 0, 0);
    p.Edit<rk::DpuBsCfg>([&](auto& r) {
      r.bs_bypass = 0;
      r.bs_relu_bypass = 1;
      r.bs_alu_bypass = Var(!alu);
      r.bs_mul_bypass = Var(!mul);
      r.bs_alu_src = rk::OperandSrc::kDma;
      r.bs_alu_algo = rk::AluAlgoAffine::kAdd;
    });
    p.Edit<rk::DpuBsMulCfg>([](auto& r) { r.bs_mul_src = rk::OperandSrc::kDma; });
    p.Edit<rk::DpuRdmaBrdmaCfg>([&](auto& r) {
      r.brdma_use_alu = Var(alu);
      r.brdma_use_mul = Var(mul);
    });
    p.Edit<rk::DpuRdmaBsBaseAddr>([](auto& r) { r.bs_base_addr = kBias; });
    m.PutHalves(kFeatures, x);
    uint32_t at = kBias;
    for (int32_t i = 0; alu && i < 8; ++i, at += 4) {
      m.PutInts(at, {std::bit_cast<int32_t>(static_cast<float>(i) * 10)});
    }
    if (mul) m.PutHalves(at, Halves({1, 2, 1, 2, 1, 2, 1, -2}));
    const KickResult result = m.Run(p);
    EXPECT_EQ(result.outcome, kDone) << result.reason;
    EXPECT_TRUE(Has(result, "dpu.float_operands"));
    std::vector<uint16_t> out;
    for (uint32_t i = 0; i < 8; ++i) out.push_back(m.Half(kOutput + 2 * i));
    return out;
  };
  EXPECT_EQ(run(true, false), Halves({1, 12, 23, 34, 45, 56, 67, 78}));
  EXPECT_EQ(run(false, true), Halves({1, 4, 3, 8, 5, 12, 7, -16}));
  EXPECT_EQ(run(true, true), Halves({1, 24, 23, 68, 45, 112, 67, -156}));
}

const ConvShape kShape{.ic = 64, .ih = 8, .iw = 8, .oc = 64};

Program Base(std::string_view name) {
  if (name == "f16conv") return MakeHalfConv(kShape);
  if (name == "f16ew") return MakeHalfElementwise(8);
  ConvShape depthwise = kShape;
  depthwise.depthwise = true;
  depthwise.kh = depthwise.kw = 3;
  return MakeHalfConv(depthwise);
}

std::vector<Row> Findings() {
  return {
      {"f16conv", "dpu.not_narrowed", kDone,
       Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 0; })},
      {"f16conv", "unimplemented.packed_pixels", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.argb_in = rk::ArgbIn::kCh3; })},
      {"f16conv", "unimplemented.float_truncation", kGate,
       Edit<rk::CoreClipTruncate>([](auto& r) { r.clip_truncate = 1; })},
      {"f16conv", "unimplemented.float_output", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kInt8; })},
      {"f16depthwise", "unimplemented.depthwise_fp32", kGate,
       [](Program& p) {
         p.Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kFp32; });
         p.Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 0; });
       }},
      {"f16conv", "unimplemented.narrowing", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kFp32; })},
      {"f16ew", "unimplemented.half_lanes", kGate,
       Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.mrdma_fp16tofp32_en = 0; })},
      {"f16ew", "unimplemented.half_lanes", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_alu_algo = rk::AluAlgoEw::kDiv; })},
      {"f16ew", "unimplemented.ew_algorithm", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_alu_algo = rk::AluAlgoEw::kFloor; })},
      {"f16ew", "unimplemented.ew_compare", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_binary_en = 1; })},
      {"f16ew", "unimplemented.ew_operand_width", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.edata_size = rk::DataBits::kBits32; })},
      {"f16ew", "unimplemented.ew_data_mode", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_data_mode = rk::ErdmaMode::kPerChannel; })},
      {"f16ew", "unimplemented.ew_float_converter", kGate,
       Edit<rk::DpuEwCvtScaleValue>([](auto& r) { r.ew_op_cvt_shift = 1; })},
      {"f16conv", "unimplemented.ew_register_operand", kGate,
       [](Program& p) {
         p.Edit<rk::DpuEwCfg>([](auto& r) { r.ew_bypass = 0; });
         p.Edit<rk::DpuEwOpValue5>([](auto& r) { r.ew_operand_5 = 1; });
       }},
      {"f16ew", "unimplemented.flying_output", kGate,
       [](Program& p) {
         p.Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kFp32; });
         p.Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 0; });
       }},
  };
}

TEST(FloatTasks, Findings) {
  for (const char* base : {"f16conv", "f16depthwise", "f16ew"}) CheckClean(base, Base(base));
  for (const Row& row : Findings()) CheckRow(row, Base(row.base));
}

TEST(FloatTasks, Warnings) {
  Machine m;
  ConvShape s = kShape;
  s.pad_top = 1;
  Program p = MakeHalfConv(s);
  p.Edit<rk::CnaPadCon1>([](auto& r) { r.pad_value = 0x3C00; });
  p.Edit<rk::DpuBsCfg>([](auto& r) {
    r.bs_bypass = 0;
    r.bs_mul_bypass = 1;
    r.bs_relu_bypass = 1;
    r.bs_alu_src = rk::OperandSrc::kDma;
    r.bs_alu_algo = rk::AluAlgoAffine::kAdd;
  });
  p.Edit<rk::DpuRdmaBrdmaCfg>([](auto& r) { r.brdma_use_alu = 1; });
  p.Edit<rk::DpuRdmaBsBaseAddr>([](auto& r) { r.bs_base_addr = kBias; });
  const KickResult result = m.Run(p);
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(result, "cna.pad_bytes"));
  EXPECT_TRUE(Has(result, "dpu.float_operands"));
  EXPECT_FALSE(HasErrors(result.diagnostics));
  const KickResult wide = m.Run(MakeHalfElementwise(4097));
  EXPECT_TRUE(Has(wide, "dpu.flying_columns"));
  EXPECT_FALSE(HasErrors(wide.diagnostics));
  Program integers = Stages(0x42, 0, 0x00010000);
  integers.Edit<rk::DpuOutCvtShift>([](auto& r) { r.minus_exp = 1; });
  integers.Edit<rk::DpuDataCubeChannel>([](auto& r) { r.channel = 15; });
  integers.Edit<rk::DpuWdmaSize0>([](auto& r) { r.channel_wdma = 15; });
  integers.Edit<rk::DpuRdmaDataCubeChannel>([](auto& r) { r.channel = 15; });
  const KickResult traps = m.Run(integers);
  EXPECT_EQ(traps.outcome, kDone) << traps.reason;
  for (const char* id : {"dpu.denormal_multiplier", "dpu.minus_exponent", "dpu.flying_surfaces"}) {
    EXPECT_TRUE(Has(traps, id)) << id;
  }
  EXPECT_FALSE(HasErrors(traps.diagnostics));
}

TEST(FloatTasks, TermsOfTheCostModel) {
  Machine m;
  const KickResult conv = m.Run(MakeHalfConv(kShape));
  ASSERT_EQ(conv.tasks.size(), 1u);
  EXPECT_EQ(conv.tasks[0].mac_cycles, 64u * 4 * 2);
  EXPECT_EQ(conv.tasks[0].feature_bytes, 64u * 64 * 2);
  EXPECT_EQ(conv.tasks[0].weight_bytes, 64u * 64 * 2);
  EXPECT_EQ(conv.tasks[0].output_bytes, 64u * 64 * 2);
  const KickResult add = m.Run(MakeHalfElementwise(8));
  ASSERT_EQ(add.tasks.size(), 1u);
  EXPECT_EQ(add.tasks[0].macs, 0u);
  EXPECT_EQ(add.tasks[0].feature_bytes, 128u);
  EXPECT_EQ(add.tasks[0].output_bytes, 256u);
  EXPECT_EQ(add.tasks[0].dpu_elements, 64u);
}

}  // namespace
}  // namespace npu::sim
