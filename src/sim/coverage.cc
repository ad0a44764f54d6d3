// SPDX-License-Identifier: Apache-2.0
#include "src/sim/coverage.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;
using regs::Block;

struct Feature {
  std::string_view id;
  std::string_view name;
};

// The feature a MAC precision code needs; empty for int8 and fp16.
Feature PrecisionFeature(int64_t code) {
  switch (code) {
    case 0:
    case 2:
      return {};
    case 1:
      return {"unimplemented.int16", "int16"};
    case 3:
      return {"unimplemented.bf16", "bf16"};
    case 4:
      return {"unimplemented.int32_input", "int32 processing"};
    case 5:
      return {"unimplemented.fp32_input", "fp32 processing"};
    case 6:
      return {"unimplemented.int4", "int4"};
    default:
      return {"unimplemented.tf32", "tf32"};
  }
}

template <typename Reg>
void GatePrecision(TaskView* view, int64_t code) {
  const Feature feature = PrecisionFeature(code);
  view->Unimplemented<Reg>(!feature.id.empty(), feature.id, feature.name);
}

// Element types and units that every other gate depends on: with one of them missing, the gates of
// the integer datapath would name features that the task does not really need.
void GateTypes(TaskView* view) {
  if (view->has(Block::kCna)) {
    const auto con1 = view->Get<rk::CnaConvCon1>();
    GatePrecision<rk::CnaConvCon1>(view, con1.proc_precision.get());
    GatePrecision<rk::CnaConvCon1>(view, con1.in_precision.get());
  }
  if (view->has(Block::kCore)) {
    GatePrecision<rk::CoreMiscCfg>(view, view->Get<rk::CoreMiscCfg>().proc_precision.get());
  }
  const auto format = view->Get<rk::DpuDataFormat>();
  // The DPU calls the accumulators of a tf32 convolution fp32, which is no other feature.
  if (!view->has(Block::kCna)) {
    GatePrecision<rk::DpuDataFormat>(view, format.proc_precision.get());
    GatePrecision<rk::DpuDataFormat>(view, format.in_precision.get());
  }
  const auto ew = view->Get<rk::DpuEwCfg>();
  view->Unimplemented<rk::DpuEwCfg>(ew.ew_bypass.get() == 0 && ew.ew_lut_bypass.get() == 0,
                                    "unimplemented.lut", "lookup table (LUT)");
}

// Whether the task computes in floats; the gates before have let int8 and fp16 pass.
bool IsReal(const TaskView& view) {
  return view.Get<rk::DpuDataFormat>().proc_precision.as_enum() == rk::PrecisionDpu::kFp16;
}

// The same types in the blocks that must agree.
void GateAgreement(TaskView* view) {
  const auto format = view->Get<rk::DpuDataFormat>();
  GatePrecision<rk::DpuDataFormat>(view, format.proc_precision.get());
  GatePrecision<rk::DpuDataFormat>(view, format.in_precision.get());
  if (!view->runs()) return;
  const int64_t code = format.proc_precision.get();
  bool mixed = format.in_precision.get() != code;
  if (view->has(Block::kCna)) {
    const auto con1 = view->Get<rk::CnaConvCon1>();
    mixed = mixed || con1.proc_precision.get() != code || con1.in_precision.get() != code;
  }
  if (view->has(Block::kCore)) {
    mixed = mixed || view->Get<rk::CoreMiscCfg>().proc_precision.get() != code;
  }
  view->Unimplemented<rk::DpuDataFormat>(mixed, "unimplemented.mixed_types",
                                         "blocks of one task with different element types");
  if (!view->has(Block::kDpuRdma)) return;
  // The types of DPU_RDMA matter when it reads cubes; drivers leave them 0 otherwise.
  const auto mode = view->Get<rk::DpuRdmaFeatureModeCfg>();
  const bool reads =
      mode.mrdma_disable.get() == 0 || view->Get<rk::DpuRdmaErdmaCfg>().erdma_disable.get() == 0;
  view->Unimplemented<rk::DpuRdmaFeatureModeCfg>(
      reads && (mode.proc_precision.get() != code || mode.in_precision.get() != code),
      "unimplemented.mixed_types", "blocks of one task with different element types");
  view->Unimplemented<rk::DpuRdmaFeatureModeCfg>(
      !IsReal(*view) && mode.mrdma_fp16tofp32_en.get() != 0, "unimplemented.fp16_in_integer_task",
      "FP16TOFP32_EN in an integer task");
}

