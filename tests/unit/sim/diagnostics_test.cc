// SPDX-License-Identifier: Apache-2.0
// Every finding of the strict checks and every gate of the coverage, raised by one changed field of
// a program that is otherwise clean.
#include "src/sim/diagnostics.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/sim/program.h"
#include "tests/unit/sim/rows.h"

namespace npu::sim {
namespace {

using regs::Var;

const ConvShape kShape{.ic = 64, .ih = 8, .iw = 8, .oc = 64};
ConvShape Depthwise() {
  ConvShape s = kShape;
  s.depthwise = true;
  s.kh = s.kw = 3;
  return s;
}

// A fused add behind the convolution: COMB_USE 5, 8-bit operand at kOperand (dpu-ppu 9.3).
Program Fused(Program p) {
  p.Edit<rk::DpuEwCfg>([](auto& r) {
    r.ew_bypass = 0;
    r.ew_op_src = rk::OperandSrc::kDma;
    r.ew_relu_bypass = 1;
    r.ew_alu_algo = rk::AluAlgoEw::kAdd;
    r.edata_size = rk::DataBits::kBits8;
    r.ew_data_mode = Var(1);
    r.ew_cvt_type = rk::CvtOrder::kAddFirst;
  });
  p.Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) {
    r.mrdma_disable = 0;
    r.comb_use = 5;
  });
  p.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) {
    r.erdma_disable = 0;
    r.erdma_data_size = rk::DataBits::kBits8;
    r.erdma_data_mode = rk::ErdmaMode::kPerPixel;
  });
  p.Edit<rk::DpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kOperand; });
  p.Edit<rk::DpuRdmaEwBaseAddr>([](auto& r) { r.ew_base_addr = kOperand + 1024; });
  p.Edit<rk::DpuRdmaEwSurfStride>([](auto& r) { r.ew_surf_stride = 64; });
  p.Edit<rk::DpuRdmaSurfNotch>([](auto& r) { r.surf_notch_addr = 64; });
  p.Edit<rk::DpuRdmaEwSurfNotch>([](auto& r) { r.ew_surf_notch = 64; });
  return p;
}

// One int8 channel of packed pixels, recentred (conv-matmul 8.7).
Program Pixels() {
  ConvShape s = kShape;
  s.ic = 16;
  Program p = MakeConv(s);
  p.Edit<rk::CnaConvCon1>([](auto& r) {
    r.argb_in = rk::ArgbIn::kCh1;
    r.group_line_off = 1;
    r.nonalign_dma = 1;
  });
  p.Edit<rk::CnaCvtCon0>([](auto& r) {
    r.cvt_bypass = 0;
    r.cvt_truncate_0 = 14;
  });
  p.Edit<rk::CnaCvtCon1>([](auto& r) {
    r.cvt_scale0 = 16384;
    r.cvt_offset0 = -128;
  });
  p.Edit<rk::CnaCvtCon5>([](auto& r) { r.per_channel_cvt_en = 0xFFFF; });
  return p;
}

Program Base(std::string_view name) {
  if (name == "raw") return MakeRawConv(kShape);
  if (name == "depthwise") return MakeConv(Depthwise());
  if (name == "add") return Fused(MakeConv(kShape));
  if (name == "pixels") return Pixels();
  if (name == "elementwise") return MakeElementwise(8);
  return MakeConv(kShape);
}

TEST(Diagnostics, TheBasesAreClean) {
  for (const char* base : {"conv", "raw", "depthwise", "add", "pixels", "elementwise"}) {
    CheckClean(base, Base(base));
  }
}

