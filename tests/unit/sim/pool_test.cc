// SPDX-License-Identifier: Apache-2.0
// The pooling unit, by the formula and the worked examples of rk3588-dpu-ppu 11.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/arith/half.h"
#include "src/sim/ppu.h"
#include "tests/unit/sim/program.h"
#include "tests/unit/sim/rows.h"

namespace npu::sim {
namespace {

using regs::Var;

int8_t Expected(const PoolShape& s, const Tensor& x, int c, int oy, int ox) {
  std::vector<int8_t> window;
  for (int j = 0; j < s.kh; ++j) {
    for (int i = 0; i < s.kw; ++i) {
      const int y = oy * s.sy + j - s.top, xx = ox * s.sx + i - s.left;
      const bool inside = y >= 0 && y < s.ih && xx >= 0 && xx < s.iw;
      window.push_back(inside ? x[static_cast<size_t>((int64_t{c} * s.ih + y) * s.iw + xx)]
                              : static_cast<int8_t>(s.pad_value));
    }
  }
  if (s.method == rk::PoolMethod::kMax) return *std::max_element(window.begin(), window.end());
  if (s.method == rk::PoolMethod::kMin) return *std::min_element(window.begin(), window.end());
  double sum = 0;
  for (const int8_t v : window) sum += v;
  // 65536/k is exact for these kernels, so the mean is too: std::nearbyint ties to even.
  return static_cast<int8_t>(std::nearbyint(sum / (s.kh * s.kw)));
}

void CheckPool(const PoolShape& s, Path path) {
  SimOptions options = CompletingPools();
  options.path = path;
  Machine m(options);
  m.Fill(kOutput, 0x10000, 0xA5);
  const Tensor x = RandomTensor(static_cast<size_t>(int64_t{s.channels} * s.ih * s.iw), 7);
  m.Put(kFeatures, PackFeatures(x, s.channels, s.ih, s.iw));
  const KickResult result = m.Run(MakePool(s));
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_TRUE(result.diagnostics.empty()) << ToString(result.diagnostics.front());
  for (int c = 0; c < s.channels; ++c) {
    for (int oy = 0; oy < s.oh; ++oy) {
      for (int ox = 0; ox < s.ow; ++ox) {
        const int at = (c / 16 * s.oh * s.ow + oy * s.ow + ox) * 16 + c % 16;
        ASSERT_EQ(m.Byte(kOutput + static_cast<uint32_t>(at)), Expected(s, x, c, oy, ox))
            << c << " " << oy << " " << ox;
      }
    }
  }
  const int end = (s.channels + 15) / 16 * s.oh * s.ow * 16;
  EXPECT_EQ(m.Byte(kOutput + static_cast<uint32_t>(end)), static_cast<int8_t>(0xA5));
}

TEST(Pool, Int8ByTheFormula) {
  using M = rk::PoolMethod;
  const std::vector<PoolShape> shapes = {
      {},
      {.channels = 48, .ih = 10, .iw = 12, .oh = 4, .ow = 5, .kh = 3, .kw = 3},
      // TF-SAME, stride 2: one row and column behind; then pad 1 on all sides, stride 1.
      {.ih = 8, .iw = 8, .kh = 3, .kw = 3, .bottom = 1, .right = 1, .pad_value = -128},
      {.channels = 32,
       .ih = 6,
       .iw = 5,
       .oh = 6,
       .ow = 5,
       .kh = 3,
       .kw = 3,
       .sy = 1,
       .sx = 1,
       .top = 1,
       .left = 1,
       .bottom = 1,
       .right = 1,
       .pad_value = -128},
      {.ih = 9,
       .iw = 7,
       .oh = 3,
       .ow = 2,
       .kh = 4,
       .kw = 5,
       .sy = 3,
       .sx = 4,
       .top = 1,
       .left = 2,
       .bottom = 0,
       .right = 0,
       .method = M::kMin,
       .pad_value = 127},
      {.channels = 20, .method = M::kAverage},
      {.ih = 7,
       .iw = 9,
       .oh = 4,
       .ow = 3,
       .kh = 2,
       .kw = 4,
       .sy = 2,
       .sx = 4,
       .top = 1,
       .left = 2,
       .bottom = 0,
       .right = 1,
       .method = M::kAverage,
       .pad_value = -3},
      {.ih = 16,
       .iw = 16,
       .oh = 1,
       .ow = 1,
       .kh = 16,
       .kw = 16,
       .sy = 16,
       .sx = 16,
       .method = M::kAverage},
  };
  for (const PoolShape& s : shapes) {
    CheckPool(s, Path::kClear);
    CheckPool(s, Path::kFast);
  }
}

// Sums 2, 6, -2, -6 of four: ties go to the even neighbour.
TEST(Pool, Int8AverageTiesToEven) {
  PoolConfig p;
  p.method = PoolMethod::kAverage;
  p.recip_width = p.recip_height = 32768;
  EXPECT_EQ(PoolInt8(p, std::vector<int8_t>{2, 0, 0, 0}), 0);
  EXPECT_EQ(PoolInt8(p, std::vector<int8_t>{6, 0, 0, 0}), 2);
  EXPECT_EQ(PoolInt8(p, std::vector<int8_t>{-2, 0, 0, 0}), 0);
  EXPECT_EQ(PoolInt8(p, std::vector<int8_t>{-6, 0, 0, 0}), -2);
}

// The low byte is written: a wrong reciprocal wraps (measured on the sister chip).
TEST(Pool, Int8AverageWraps) {
  PoolConfig p;
  p.method = PoolMethod::kAverage;
  p.recip_width = p.recip_height = 65536;
  EXPECT_EQ(PoolInt8(p, std::vector<int8_t>{100, 100}), static_cast<int8_t>(200));
}

TEST(Pool, HalfValues) {
  PoolConfig p;
  p.fp16 = true;
  p.method = PoolMethod::kAverage;
  p.recip_width = p.recip_height = 0x7092;  // 9360: a seventh
  EXPECT_EQ(PoolHalf(p, std::vector<uint16_t>(49, 0x3C00)), 0x3BFF);
  p.method = PoolMethod::kMax;
  EXPECT_EQ(PoolHalf(p, std::vector<uint16_t>{0xFC00, 0xC000, 0xBC00}), 0xBC00);
  EXPECT_EQ(PoolHalf(p, std::vector<uint16_t>{0x0001, 0x8001, 0x0002}), 0x0002);
  EXPECT_EQ(PoolHalf(p, std::vector<uint16_t>{0x3C00, 0x7E00, 0x7C00}), arith::kHalfNan);
  p.method = PoolMethod::kMin;
  EXPECT_EQ(PoolHalf(p, std::vector<uint16_t>{0x7C00, 0xC000, 0xBC00}), 0xC000);
}

// registers-rk3588 5, Q1: without the assumption the result is in memory, but nobody is told.
TEST(Pool, CompletionIsNotSeenByTheMainlineKernel) {
  Machine m;
  m.Put(kFeatures, RandomTensor(1024, 3, 5, 5));
  const KickResult result = m.Run(MakePool({}));
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(result, "pc.no_interrupt"));
  EXPECT_EQ(result.raw_status, 1u << 10);
  EXPECT_EQ(m.Byte(kOutput), 5);
}

// A pool chained before a task of the DPU: one kick, one interrupt, data flow in order.
TEST(Pool, FeedsAnElementwiseTaskOfTheSameKick) {
  Machine m;
  m.Put(kFeatures, RandomTensor(1024, 3, 1, 9));
  Program pool = MakePool({.oh = 4, .ow = 4});
  Program add = MakeElementwise(16);
  add.Edit<rk::DpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kOutput; });
  add.Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kOutput + 0x1000; });
  m.Fill(kOperand, 256, 2);
  const std::vector<uint64_t> second = add.Words();
  pool.next_base = kLists + 0x4000;
  pool.next_words = static_cast<uint32_t>(second.size());
  m.PutWords(kLists + 0x4000, second);
  const KickResult result = m.RunWords(pool.Words(), 2);
  ASSERT_EQ(result.outcome, Outcome::kComplete) << result.reason;
  EXPECT_EQ(result.interrupts, 1u);
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(m.Byte(kOutput + 0x1000 + i), m.Byte(kOutput + i) + 2);
  }
}