void GateCna(TaskView* view) {
  const auto con1 = view->Get<rk::CnaConvCon1>();
  view->Unimplemented<rk::CnaConvCon1>(con1.deconv.get() != 0, "unimplemented.deconv",
                                       "hardware transposed convolution");
  view->Unimplemented<rk::CnaConvCon1>(con1.conv_mode.as_enum() != rk::ConvMode::kDirect &&
                                           con1.conv_mode.as_enum() != rk::ConvMode::kDepthwise,
                                       "unimplemented.conv_mode",
                                       "convolution modes other than direct and depthwise");
  const auto con2 = view->Get<rk::CnaConvCon2>();
  view->Unimplemented<rk::CnaConvCon2>(con2.kernel_group.get() != 0, "unimplemented.kernel_group",
                                       "KERNEL_GROUP other than 0");
  view->Unimplemented<rk::CnaConvCon2>(con2.cmd_fifo_srst.get() != 0 ||
                                           con2.csc_do_disable.get() != 0 ||
                                           con2.csc_wo_disable.get() != 0,
                                       "unimplemented.csc_control", "sequencer control bits");
  const auto con3 = view->Get<rk::CnaConvCon3>();
  view->Unimplemented<rk::CnaConvCon3>(con3.nn_mode.get() != 0 || con2.mc_mode.get() != 0,
                                       "unimplemented.multi_core", "multi-core co-work");
  view->Unimplemented<rk::CnaConvCon3>(
      con3.deconv_x_stride.get() != 0 || con3.deconv_y_stride.get() != 0, "unimplemented.deconv",
      "hardware transposed convolution");
  view->Unimplemented<rk::CnaDataSize3>(view->Get<rk::CnaDataSize3>().surf_mode.get() != 0,
                                        "unimplemented.surf_mode", "SURF_MODE other than 0");
  view->Unimplemented<rk::CnaFcCon0>(view->Get<rk::CnaFcCon0>().fc_skip_en.get() != 0 ||
                                         view->Get<rk::CnaFcCon0>().fc_skip_data.get() != 0 ||
                                         view->Get<rk::CnaFcCon1>().data_offset.get() != 0 ||
                                         view->Get<rk::CnaFcCon2>().weight_offset.get() != 0,
                                     "unimplemented.fc_skip", "zero skipping (FC_CON)");
  const auto dcomp = view->Get<rk::CnaDcompCtrl>();
  view->Unimplemented<rk::CnaDcompCtrl>(
      dcomp.decomp_control.get() != 0 || dcomp.wt_dec_bypass.get() != 0 ||
          view->Get<rk::CnaDcompRegnum>().dcomp_regnum.get() != 0 ||
          view->Get<rk::CnaDcompAmount0>().dcomp_amount0.get() != 0,
      "unimplemented.weight_compression", "compressed weights");
}

// Packed pixels and the input converter: one unsigned or signed 8-bit channel with an exact shift.
void GatePixels(TaskView* view) {
  const auto con1 = view->Get<rk::CnaConvCon1>();
  const bool pixels = con1.argb_in.get() != 0;
  view->Unimplemented<rk::CnaConvCon1>(pixels && IsReal(*view), "unimplemented.packed_pixels",
                                       "packed fp16 pixels");
  const auto cvt = view->Get<rk::CnaCvtCon0>();
  const auto set = view->Get<rk::CnaCvtCon1>();
  view->Unimplemented<rk::CnaConvCon1>(pixels && con1.argb_in.as_enum() != rk::ArgbIn::kCh1,
                                       "unimplemented.packed_pixels",
                                       "packed int8 pixels of 2 to 4 channels");
  view->Unimplemented<rk::CnaConvCon1>(
      pixels && (con1.group_line_off.get() == 0 || con1.nonalign_dma.get() == 0),
      "unimplemented.packed_pixels_flags", "packed pixels without GROUP_LINE_OFF and NONALIGN_DMA");
  view->Unimplemented<rk::CnaConvCon1>(!pixels && con1.nonalign_dma.get() != 0,
                                       "unimplemented.nonalign_dma",
                                       "NONALIGN_DMA outside packed pixels");
  view->Unimplemented<rk::CnaDataSize1>(
      pixels && view->Get<rk::CnaDataSize1>().datain_channel.get() != 16,
      "unimplemented.packed_pixels", "packed pixels not programmed as 16 channels");
  if (cvt.cvt_bypass.get() != 0) return;
  const int64_t truncate = cvt.cvt_truncate_0.get();
  const int64_t one = int64_t{1} << truncate;
  view->Unimplemented<rk::CnaCvtCon0>(
      !pixels || cvt.cvt_type.as_enum() != rk::CvtOrder::kMulFirst ||
          (set.cvt_scale0.get() & (one - 1)) != 0 ||
          (view->Get<rk::CnaCvtCon5>().per_channel_cvt_en.get() & 1) == 0,
      "unimplemented.input_converter", "input converter other than exact recentring of pixels");
}