// Launches that lack a producer or a consumer.
std::vector<Row> StreamErrors() {
  constexpr Outcome kHang = Outcome::kHang;
  return {
      {"conv", "stream.main_missing", kHang, [](Program& p) { p.mask = 0x1C; }},
      {"conv", "stream.main_missing", kHang, [](Program& p) { p.mask = 0x19; }},
      {"elementwise", "stream.main_missing", kHang, [](Program& p) { p.mask = 0x08; }},
      {"elementwise", "stream.main_missing", kHang,
       Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.mrdma_disable = 1; })},
      {"elementwise", "stream.core_unread", kHang, [](Program& p) { p.mask = 0x1D; }},
      {"conv", "stream.no_dpu", kHang, [](Program& p) { p.mask = 0x05; }},
      {"conv", "stream.flying_mismatch", kHang,
       Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.flying_mode = 1; })},
      {"conv", "stream.mrdma_unfed", kHang,
       Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.mrdma_disable = 0; })},
      {"conv", "stream.mrdma_unread", kHang, Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) {
         r.mrdma_disable = 0;
         r.comb_use = 5;
       })},
      {"conv", "stream.erdma_unread", kHang,
       Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_disable = 0; })},
      {"add", "stream.erdma_without_mrdma", kHang, Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) {
         r.mrdma_disable = 1;
         r.comb_use = 0;
       })},
      {"add", "stream.ew_operand_missing", kHang,
       Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_disable = 1; })},
      {"conv", "stream.bs_operand_missing", kHang,
       Edit<rk::DpuRdmaBrdmaCfg>([](auto& r) { r.brdma_use_alu = 0; })},
      {"conv", "stream.bs_operand_missing", kHang,
       Edit<rk::DpuBsOwCfg>([](auto& r) { r.ow_src = rk::OperandSrc::kDma; })},
      {"conv", "stream.nrdma", kHang,
       Edit<rk::DpuRdmaNrdmaCfg>([](auto& r) { r.nrdma_use_alu = 1; })},
      {"conv", "stream.nrdma", kHang, Edit<rk::DpuBnCfg>([](auto& r) {
         r.bn_bypass = 0;
         r.bn_alu_src = rk::OperandSrc::kDma;
         r.bn_alu_algo = rk::AluAlgoAffine::kAdd;
       })},
  };
}