// dpu-ppu 11.3 erratum 1.
TEST(Pool, ASmallCubeOfAnotherPoolIsMisread) {
  Machine m(CompletingPools());
  m.Put(kFeatures, RandomTensor(1024, 3));
  const PoolShape first{.oh = 2, .ow = 2, .kh = 4, .kw = 4, .sy = 4, .sx = 4};
  ASSERT_EQ(m.Run(MakePool(first)).outcome, Outcome::kComplete);
  Program second = MakePool({.ih = 2, .iw = 2, .oh = 1, .ow = 1});
  second.Edit<rk::PpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kOutput; });
  second.Edit<rk::PpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kOutput + 0x1000; });
  EXPECT_TRUE(Has(m.Run(second), "ppu.small_intermediate"));
  // Rewritten by the CPU, it is read well.
  m.Fill(kOutput, 64, 9);
  const KickResult result = m.Run(second);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(m.Byte(kOutput + 0x1000), 9);
}

TEST(Pool, WarningsLeaveItRunning) {
  SimOptions options = CompletingPools();
  Machine m(options);
  Program beyond = MakePool({.kh = 3, .kw = 3});
  EXPECT_TRUE(Has(m.Run(beyond), "ppu.padding"));
  Program index = MakePool({});
  index.Edit<rk::PpuDataFormat>([](auto& r) { r.index_add = 1; });
  EXPECT_TRUE(Has(m.Run(index), "ppu.index_add"));
  Program in_place = MakePool({});
  in_place.Edit<rk::PpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kFeatures; });
  EXPECT_TRUE(Has(m.Run(in_place), "ppu.in_place"));
  const KickResult many =
      m.Run(MakePool({.ih = 92, .iw = 92, .oh = 92, .ow = 92, .kh = 1, .kw = 1, .sy = 1, .sx = 1}));
  EXPECT_TRUE(Has(many, "ppu.output_pixels"));
  EXPECT_FALSE(HasErrors(many.diagnostics));
  options.assume.ppu_pools_int8 = false;
  Machine without(options);
  EXPECT_TRUE(Has(without.Run(MakePool({})), "ppu.int8"));
}