void GateDpuModes(TaskView* view) {
  const auto mode = view->Get<rk::DpuFeatureModeCfg>();
  view->Unimplemented<rk::DpuFeatureModeCfg>(
      mode.output_mode.as_enum() != rk::OutputMode::kToMemory, "unimplemented.dpu_to_ppu",
      "DPU output other than to memory");
  view->Unimplemented<rk::DpuFeatureModeCfg>(
      mode.surf_len.get() != 0 || mode.nonalign.get() != 0 || mode.rgp_type.get() != 0 ||
          mode.tp_en.get() != 0 || mode.comb_use.get() != 0,
      "unimplemented.dpu_write_modes", "regrouping, transposing and non-aligned DPU output");
  const auto format = view->Get<rk::DpuDataFormat>();
  view->Unimplemented<rk::DpuDataFormat>(format.mc_surf_out.get() != 0, "unimplemented.multi_core",
                                         "multi-core co-work");
  const int64_t out = format.out_precision.get();
  const bool real = IsReal(*view);
  view->Unimplemented<rk::DpuDataFormat>(!real && (out == 2 || out == 3 || out == 6),
                                         "unimplemented.int8_to_float16",
                                         "16-bit float and int4 output of an int8 task");
  view->Unimplemented<rk::DpuDataFormat>(real && out != 2 && out != 5 && out != 7,
                                         "unimplemented.float_output",
                                         "output of an fp16 task other than fp16 and fp32");
  view->Unimplemented<rk::DpuOffsetPend>(view->Get<rk::DpuOffsetPend>().offset_pend.get() != 0,
                                         "unimplemented.offset_pend", "OFFSET_PEND other than 0");
  view->Unimplemented<rk::DpuDataCubeHeight>(
      view->Get<rk::DpuDataCubeHeight>().minmax_ctl.get() != 0, "unimplemented.minmax",
      "MINMAX_CTL");
  const auto ow = view->Get<rk::DpuBsOwCfg>();
  const auto wdma = view->Get<rk::DpuWdmaSize0>();
  view->Unimplemented<rk::DpuBsOwCfg>(
      ow.tp_org_en.get() != 0 || ow.rgp_cnter.get() != 0 || wdma.tp_precision.get() != 0,
      "unimplemented.transposed_writer", "transposed 16-bit writer");
  view->Unimplemented<rk::DpuWdmaSize0>(wdma.size_c_wdma.get() != 0, "unimplemented.size_c_wdma",
                                        "SIZE_C_WDMA");
  const auto notch = view->Get<rk::DpuDataCubeNotchAddr>();
  view->Unimplemented<rk::DpuDataCubeNotchAddr>(
      notch.notch_addr_0.get() != notch.notch_addr_1.get(), "unimplemented.notch",
      "different output line notches");
  view->Unimplemented<rk::DpuOutCvtScale>(
      view->Get<rk::DpuOutCvtScale>().fp32tofp16_en.get() != 0 && out != 2,
      "unimplemented.narrowing", "FP32TOFP16_EN on an output that is not fp16");
}

void GateScaleStages(TaskView* view) {
  const auto bs = view->Get<rk::DpuBsCfg>();
  const auto bn = view->Get<rk::DpuBnCfg>();
  const auto odd = [](rk::AluAlgoAffine algo) {
    return algo != rk::AluAlgoAffine::kAdd && algo != rk::AluAlgoAffine::kSub;
  };
  view->Unimplemented<rk::DpuBsCfg>(
      bs.bs_bypass.get() == 0 && bs.bs_alu_bypass.get() == 0 && odd(bs.bs_alu_algo.as_enum()),
      "unimplemented.bs_algorithm", "BS_ALU_ALGO not add or minus");
  view->Unimplemented<rk::DpuBnCfg>(
      bn.bn_bypass.get() == 0 && bn.bn_alu_bypass.get() == 0 && odd(bn.bn_alu_algo.as_enum()),
      "unimplemented.bn_algorithm", "BN_ALU_ALGO not add or minus");
  const auto bs_mul = view->Get<rk::DpuBsMulCfg>();
  const auto bn_mul = view->Get<rk::DpuBnMulCfg>();
  view->Unimplemented<rk::DpuBsMulCfg>(
      (bs.bs_bypass.get() == 0 && bs_mul.bs_truncate_src.get() != 0) ||
          (bn.bn_bypass.get() == 0 && bn_mul.bn_truncate_src.get() != 0),
      "unimplemented.per_channel_shift", "per-channel shift (TRUNCATE_SRC)");
}