// Other findings after which the task hangs, faults, or completes.
std::vector<Row> ProgramErrors() {
  constexpr Outcome kHang = Outcome::kHang, kDone = Outcome::kComplete;
  return {
      {"conv", "memory.unaligned", kHang,
       Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = kOutput + 8; })},
      {"conv", "memory.write_fault", Outcome::kFault,
       Edit<rk::DpuDstBaseAddr>([](auto& r) { r.dst_base_addr = 0xC0DE0000; })},
      {"conv", "memory.write_fault", Outcome::kFault, Edit<rk::DpuDstBaseAddr>([](auto& r) {
         r.dst_base_addr = kMemoryBase + kMemorySize - 1024;
       })},
      {"conv", "memory.read_fault", Outcome::kFault,
       Edit<rk::CnaFeatureDataAddr>([](auto& r) { r.feature_base_addr = 0xFFFFFFF0; })},
      {"conv", "memory.read_fault", Outcome::kFault,
       Edit<rk::CnaDcompAddr0>([](auto& r) { r.decompress_addr0 = 0x1000; })},
      {"conv", "memory.read_fault", Outcome::kFault,
       Edit<rk::DpuRdmaBsBaseAddr>([](auto& r) { r.bs_base_addr = 0x1000; })},
      {"add", "memory.read_fault", Outcome::kFault,
       Edit<rk::DpuRdmaEwBaseAddr>([](auto& r) { r.ew_base_addr = 0x1000; })},
      {"conv", "cna.empty_input", kHang,
       Edit<rk::CnaDataSize0>([](auto& r) { r.datain_width = 0; })},
      {"conv", "cna.empty_kernel", kHang,
       Edit<rk::CnaWeightSize2>([](auto& r) { r.weight_kernels = 0; })},
      {"conv", "cna.zero_stride", kHang,
       Edit<rk::CnaConvCon3>([](auto& r) { r.conv_x_stride = 0; })},
      {"conv", "cna.output_mismatch", kHang,
       Edit<rk::CnaDataSize2>([](auto& r) { r.dataout_width = 7; })},
      {"conv", "core.mode_mismatch", kHang, Edit<rk::CoreMiscCfg>([](auto& r) { r.dw_en = 1; })},
      {"depthwise", "cna.depthwise_kernels", kDone,
       Edit<rk::CnaWeightSize2>([](auto& r) { r.weight_kernels = 2; })},
      {"conv", "cna.weight_size", kDone,
       Edit<rk::CnaWeightSize0>([](auto& r) { r.weight_bytes = 4095; })},
      {"conv", "cna.fc_data_bank", kDone,
       Edit<rk::CnaCbufCon0>([](auto& r) { r.fc_data_bank = 1; })},
      {"conv", "cna.bank_split", kDone, Edit<rk::CnaCbufCon0>([](auto& r) { r.weight_bank = 12; })},
      {"conv", "cna.data_banks", kDone, Edit<rk::CnaCbufCon0>([](auto& r) { r.data_bank = 0; })},
      {"conv", "cna.data_entries", kDone,
       Edit<rk::CnaCbufCon1>([](auto& r) { r.data_entries = 7; })},
      {"conv", "cna.reuse_first", kDone, Edit<rk::CnaCbufCon0>([](auto& r) { r.data_reuse = 1; })},
      {"conv", "dpu.cube_mismatch", kHang,
       Edit<rk::DpuDataCubeWidth>([](auto& r) { r.width = 6; })},
      {"conv", "dpu.cube_mismatch", kHang,
       Edit<rk::DpuWdmaSize0>([](auto& r) { r.channel_wdma = 31; })},
      {"conv", "dpu.mode_mismatch", kHang,
       Edit<rk::DpuFeatureModeCfg>([](auto& r) { r.conv_mode = rk::ConvMode::kDepthwise; })},
      {"conv", "rdma.cube_mismatch", kHang,
       Edit<rk::DpuRdmaDataCubeHeight>([](auto& r) { r.height = 6; })},
      {"add", "rdma.ew_stride", kDone,
       [](Program& p) {
         ConvShape one = kShape;
         one.oc = 32;  // two surfaces
         p = Fused(MakeConv(one));
         p.Edit<rk::DpuRdmaEwSurfStride>([](auto& r) { r.ew_surf_stride = 0; });
       }},
      {"add", "rdma.in_place", kDone,
       Edit<rk::DpuRdmaSrcBaseAddr>([](auto& r) { r.src_base_addr = kOutput; })},
      {"add", "dpu.ew_int32_operand", kDone,
       [](Program& p) {
         p.Edit<rk::DpuEwCfg>([](auto& r) { r.edata_size = rk::DataBits::kBits32; });
         p.Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_data_size = rk::DataBits::kBits32; });
       }},
      {"conv", "dpu.int16_output", kHang,
       Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kInt16; })},
      {"conv", "dpu.output_code_7", kDone,
       Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = Var(7); })},
      {"conv", "core.qd_en", kDone, Edit<rk::CoreMiscCfg>([](auto& r) { r.qd_en = 0; })},
      {"raw", "dpu.cpend_raw", kDone, Edit<rk::DpuBsOwCfg>([](auto& r) { r.od_bypass = 0; })},
      {"conv", "dpu.out_cvt_scale_zero", kDone,
       Edit<rk::DpuOutCvtScale>([](auto& r) { r.out_cvt_scale = 0; })},
      {"conv", "writer.size_e", kHang, Edit<rk::DpuBsOwCfg>([](auto& r) {
         r.size_e_0 = 3;
         r.size_e_1 = 3;
         r.size_e_2 = 3;
       })},
      {"conv", "writer.surface_add", kDone,
       Edit<rk::DpuSurfaceAdd>([](auto& r) { r.surf_add = 64; })},
  };
}

void Check(const Row& row) { CheckRow(row, Base(row.base)); }

TEST(Diagnostics, StreamErrors) {
  for (const Row& row : StreamErrors()) Check(row);
}

