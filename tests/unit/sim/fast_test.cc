// SPDX-License-Identifier: Apache-2.0
// The fast path against the clear one, on random tasks of every form it takes.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "src/base/worker_pool.h"
#include "tests/unit/sim/program.h"

namespace npu::sim {
namespace {

using regs::Var;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int In(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<uint32_t>(high - low + 1));
  }
  bool OneIn(int n) { return In(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

ConvShape RandomShape(Random* r) {
  ConvShape s;
  s.depthwise = r->OneIn(3);
  s.kh = r->In(1, r->OneIn(4) ? 7 : 3);
  s.kw = r->In(1, r->OneIn(4) ? 7 : 3);
  s.dy = r->OneIn(4) ? r->In(1, 3) : 1;
  s.dx = r->OneIn(4) ? r->In(1, 3) : 1;
  s.sy = r->In(1, 3);
  s.sx = r->In(1, 3);
  s.pad_top = r->In(0, s.kh / 2);
  s.pad_left = r->In(0, s.kw / 2);
  s.pad_bottom = r->In(0, s.kh / 2);
  s.pad_right = r->In(0, s.kw / 2);
  s.ih = r->In((s.kh - 1) * s.dy + 1, (s.kh - 1) * s.dy + 12);
  s.iw = r->In((s.kw - 1) * s.dx + 1, (s.kw - 1) * s.dx + 17);
  s.oc = s.depthwise ? 64 * r->In(1, 2) : 32 * r->In(1, 3);
  s.ic = s.depthwise ? s.oc - 16 * r->In(0, 3) : 16 * r->In(1, 7);
  return s;
}

void RandomStages(const ConvShape& s, Random* r, Program* p) {
  p->Edit<rk::DpuOutCvtScale>([&](auto& f) { f.out_cvt_scale = Var(r->In(-32768, 32767)); });
  p->Edit<rk::DpuOutCvtShift>([&](auto& f) {
    f.out_cvt_shift = Var(r->In(14, 26));
    f.cvt_round = Var(r->In(0, 1));
  });
  p->Edit<rk::DpuOutCvtOffset>([&](auto& f) { f.out_cvt_offset = Var(r->In(-140, 140)); });
  p->Edit<rk::DpuBsOwOp>([&](auto& f) { f.ow_op = Var(r->OneIn(2) ? r->In(-255, 255) : 0); });
  // In one byte, as Mesa writes it, or in all four.
  const auto pad = static_cast<uint32_t>(r->In(0, 255)) * (r->OneIn(3) ? 1u : 0x01010101u);
  p->Edit<rk::CnaPadCon1>([&](auto& f) { f.pad_value = Var(static_cast<int32_t>(pad)); });
  if (r->OneIn(3)) {
    p->Edit<rk::DpuBnCfg>([&](auto& f) {
      f.bn_bypass = 0;
      f.bn_alu_bypass = 1;
      f.bn_mul_bypass = 1;
      f.bn_relux_en = Var(r->In(0, 1));
    });
    p->Edit<rk::DpuBnReluxCmpValue>([&](auto& f) { f.bn_relux_cmp_dat = Var(r->In(0, 90000)); });
  }
  if (r->OneIn(3)) {  // 64-byte records: per-channel addend, compensation and multiplier
    p->Edit<rk::DpuRdmaBrdmaCfg>([](auto& f) {
      f.brdma_use_cpend = 1;
      f.brdma_use_mul = 1;
    });
    p->Edit<rk::DpuBsCfg>([](auto& f) { f.bs_mul_bypass = 0; });
    const int shift = r->In(8, 15);
    p->Edit<rk::DpuBsMulCfg>([&](auto& f) {
      f.bs_mul_src = rk::OperandSrc::kDma;
      f.bs_mul_shift_value = Var(shift);
    });
    p->Edit<rk::DpuDataFormat>([&](auto& f) { f.bs_mul_shift_value_neg = Var(shift); });
    if (r->OneIn(2)) {
      p->Edit<rk::DpuBsOwCfg>([](auto& f) { f.ow_src = rk::OperandSrc::kDma; });
    }
  }
  if (s.depthwise || !r->OneIn(3)) return;
  const int plane = s.oh() * s.ow();  // a fused add (rk3588-dpu-ppu 9.3)
  p->Edit<rk::DpuEwCfg>([&](auto& f) {
    f.ew_bypass = 0;
    f.ew_op_src = rk::OperandSrc::kDma;
    f.ew_relu_bypass = Var(r->In(0, 1));
    f.ew_alu_algo = rk::AluAlgoEw::kAdd;
    f.edata_size = rk::DataBits::kBits8;
    f.ew_data_mode = Var(1);
    f.ew_cvt_type = Var(r->In(0, 1));
  });
  p->Edit<rk::DpuEwCvtScaleValue>([&](auto& f) {
    f.ew_op_cvt_scale = Var(r->In(1, 32767));
    f.ew_op_cvt_shift = Var(r->In(0, 14));
  });
  p->Edit<rk::DpuEwCvtOffsetValue>([&](auto& f) { f.ew_op_cvt_offset = Var(r->In(-128, 128)); });
  p->Edit<rk::DpuRdmaFeatureModeCfg>([](auto& f) {
    f.mrdma_disable = 0;
    f.comb_use = 5;
  });
  p->Edit<rk::DpuRdmaErdmaCfg>([](auto& f) {
    f.erdma_disable = 0;
    f.erdma_data_size = rk::DataBits::kBits8;
    f.erdma_data_mode = rk::ErdmaMode::kPerPixel;
  });
  p->Edit<rk::DpuRdmaSrcBaseAddr>([](auto& f) { f.src_base_addr = kOperand; });
  p->Edit<rk::DpuRdmaEwBaseAddr>(
      [&](auto& f) { f.ew_base_addr = Var(static_cast<int>(kOperand) + 16 * plane); });
  p->Edit<rk::DpuRdmaEwSurfStride>([&](auto& f) { f.ew_surf_stride = Var(plane); });
  p->Edit<rk::DpuRdmaSurfNotch>([&](auto& f) { f.surf_notch_addr = Var(plane); });
  p->Edit<rk::DpuRdmaEwSurfNotch>([&](auto& f) { f.ew_surf_notch = Var(plane); });
}

Program RandomProgram(const ConvShape& s, Random* r) {
  const int kernels = s.depthwise ? 1 : s.oc - r->In(0, 3) * r->In(0, 7);
  const int form = s.depthwise ? 0 : r->In(0, 3);
  Program p = form == 3 ? MakeRawConv(s) : MakeConv(s);
  p.Edit<rk::CnaWeightSize2>([&](auto& f) { f.weight_kernels = Var(kernels); });
  p.Edit<rk::CnaWeightSize0>([&](auto& f) { f.weight_bytes = Var(kernels * s.kh * s.kw * s.ic); });
  if (form != 3) {
    RandomStages(s, r, &p);
  } else if (r->OneIn(2)) {
    p.Edit<rk::DpuDataFormat>([](auto& f) { f.out_precision = rk::PrecisionDpu::kFp32; });
  }
  return p;
}

void ExpectSamePaths(uint32_t first_seed, int count, WorkerPool* pool) {
  SimOptions options;
  Machine clear(options);
  options.path = Path::kFast;
  options.pool = pool;
  Machine fast(options);
  std::mt19937 fill(first_seed);
  for (size_t i = 0; i < clear.bytes.size(); ++i) {
    clear.bytes[i] = fast.bytes[i] = static_cast<std::byte>(fill() >> 13);
  }
  for (int i = 0; i < count; ++i) {
    const uint32_t seed = first_seed + static_cast<uint32_t>(i);
    Random random(seed);
    const ConvShape s = RandomShape(&random);
    const Program p = RandomProgram(s, &random);
    const KickResult a = clear.Run(p);
    const KickResult b = fast.Run(p);
    ASSERT_EQ(a.outcome, Outcome::kComplete) << "seed " << seed << ": " << a.reason;
    ASSERT_EQ(b.outcome, Outcome::kComplete) << "seed " << seed << ": " << b.reason;
    const std::string shape = std::to_string(s.ic) + "x" + std::to_string(s.ih) + "x" +
                              std::to_string(s.iw) + " -> " + std::to_string(s.oc) + " kernel " +
                              std::to_string(s.kh) + "x" + std::to_string(s.kw);
    ASSERT_TRUE(clear.bytes == fast.bytes) << "seed " << seed << ": " << shape;
  }
}

TEST(FastPath, EqualsTheClearPathOnOneThread) { ExpectSamePaths(1000, 150, nullptr); }

TEST(FastPath, EqualsTheClearPathOnThreeThreads) {
  WorkerPool pool(3);
  ExpectSamePaths(2000, 150, &pool);
}

}  // namespace
}  // namespace npu::sim