// Behind a convolution, integers of 32 bits: measured to be garbage (rk3588-dpu-ppu 9.4).
bool HasInt32Operand(const TaskView& view) {
  return view.has(Block::kCna) && !IsReal(view) &&
         view.Get<rk::DpuEwCfg>().edata_size.as_enum() == rk::DataBits::kBits32;
}

// The register operand of EW: its float format is unmeasured, but zero is zero in all of them.
bool RegisterOperandIsZero(const TaskView& view) {
  return view.Get<rk::DpuEwOpValue0>().ew_operand_0.get() == 0 &&
         view.Get<rk::DpuEwOpValue1>().ew_operand_1.get() == 0 &&
         view.Get<rk::DpuEwOpValue2>().ew_operand_2.get() == 0 &&
         view.Get<rk::DpuEwOpValue3>().ew_operand_3.get() == 0 &&
         view.Get<rk::DpuEwOpValue4>().ew_operand_4.get() == 0 &&
         view.Get<rk::DpuEwOpValue5>().ew_operand_5.get() == 0 &&
         view.Get<rk::DpuEwOpValue6>().ew_operand_6.get() == 0 &&
         view.Get<rk::DpuEwOpValue7>().ew_operand_7.get() == 0;
}

void GateRealEw(TaskView* view) {
  const auto ew = view->Get<rk::DpuEwCfg>();
  const int64_t algo = ew.ew_alu_algo.get();
  view->Unimplemented<rk::DpuEwCfg>(ew.ew_op_type.get() == 0 && algo > 4,
                                    "unimplemented.ew_algorithm",
                                    "EW operation not add, minus, max, min, multiply or divide");
  view->Unimplemented<rk::DpuEwCfg>(
      ew.ew_binary_en.get() != 0 || (ew.ew_equal_en.get() != 0 && algo != 0 && algo != 1) ||
          ew.ew_mul_prelu.get() != 0,
      "unimplemented.ew_compare", "EW comparison (BINARY_EN, EQUAL_EN) and PReLU");
  if (ew.ew_op_src.as_enum() == rk::OperandSrc::kRegister) {
    view->Unimplemented<rk::DpuEwCfg>(!RegisterOperandIsZero(*view),
                                      "unimplemented.ew_register_operand",
                                      "EW operand from registers other than 0 in a float task");
    return;
  }
  view->Unimplemented<rk::DpuEwCfg>(ew.edata_size.as_enum() != rk::DataBits::kBits16,
                                    "unimplemented.ew_operand_width",
                                    "EW operand of a float task that is not 16 bits wide");
  view->Unimplemented<rk::DpuEwCfg>(ew.ew_data_mode.get() != 1, "unimplemented.ew_data_mode",
                                    "EW operand that is not per pixel");
  const auto scale = view->Get<rk::DpuEwCvtScaleValue>();
  view->Unimplemented<rk::DpuEwCvtScaleValue>(
      ew.ew_op_cvt_bypass.get() == 0 &&
          (scale.ew_op_cvt_scale.get() != 1 || scale.ew_op_cvt_shift.get() != 0 ||
           view->Get<rk::DpuEwCvtOffsetValue>().ew_op_cvt_offset.get() != 0),
      "unimplemented.ew_float_converter", "EW operand converter other than 1 in a float task");
}