TEST(Diagnostics, ProgramErrors) {
  for (const Row& row : ProgramErrors()) Check(row);
}

// Element types, units, and features of CNA.
std::vector<Row> ConvGates() {
  constexpr Outcome kGate = Outcome::kUnimplemented;
  return {
      {"conv", "unimplemented.mixed_types", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.proc_precision = rk::PrecisionMac::kFp16; })},
      {"conv", "unimplemented.int16", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.in_precision = rk::PrecisionMac::kInt16; })},
      {"conv", "unimplemented.bf16", kGate,
       Edit<rk::CoreMiscCfg>([](auto& r) { r.proc_precision = rk::PrecisionMac::kBf16; })},
      {"conv", "unimplemented.int4", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.proc_precision = rk::PrecisionDpu::kInt4; })},
      {"conv", "unimplemented.tf32", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.proc_precision = rk::PrecisionMac::kTf32; })},
      {"elementwise", "unimplemented.int32_input", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.in_precision = rk::PrecisionDpu::kInt32; })},
      {"elementwise", "unimplemented.fp32_input", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.proc_precision = rk::PrecisionDpu::kFp32; })},
      {"conv", "unimplemented.lut", kGate, Edit<rk::DpuEwCfg>([](auto& r) {
         r.ew_bypass = 0;
         r.ew_lut_bypass = 0;
       })},
      {"conv", "unimplemented.deconv", kGate, Edit<rk::CnaConvCon1>([](auto& r) { r.deconv = 1; })},
      {"conv", "unimplemented.conv_mode", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.conv_mode = Var(1); })},
      {"conv", "unimplemented.kernel_group", kGate,
       Edit<rk::CnaConvCon2>([](auto& r) { r.kernel_group = 1; })},
      {"conv", "unimplemented.csc_control", kGate,
       Edit<rk::CnaConvCon2>([](auto& r) { r.csc_do_disable = 1; })},
      {"conv", "unimplemented.multi_core", kGate,
       Edit<rk::CnaConvCon3>([](auto& r) { r.nn_mode = Var(1); })},
      {"conv", "unimplemented.surf_mode", kGate,
       Edit<rk::CnaDataSize3>([](auto& r) { r.surf_mode = Var(2); })},
      {"conv", "unimplemented.fc_skip", kGate,
       Edit<rk::CnaFcCon0>([](auto& r) { r.fc_skip_en = 1; })},
      {"conv", "unimplemented.weight_compression", kGate,
       Edit<rk::CnaDcompRegnum>([](auto& r) { r.dcomp_regnum = 1; })},
      {"pixels", "unimplemented.packed_pixels", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.argb_in = rk::ArgbIn::kCh3; })},
      {"pixels", "unimplemented.packed_pixels_flags", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.nonalign_dma = 0; })},
      {"conv", "unimplemented.nonalign_dma", kGate,
       Edit<rk::CnaConvCon1>([](auto& r) { r.nonalign_dma = 1; })},
      {"conv", "unimplemented.input_converter", kGate,
       Edit<rk::CnaCvtCon0>([](auto& r) { r.cvt_bypass = 0; })},
      {"pixels", "unimplemented.input_converter", kGate,
       Edit<rk::CnaCvtCon1>([](auto& r) { r.cvt_scale0 = 16385; })},
      {"conv", "unimplemented.dma_window", kGate,
       Edit<rk::CnaFcDataSize0>([](auto& r) { r.dma_height = 7; })},
  };
}