TEST(Pool, ReportsTheTermsOfTheCostModel) {
  Machine m(CompletingPools());
  const KickResult result = m.Run(MakePool({.channels = 24}));
  ASSERT_EQ(result.tasks.size(), 1u);
  EXPECT_EQ(result.tasks[0].macs, 0u);
  EXPECT_EQ(result.tasks[0].unit, cost::TaskTerms::Unit::kPpu);
  EXPECT_EQ(result.tasks[0].dpu_elements, 32u * 64);
  EXPECT_EQ(result.tasks[0].feature_bytes, 32u * 64);
  EXPECT_EQ(result.tasks[0].output_bytes, 32u * 16);
}

// The pooling unit.
std::vector<Row> PoolErrors() {
  constexpr Outcome kHang = Outcome::kHang, kDone = Outcome::kComplete;
  return {
      {"pool", "stream.ppu_missing", kHang, [](Program& p) { p.mask = 0x40; }},
      {"pool", "stream.ppu_source", kHang, [](Program& p) { p.mask = 0x20; }},
      {"pool", "stream.ppu_source", kHang,
       Edit<rk::PpuOperationModeCfg>([](auto& r) { r.flying_mode = 0; })},
      {"pool", "stream.ppu_source", kHang,
       Edit<rk::PpuDataFormat>([](auto& r) { r.dpu_flyin = 1; })},
      {"pool", "ppu.cube_mismatch", kHang,
       Edit<rk::PpuRdmaCubeInHeight>([](auto& r) { r.cube_in_height = 6; })},
      {"pool", "ppu.cube_mismatch", kHang,
       Edit<rk::PpuDataCubeOutChannel>([](auto& r) { r.cube_out_channel = 31; })},
      {"pool", "ppu.width_code", kDone,
       Edit<rk::PpuRdmaDataFormat>([](auto& r) { r.in_precision = rk::DataBits::kBits4; })},
      {"pool", "ppu.method", kDone,
       Edit<rk::PpuOperationModeCfg>([](auto& r) { r.pooling_method = Var(3); })},
      {"pool", "ppu.surface_stride", kDone,
       [](Program& p) {
         p = MakePool({.channels = 32});
         p.Edit<rk::PpuDstSurfStride>([](auto& r) { r.dst_surf_stride = 15; });
       }},
      {"pool", "ppu.reciprocal", kDone,
       Edit<rk::PpuOperationModeCfg>([](auto& r) { r.pooling_method = rk::PoolMethod::kAverage; })},
      {"pool", "memory.unaligned", kHang,
       Edit<rk::PpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kFeatures + 4; })},
      {"pool", "memory.read_fault", Outcome::kFault,
       Edit<rk::PpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = 0x1000; })},
      {"pool", "memory.write_fault", Outcome::kFault,
       Edit<rk::PpuDstBaseAddr>([](auto& r) { r.dst_base_addr = 0xC0DE0000; })},
      {"pool", "unimplemented.dpu_to_ppu", Outcome::kUnimplemented,
       [](Program& p) { p.mask = 0x7D; }},
      {"pool", "unimplemented.ppu_index", Outcome::kUnimplemented,
       Edit<rk::PpuOperationModeCfg>([](auto& r) { r.index_en = 1; })},
      {"pool", "unimplemented.ppu_modes", Outcome::kUnimplemented,
       Edit<rk::PpuOperationModeCfg>([](auto& r) { r.use_cnt = 1; })},
      {"pool", "unimplemented.ppu_write_modes", Outcome::kUnimplemented,
       Edit<rk::PpuMiscCtrl>([](auto& r) { r.nonalign = 1; })},
      {"pool", "unimplemented.ppu_precision", Outcome::kUnimplemented,
       Edit<rk::PpuDataFormat>([](auto& r) { r.proc_precision = rk::PrecisionDpu::kInt16; })},
      {"pool", "unimplemented.ppu_pad_value", Outcome::kUnimplemented,
       [](Program& p) {
         p = MakePool({.top = 1});
         p.Edit<rk::PpuPaddingValue1Cfg>([](auto& r) { r.pad_value_0 = -128; });
       }},
  };
}

TEST(Pool, Findings) {
  CheckClean("pool", MakePool({}));
  for (const Row& row : PoolErrors()) CheckRow(row, MakePool({}));
}

}  // namespace
}  // namespace npu::sim