void GateEw(TaskView* view) {
  const auto ew = view->Get<rk::DpuEwCfg>();
  if (ew.ew_bypass.get() != 0) return;
  if (ew.ew_op_bypass.get() != 0) return;
  if (IsReal(*view)) return GateRealEw(view);
  view->Unimplemented<rk::DpuEwCfg>(ew.ew_op_type.get() != 0, "unimplemented.ew_integer_mul",
                                    "integer EW multiplication");
  view->Unimplemented<rk::DpuEwCfg>(ew.ew_op_src.as_enum() == rk::OperandSrc::kRegister,
                                    "unimplemented.ew_register_operand",
                                    "integer EW operand from registers");
  if (HasInt32Operand(*view)) {
    view->Garbage<rk::DpuEwCfg>("dpu.ew_int32_operand",
                                "a 32-bit integer EW operand behind a convolution gives garbage");
    return;
  }
  view->Unimplemented<rk::DpuEwCfg>(ew.edata_size.as_enum() != rk::DataBits::kBits8,
                                    "unimplemented.ew_operand_width",
                                    "integer EW operand that is not 8 bits wide");
  view->Unimplemented<rk::DpuEwCfg>(ew.ew_data_mode.get() != 1, "unimplemented.ew_data_mode",
                                    "EW operand that is not per pixel");
  const int64_t algo = ew.ew_alu_algo.get();
  view->Unimplemented<rk::DpuEwCfg>(algo != 0 && algo != 1 && algo != 2 && algo != 4,
                                    "unimplemented.ew_algorithm",
                                    "integer EW operation not add, minus, max or min");
  // The exact max/min programs carry EQUAL_EN (rk3588-dpu-ppu 9.4); elsewhere it compares.
  view->Unimplemented<rk::DpuEwCfg>(
      ew.ew_binary_en.get() != 0 || (ew.ew_equal_en.get() != 0 && algo != 0 && algo != 1),
      "unimplemented.ew_compare", "EW comparison (BINARY_EN, EQUAL_EN)");
}

void GateRdma(TaskView* view) {
  const auto mode = view->Get<rk::DpuRdmaFeatureModeCfg>();
  const int64_t comb = mode.comb_use.get();
  view->Unimplemented<rk::DpuRdmaFeatureModeCfg>(
      comb != 0 && (comb != 5 || mode.flying_mode.get() != 0), "unimplemented.comb_use",
      "COMB_USE other than 0, or 5 behind a convolution");
  const auto brdma = view->Get<rk::DpuRdmaBrdmaCfg>();
  const bool alu = brdma.brdma_use_alu.get() != 0;
  const bool cpend = brdma.brdma_use_cpend.get() != 0;
  const bool mul = brdma.brdma_use_mul.get() != 0;
  const bool bs_off = view->Get<rk::DpuBsCfg>().bs_bypass.get() != 0;
  // Float tasks take the inferred layouts too, with a warning.
  const bool known = (!cpend && !mul) || (alu && cpend && mul) || IsReal(*view);
  view->Unimplemented<rk::DpuRdmaBrdmaCfg>(!bs_off && (!known || brdma.brdma_use_trt.get() != 0),
                                           "unimplemented.brdma_layout",
                                           "BRDMA records other than ALU and ALU+CPEND+MUL");
  const auto dma = view->Get<rk::DpuRdmaSrcDmaCfg>();
  const auto height = view->Get<rk::DpuRdmaDataCubeHeight>();
  view->Unimplemented<rk::DpuRdmaSrcDmaCfg>(dma.unpooling_en.get() != 0, "unimplemented.unpooling",
                                            "un-pooling");
  view->Unimplemented<rk::DpuRdmaSrcDmaCfg>(
      dma.line_notch_addr.get() != 0 || height.ew_line_notch_addr.get() != 0,
      "unimplemented.rdma_line_notch", "line notches of the read DMA");
  const auto erdma = view->Get<rk::DpuRdmaErdmaCfg>();
  if (erdma.erdma_disable.get() != 0 || HasInt32Operand(*view)) return;
  const auto width = IsReal(*view) ? rk::DataBits::kBits16 : rk::DataBits::kBits8;
  view->Unimplemented<rk::DpuRdmaErdmaCfg>(
      erdma.erdma_data_size.as_enum() != width, "unimplemented.ew_operand_width",
      "EW operand that is not 8 bits wide (integers) or 16 (floats)");
  view->Unimplemented<rk::DpuRdmaErdmaCfg>(
      erdma.erdma_data_mode.as_enum() != rk::ErdmaMode::kPerPixel ||
          erdma.erdma_surf_mode.get() != 0 || erdma.erdma_nonalign.get() != 0,
      "unimplemented.ew_data_mode", "EW operand that is not per pixel");
}

}  // namespace

void CheckCoverage(TaskView* view) {
  GateTypes(view);
  if (!view->runs()) return;
  GateAgreement(view);
  if (!view->runs()) return;
  if (view->has(Block::kCna)) {
    GateCna(view);
    GatePixels(view);
    view->Unimplemented<rk::CoreClipTruncate>(
        IsReal(*view) && view->Get<rk::CoreClipTruncate>().clip_truncate.get() != 0,
        "unimplemented.float_truncation", "CLIP_TRUNCATE in a float task");
  }
  GateDpuModes(view);
  GateScaleStages(view);
  GateEw(view);
  if (view->has(Block::kDpuRdma)) GateRdma(view);
}

}  // namespace npu::sim