// Features of the DPU and its read DMA.
std::vector<Row> DpuGates() {
  constexpr Outcome kGate = Outcome::kUnimplemented;
  return {
      {"conv", "unimplemented.dpu_to_ppu", kGate,
       Edit<rk::DpuFeatureModeCfg>([](auto& r) { r.output_mode = rk::OutputMode::kToBoth; })},
      {"conv", "unimplemented.dpu_write_modes", kGate,
       Edit<rk::DpuFeatureModeCfg>([](auto& r) { r.tp_en = 1; })},
      {"conv", "unimplemented.int8_to_float16", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kFp16; })},
      {"conv", "unimplemented.narrowing", kGate,
       Edit<rk::DpuOutCvtScale>([](auto& r) { r.fp32tofp16_en = 1; })},
      {"conv", "unimplemented.offset_pend", kGate,
       Edit<rk::DpuOffsetPend>([](auto& r) { r.offset_pend = 1; })},
      {"conv", "unimplemented.minmax", kGate,
       Edit<rk::DpuDataCubeHeight>([](auto& r) { r.minmax_ctl = 1; })},
      {"conv", "unimplemented.transposed_writer", kGate,
       Edit<rk::DpuBsOwCfg>([](auto& r) { r.tp_org_en = 1; })},
      {"conv", "unimplemented.size_c_wdma", kGate,
       Edit<rk::DpuWdmaSize0>([](auto& r) { r.size_c_wdma = 1; })},
      {"conv", "unimplemented.notch", kGate,
       Edit<rk::DpuDataCubeNotchAddr>([](auto& r) { r.notch_addr_0 = 1; })},
      {"conv", "unimplemented.size_e", kGate,
       Edit<rk::DpuBsOwCfg>([](auto& r) { r.size_e_2 = 0; })},
      {"conv", "unimplemented.bs_algorithm", kGate,
       Edit<rk::DpuBsCfg>([](auto& r) { r.bs_alu_algo = Var(3); })},
      {"conv", "unimplemented.bn_algorithm", kGate,
       Edit<rk::DpuBnCfg>([](auto& r) { r.bn_bypass = 0; })},
      {"conv", "unimplemented.per_channel_shift", kGate,
       Edit<rk::DpuBsMulCfg>([](auto& r) { r.bs_truncate_src = rk::OperandSrc::kDma; })},
      {"conv", "unimplemented.brdma_layout", kGate,
       Edit<rk::DpuRdmaBrdmaCfg>([](auto& r) { r.brdma_use_mul = 1; })},
      {"add", "unimplemented.ew_integer_mul", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_op_type = 1; })},
      {"conv", "unimplemented.ew_register_operand", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_bypass = 0; })},
      {"add", "unimplemented.ew_operand_width", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.edata_size = rk::DataBits::kBits16; })},
      {"add", "unimplemented.ew_data_mode", kGate,
       Edit<rk::DpuRdmaErdmaCfg>([](auto& r) { r.erdma_surf_mode = 1; })},
      {"add", "unimplemented.ew_algorithm", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_alu_algo = rk::AluAlgoEw::kDiv; })},
      {"add", "unimplemented.ew_compare", kGate,
       Edit<rk::DpuEwCfg>([](auto& r) { r.ew_equal_en = 1; })},
      {"add", "unimplemented.ew_row_tile", kGate,
       Edit<rk::DpuRdmaEwSurfStride>([](auto& r) { r.ew_surf_stride = 96; })},
      {"add", "unimplemented.comb_use", kGate,
       Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.comb_use = 1; })},
      {"conv", "unimplemented.unpooling", kGate,
       Edit<rk::DpuRdmaSrcDmaCfg>([](auto& r) { r.unpooling_en = 1; })},
      {"conv", "unimplemented.rdma_line_notch", kGate,
       Edit<rk::DpuRdmaDataCubeHeight>([](auto& r) { r.ew_line_notch_addr = 1; })},
      {"conv", "unimplemented.fp16_in_integer_task", kGate,
       Edit<rk::DpuRdmaFeatureModeCfg>([](auto& r) { r.mrdma_fp16tofp32_en = 1; })},
      {"elementwise", "unimplemented.flying_output", kGate,
       Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kInt32; })},
  };
}

TEST(Diagnostics, UnimplementedFeaturesAreNamedAndNotComputed) {
  for (const Row& row : ConvGates()) Check(row);
  for (const Row& row : DpuGates()) Check(row);
}

TEST(Diagnostics, RdmaBlockNeverConfigured) {
  Machine m;
  Program p = MakeRawConv(kShape);
  p.mask = rk::kEnableConvNoRdma;
  p.Drop<rk::DpuRdmaDataCubeChannel>().Drop<rk::DpuRdmaDataCubeHeight>();
  p.Drop<rk::DpuRdmaDataCubeWidth>().Drop<rk::DpuRdmaFeatureModeCfg>();
  p.Drop<rk::DpuRdmaErdmaCfg>().Drop<rk::DpuRdmaBrdmaCfg>();
  EXPECT_TRUE(Has(m.Run(p), "stream.rdma_never_configured"));
  m.core.Reset();
  ASSERT_EQ(m.Run(MakeRawConv(kShape)).outcome, Outcome::kComplete);
  EXPECT_EQ(m.Run(p).outcome, Outcome::kComplete);  // configured once since reset

  SimOptions options;
  options.assume.rdma_must_be_configured_once = false;
  Machine lenient(options);
  EXPECT_EQ(lenient.Run(p).outcome, Outcome::kComplete);
}

TEST(Diagnostics, PartialChannelGroups) {
  ConvShape s = kShape;
  s.oc = 48;
  Machine m;
  const KickResult int8_output = m.Run(MakeConv(s));
  EXPECT_EQ(int8_output.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(int8_output, "writer.partial_group"));
  m.core.Reset();
  const KickResult raw = m.Run(MakeRawConv(s));
  EXPECT_EQ(raw.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(raw, "writer.partial_group"));
}

TEST(Diagnostics, DepthwiseRawOutput) {
  Machine m;
  Program p = MakeConv(Depthwise());
  p.Edit<rk::DpuDataFormat>([](auto& r) { r.out_precision = rk::PrecisionDpu::kInt32; });
  EXPECT_TRUE(Has(m.Run(p), "dpu.depthwise_raw"));
}

TEST(Diagnostics, KernelLargerThanABank) {
  ConvShape s{.ic = 1024, .ih = 6, .iw = 6, .oc = 32, .kh = 6, .kw = 6};
  Machine m;
  const KickResult result = m.Run(MakeConv(s));
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(result, "cna.kernel_exceeds_bank"));
}

TEST(Diagnostics, TooManyMacs) {
  SimOptions options;
  options.max_task_macs = 8 * 8 * 64 * 64 - 1;
  Machine m(options);
  const KickResult result = m.Run(MakeConv(kShape));
  EXPECT_EQ(result.outcome, Outcome::kHang);
  EXPECT_TRUE(Has(result, "task.too_long"));
}

TEST(Diagnostics, WarningsLeaveTheTaskRunning) {
  Machine m;
  ConvShape s = kShape;
  s.pad_top = 1;
  Program p = MakeConv(s);
  p.Edit<rk::CnaPadCon1>([](auto& r) { r.pad_value = 0x7E; });
  p.Edit<rk::DpuBsMulCfg>([](auto& r) { r.bs_mul_operand = 1; });
  p.Edit<rk::DpuBsCfg>([](auto& r) { r.bs_mul_bypass = 0; });
  p.Edit<rk::DpuDataFormat>([](auto& r) { r.bs_mul_shift_value_neg = 1; });
  const KickResult result = m.Run(p);
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(Has(result, "cna.pad_bytes"));
  EXPECT_TRUE(Has(result, "dpu.split_shift"));
  EXPECT_FALSE(HasErrors(result.diagnostics));
}

// conv-matmul 5.4: a reused operand is the copy that the task before left.
TEST(Diagnostics, ReuseKeepsTheOperandOfTheTaskBefore) {
  Machine m;
  m.Put(kWeights, RandomTensor(64 * 64, 3, -2, 2));
  m.Put(kFeatures, RandomTensor(64 * 64, 4, -2, 2));
  ASSERT_EQ(m.Run(MakeConv(kShape)).outcome, Outcome::kComplete);
  const int8_t before = m.Byte(kOutput + 77);
  m.Fill(kWeights, 64 * 64, 0);
  Program reuse = MakeConv(kShape);
  reuse.Edit<rk::CnaCbufCon0>([](auto& r) { r.weight_reuse = 1; });
  const KickResult result = m.Run(reuse, false);
  EXPECT_EQ(result.outcome, Outcome::kComplete);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(m.Byte(kOutput + 77), before);
  EXPECT_EQ(result.tasks.at(0).weight_bytes, 0u);

  reuse.Edit<rk::CnaCbufCon0>([](auto& r) { r.weight_bank = 10; });
  EXPECT_TRUE(Has(m.Run(reuse, false), "cna.reuse_weights"));
  reuse.Edit<rk::CnaCbufCon0>([](auto& r) { r.weight_reuse = 0; });
  ConvShape other = kShape;
  other.ih = 4;
  ASSERT_EQ(m.Run(MakeConv(other), false).outcome, Outcome::kComplete);
  reuse.Edit<rk::CnaCbufCon0>([](auto& r) { r.data_reuse = 1; });
  EXPECT_TRUE(Has(m.Run(reuse, false), "cna.reuse_data"));
}

TEST(Diagnostics, TextNamesTaskCommandAndDecodedRegister) {
  Machine m;
  Program p = MakeConv(kShape);
  p.Edit<rk::CnaCbufCon0>([](auto& r) { r.fc_data_bank = 3; });
  const KickResult result = m.Run(p);
  const Diagnostic* d = Find(result, "cna.fc_data_bank");
  ASSERT_NE(d, nullptr);
  const std::vector<uint64_t> words = p.Words();
  ASSERT_TRUE(d->command);
  EXPECT_EQ(regs::Split(words.at(*d->command)).offset, rk::CnaCbufCon0::kOffset);
  EXPECT_EQ(ToString(*d), "error cna.fc_data_bank task 0 command " + std::to_string(*d->command) +
                              ": FC_DATA_BANK 3 corrupts (erratum E4) [CNA.CBUF_CON0 = "
                              "0x000003B1 {DATA_BANK 1, WEIGHT_BANK 11, FC_DATA_BANK 3}]");
}

TEST(Diagnostics, InheritedAndUnwrittenRegistersSayThatTheyAre) {
  Machine m;
  const KickResult result = m.RunWords({regs::EnableWord(rk::kEnableConv), regs::kNopWord});
  const Diagnostic* d = Find(result, "stream.mrdma_unfed");
  ASSERT_NE(d, nullptr);
  EXPECT_FALSE(d->command);
  EXPECT_NE(d->reg.find("never written"), std::string::npos) << d->reg;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The string literals of `text` that look like an id: a known prefix, a dot, a name.
std::vector<std::string> IdsIn(const std::string& text) {
  std::vector<std::string> ids;
  size_t begin = 0;
  for (size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
    const std::string literal = text.substr(begin, at - begin);
    begin = at + 1;
    if (literal.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
      continue;
    }
    const std::string prefix = literal.substr(0, literal.find('.'));
    for (const char* known : {"stream", "cna", "core", "dpu", "writer", "rdma", "memory", "pc",
                              "task", "ppu", "unimplemented"}) {
      if (prefix == known && literal != prefix) ids.push_back(literal);
    }
  }
  return ids;
}

// Ids are stable names: each one in the code has a row in the documentation.
TEST(Diagnostics, EveryIdIsDocumented) {
  const std::filesystem::path root(NPU_SOURCE_DIR);
  const std::string document = ReadFile(root / "docs/hardware/diagnostics.md");
  size_t ids = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "src/sim")) {
    if (entry.path().extension() != ".cc") continue;
    for (const std::string& id : IdsIn(ReadFile(entry.path()))) {
      EXPECT_NE(document.find("| " + id + " |"), std::string::npos) << id;
      ++ids;
    }
  }
  EXPECT_GT(ids, 100u);
}

}  // namespace
}  // namespace npu::sim
