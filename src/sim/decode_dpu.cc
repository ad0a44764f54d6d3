// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <string>

#include "src/arith/half.h"
#include "src/base/checked.h"
#include "src/sim/decode.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;

constexpr int64_t kAtom = 16;
constexpr int kProvenColumns = 4096;  // of a flying task (rk3588-dpu-ppu 7)

std::string Num(int64_t v) { return std::to_string(v); }

template <typename F>
int Int(F field) {
  return static_cast<int>(field.get());
}

AluOp AffineOp(rk::AluAlgoAffine algo) {
  return algo == rk::AluAlgoAffine::kSub ? AluOp::kSub : AluOp::kAdd;
}

// The same register bits as a float task reads them.
void SetReal(ScaleStage* s) {
  s->alu_real = std::bit_cast<float>(s->alu_operand);
  s->mul_real = arith::HalfToFloat(static_cast<uint16_t>(s->mul_operand));
  s->relux_real = std::bit_cast<float>(s->relux_limit);
}

ScaleStage DecodeBs(const TaskView& view) {
  const auto cfg = view.Get<rk::DpuBsCfg>();
  ScaleStage s;
  if (cfg.bs_bypass.get() != 0) return s;
  const auto mul = view.Get<rk::DpuBsMulCfg>();
  s.alu = cfg.bs_alu_bypass.get() == 0;
  s.mul = cfg.bs_mul_bypass.get() == 0;
  s.prelu = cfg.bs_mul_prelu.get() != 0;
  s.relu = cfg.bs_relu_bypass.get() == 0;
  s.relux = s.relu && cfg.bs_relux_en.get() != 0;
  s.alu_op = AffineOp(cfg.bs_alu_algo.as_enum());
  s.alu_from_memory = cfg.bs_alu_src.as_enum() == rk::OperandSrc::kDma;
  s.mul_from_memory = mul.bs_mul_src.as_enum() == rk::OperandSrc::kDma;
  s.alu_operand = Int(view.Get<rk::DpuBsAluCfg>().bs_alu_operand);
  s.mul_operand = static_cast<int16_t>(mul.bs_mul_operand.get());
  s.shift_positive = Int(mul.bs_mul_shift_value);
  s.shift_negative = Int(view.Get<rk::DpuDataFormat>().bs_mul_shift_value_neg);
  s.relux_limit = Int(view.Get<rk::DpuBsReluxCmpValue>().bs_relux_cmp_dat);
  SetReal(&s);
  return s;
}

ScaleStage DecodeBn(const TaskView& view) {
  const auto cfg = view.Get<rk::DpuBnCfg>();
  ScaleStage s;
  if (cfg.bn_bypass.get() != 0) return s;
  const auto mul = view.Get<rk::DpuBnMulCfg>();
  s.alu = cfg.bn_alu_bypass.get() == 0;
  s.mul = cfg.bn_mul_bypass.get() == 0;
  s.prelu = cfg.bn_mul_prelu.get() != 0;
  s.relu = cfg.bn_relu_bypass.get() == 0;
  s.relux = s.relu && cfg.bn_relux_en.get() != 0;
  s.alu_op = AffineOp(cfg.bn_alu_algo.as_enum());
  s.alu_operand = Int(view.Get<rk::DpuBnAluCfg>().bn_alu_operand);
  s.mul_operand = static_cast<int16_t>(mul.bn_mul_operand.get());
  s.shift_positive = Int(mul.bn_mul_shift_value);
  s.shift_negative = Int(view.Get<rk::DpuDataFormat>().bn_mul_shift_value_neg);
  s.relux_limit = Int(view.Get<rk::DpuBnReluxCmpValue>().bn_relux_cmp_dat);
  SetReal(&s);
  return s;
}

EwStage DecodeEw(const TaskView& view) {
  const auto cfg = view.Get<rk::DpuEwCfg>();
  EwStage s;
  if (cfg.ew_bypass.get() != 0) return s;
  s.op = cfg.ew_op_bypass.get() == 0;
  s.relu = cfg.ew_relu_bypass.get() == 0;
  s.relux = s.relu && cfg.ew_relux_en.get() != 0;
  s.relux_limit = Int(view.Get<rk::DpuEwReluxCmpValue>().ew_relux_cmp_dat);
  s.relux_real = std::bit_cast<float>(s.relux_limit);
  s.from_register = cfg.ew_op_src.as_enum() == rk::OperandSrc::kRegister;
  switch (cfg.ew_alu_algo.as_enum()) {
    case rk::AluAlgoEw::kMax:
      s.alu_op = AluOp::kMax;
      break;
    case rk::AluAlgoEw::kMin:
      s.alu_op = AluOp::kMin;
      break;
    case rk::AluAlgoEw::kSub:
      s.alu_op = AluOp::kSub;
      break;
    case rk::AluAlgoEw::kDiv:
      s.alu_op = AluOp::kDiv;
      break;
    default:
      s.alu_op = AluOp::kAdd;
      break;
  }
  if (cfg.ew_op_type.get() != 0) s.alu_op = AluOp::kMul;
  const auto scale = view.Get<rk::DpuEwCvtScaleValue>();
  s.convert = cfg.ew_op_cvt_bypass.get() == 0;
  s.converter.scale = static_cast<int16_t>(scale.ew_op_cvt_scale.get());
  s.converter.shift = static_cast<uint8_t>(scale.ew_op_cvt_shift.get());
  s.converter.offset = Int(view.Get<rk::DpuEwCvtOffsetValue>().ew_op_cvt_offset);
  s.converter.add_first = cfg.ew_cvt_type.as_enum() == rk::CvtOrder::kAddFirst;
  s.converter.rounding = cfg.ew_cvt_round.as_enum() == rk::RoundMode::kHalfToEven
                             ? arith::Rounding::kHalfEven
                             : arith::Rounding::kHalfAway;
  return s;
}

// CVT_TYPE and MINUS_EXP have no effect on the integer path (rk3588-conv-matmul 6.6).
arith::Converter DecodeOutCvt(bool real, const TaskView& view) {
  const auto shift = view.Get<rk::DpuOutCvtShift>();
  arith::Converter c;
  c.scale = static_cast<int16_t>(view.Get<rk::DpuOutCvtScale>().out_cvt_scale.get());
  c.shift = static_cast<uint8_t>(shift.out_cvt_shift.get() & 63);
  c.offset = Int(view.Get<rk::DpuOutCvtOffset>().out_cvt_offset);
  c.rounding = shift.cvt_round.as_enum() == rk::RoundMode::kHalfToEven ? arith::Rounding::kHalfEven
                                                                       : arith::Rounding::kHalfAway;
  c.add_first = real && shift.cvt_type.as_enum() == rk::CvtOrder::kAddFirst;
  return c;
}

// Narrowing of float tasks, and the division program that never widens (rk3588-dpu-ppu 4.8, 8.1).
void DecodeNarrowing(TaskView* view, DpuConfig* d) {
  if (!d->real) return;
  d->narrow = view->Get<rk::DpuOutCvtScale>().fp32tofp16_en.get() != 0;
  d->minus_exponent = Int(view->Get<rk::DpuOutCvtShift>().minus_exp);
  const bool widens =
      !d->flying || view->Get<rk::DpuRdmaFeatureModeCfg>().mrdma_fp16tofp32_en.get();
  const bool divides = d->ew.op && d->ew.alu_op == AluOp::kDiv;
  d->half_lanes = d->flying && divides && !widens && !d->narrow;
  view->Unimplemented<rk::DpuRdmaFeatureModeCfg>(
      (!widens || divides) && !d->half_lanes, "unimplemented.half_lanes",
      "fp16 without widening other than the division program");
  if (d->out_type == OutType::kFp16 && !d->narrow && !d->half_lanes) {
    view->Wrong<rk::DpuOutCvtScale>(
        "dpu.not_narrowed", "fp16 output without FP32TOFP16_EN is the low half of the fp32");
  }
}

// What works by the rules, but as nobody has shown or wants it (rk3588-dpu-ppu 3, 4.8, 7).
void WarnOfTraps(const DpuConfig& d, TaskView* view) {
  if (d.flying && d.width > kProvenColumns) {
    view->Warn<rk::DpuDataCubeWidth>(
        "dpu.flying_columns", "more than 4096 columns of a flying task: the tail may be wrong");
  }
  if (d.flying && d.channels > d.operand_lanes()) {
    view->Warn<rk::DpuDataCubeChannel>(
        "dpu.flying_surfaces", "a flying task of more than one surface: nobody has shown one");
  }
  if (!d.real) return;
  const auto denormal = [](const ScaleStage& stage) {
    return stage.mul && !stage.mul_from_memory && (stage.mul_operand & 0x7C00) == 0 &&
           (stage.mul_operand & 0x3FF) != 0;
  };
  if (denormal(d.bs) || denormal(d.bn)) {
    view->Warn<rk::DpuBsMulCfg>(
        "dpu.denormal_multiplier",
        "the fp16 multiplier is a denormal number: an integer, by mistake?");
  }
  if (d.narrow && d.minus_exponent != 0) {
    view->Warn<rk::DpuOutCvtShift>(
        "dpu.minus_exponent",
        "MINUS_EXP lowers the exponent of zeros and infinities too: 0 becomes 2^(17 - MINUS_EXP)");
  }
}

OutType DecodeOutType(TaskView* view) {
  switch (view->Get<rk::DpuDataFormat>().out_precision.get()) {
    case 0:
      return OutType::kInt8;
    case 2:
      return OutType::kFp16;
    case 4:
      return OutType::kInt32;
    case 5:
      return OutType::kFp32;
    case 1:
      view->Hang<rk::DpuDataFormat>("dpu.int16_output",
                                    "int16 output of int8 processing through the plain writer "
                                    "times out (registers-rk3588 8)");
      return OutType::kNothing;
    default:
      view->Wrong<rk::DpuDataFormat>("dpu.output_code_7", "output precision code 7 writes nothing");
      return OutType::kNothing;
  }
}

void DecodeWriter(const TaskView& view, DpuConfig* d) {
  d->dst_base = view.Get<rk::DpuDstBaseAddr>().dst_base_addr.get();
  d->dst_surf_stride = kAtom * view.Get<rk::DpuDstSurfStride>().dst_surf_stride.get();
  d->surface_add = kAtom * view.Get<rk::DpuSurfaceAdd>().surf_add.get();
  d->surfaces = Int(view.Get<rk::DpuBsOwCfg>().size_e_0) + 1;
  d->line_pitch = kAtom * (d->width + view.Get<rk::DpuDataCubeNotchAddr>().notch_addr_0.get());
}

void CheckCube(const ConvConfig* conv, const DpuConfig& d, TaskView* view) {
  const auto wdma0 = view->Get<rk::DpuWdmaSize0>();
  const auto wdma1 = view->Get<rk::DpuWdmaSize1>();
  if (Int(wdma0.channel_wdma) + 1 != d.channels || Int(wdma1.width_wdma) + 1 != d.width ||
      Int(wdma1.height_wdma) + 1 != d.height) {
    view->Hang<rk::DpuWdmaSize1>("dpu.cube_mismatch",
                                 "the write DMA's size differs from the DPU's cube");
  }
  if (conv == nullptr) return;
  if (conv->oc != d.channels || conv->ow != d.width || conv->oh != d.height) {
    view->Hang<rk::DpuDataCubeChannel>(
        "dpu.cube_mismatch", "CORE delivers " + Num(conv->oc) + "x" + Num(conv->oh) + "x" +
                                 Num(conv->ow) + " (CxHxW), the DPU expects " + Num(d.channels) +
                                 "x" + Num(d.height) + "x" + Num(d.width));
  }
  if (conv->fp16 != d.real) {
    view->Hang<rk::DpuDataFormat>("dpu.mode_mismatch", "CNA and DPU disagree about the type");
  }
  const bool depthwise = view->Get<rk::DpuFeatureModeCfg>().conv_mode.get() == 3;
  if (depthwise != conv->depthwise) {
    view->Hang<rk::DpuFeatureModeCfg>("dpu.mode_mismatch", "CNA and DPU disagree about depthwise");
  }
}

// SIZE_E and SURFACE_ADD against the writer rule (rk3588-conv-matmul 3.7, errata E5, E6, E7, E10).
void CheckWriter(const ConvConfig* conv, const DpuConfig& d, TaskView* view) {
  const auto ow = view->Get<rk::DpuBsOwCfg>();
  view->Unimplemented<rk::DpuBsOwCfg>(
      ow.size_e_0.get() != ow.size_e_1.get() || ow.size_e_0.get() != ow.size_e_2.get(),
      "unimplemented.size_e", "different SIZE_E fields");
  if (d.out_type == OutType::kNothing) return;
  const int expected = d.group * d.out_bytes() / static_cast<int>(kAtom);
  if (d.surfaces > expected) {
    view->Hang<rk::DpuBsOwCfg>("writer.size_e", "SIZE_E + 1 is " + Num(d.surfaces) +
                                                    ", one block has only " + Num(expected) +
                                                    " surfaces: times out (erratum E5)");
  } else if (d.surfaces < expected) {
    view->Wrong<rk::DpuBsOwCfg>("writer.size_e", "SIZE_E + 1 is " + Num(d.surfaces) + " of " +
                                                     Num(expected) +
                                                     " surfaces: channels stay unwritten");
  }
  const bool partial = d.channels % d.group != 0;
  if (partial && d.out_type == OutType::kInt8 && conv != nullptr) {
    view->Hang<rk::DpuDataCubeChannel>("writer.partial_group",
                                       Num(d.channels) + " channels end inside a group of " +
                                           Num(d.group) + ": never completes (erratum E6)");
  } else if (partial && conv != nullptr) {
    view->Garbage<rk::DpuDataCubeChannel>("writer.partial_group",
                                          Num(d.channels) + " channels end inside a group of " +
                                              Num(d.group) + ": silent garbage (erratum E10)");
  }
  if (d.channels > d.group && d.surface_add < d.surfaces * d.dst_surf_stride) {
    view->Wrong<rk::DpuSurfaceAdd>("writer.surface_add",
                                   "SURFACE_ADD is smaller than the surfaces of one block: blocks "
                                   "overwrite each other");
  }
}

void CheckArithmetic(const ConvConfig* conv, const DpuConfig& d, TaskView* view) {
  const bool converts =
      d.out_type != OutType::kNothing && !(d.real && d.out_type == OutType::kFp32);
  if (converts && d.out_cvt.scale == 0) {
    view->Wrong<rk::DpuOutCvtScale>("dpu.out_cvt_scale_zero",
                                    "OUT_CVT_SCALE 0 makes every output the offset");
  }
  const bool split = (d.bs.mul && d.bs.shift_positive != d.bs.shift_negative && !d.bs.prelu) ||
                     (d.bn.mul && d.bn.shift_positive != d.bn.shift_negative && !d.bn.prelu);
  if (split && !d.real) {
    view->Warn<rk::DpuDataFormat>("dpu.split_shift",
                                  "products of either sign are shifted by different amounts");
  }
  if (conv == nullptr) return;
  view->Unimplemented<rk::DpuDataFormat>(d.real && conv->depthwise && d.out_type == OutType::kFp32,
                                         "unimplemented.depthwise_fp32",
                                         "fp32 output of an fp16 depthwise task");
  if (d.real) return;
  if (d.out_type == OutType::kInt8 && !conv->qd_en) {
    view->Garbage<rk::CoreMiscCfg>("core.qd_en", "int8 output needs QD_EN (erratum E7)");
  }
  if (d.out_type != OutType::kInt8 && d.out_type != OutType::kNothing) {
    if (d.cpend) {
      view->Garbage<rk::DpuBsOwCfg>("dpu.cpend_raw", "32-bit output needs OD_BYPASS (erratum E7)");
    }
    if (conv->depthwise) {
      view->Garbage<rk::DpuDataFormat>("dpu.depthwise_raw",
                                       "32-bit output of an int8 depthwise task is unusable");
    }
  }
}

}  // namespace

DpuConfig DecodeDpu(const ConvConfig* conv, TaskView* view) {
  DpuConfig d;
  d.real = view->Get<rk::DpuDataFormat>().proc_precision.as_enum() == rk::PrecisionDpu::kFp16;
  d.flying = conv == nullptr;
  d.channels = Int(view->Get<rk::DpuDataCubeChannel>().channel) + 1;
  d.height = Int(view->Get<rk::DpuDataCubeHeight>().height) + 1;
  d.width = Int(view->Get<rk::DpuDataCubeWidth>().width) + 1;
  d.group = conv != nullptr ? conv->out_group() : d.operand_lanes();
  const auto ow = view->Get<rk::DpuBsOwCfg>();
  d.cpend = conv != nullptr && !d.real && ow.od_bypass.get() == 0;  // adds nothing to floats
  d.cpend_from_memory = ow.ow_src.as_enum() == rk::OperandSrc::kDma;
  d.ow_op = static_cast<int16_t>(view->Get<rk::DpuBsOwOp>().ow_op.get());
  d.bs = DecodeBs(*view);
  d.bn = DecodeBn(*view);
  d.ew = DecodeEw(*view);
  d.out_cvt = DecodeOutCvt(d.real, *view);
  d.out_type = DecodeOutType(view);
  DecodeNarrowing(view, &d);
  DecodeWriter(*view, &d);
  view->Unimplemented<rk::DpuDataFormat>(
      d.flying && d.out_type != (d.real ? OutType::kFp16 : OutType::kInt8) &&
          d.out_type != OutType::kNothing,
      "unimplemented.flying_output", "flying task with 32-bit output");
  WarnOfTraps(d, view);
  CheckCube(conv, d, view);
  CheckWriter(conv, d, view);
  CheckArithmetic(conv, d, view);
  return d;
}

RdmaConfig DecodeRdma(const DpuConfig& dpu, TaskView* view) {
  RdmaConfig r;
  r.enabled = view->has(regs::Block::kDpuRdma);
  if (!r.enabled) return r;
  r.channels = Int(view->Get<rk::DpuRdmaDataCubeChannel>().channel) + 1;
  r.height = Int(view->Get<rk::DpuRdmaDataCubeHeight>().height) + 1;
  r.width = Int(view->Get<rk::DpuRdmaDataCubeWidth>().width) + 1;
  const auto brdma = view->Get<rk::DpuRdmaBrdmaCfg>();
  // Records that no stage reads are fetched and dropped (registers-rk3588 10).
  const bool read = dpu.bs.active() || dpu.cpend;
  r.bs_alu = read && brdma.brdma_use_alu.get() != 0;
  r.bs_cpend = read && brdma.brdma_use_cpend.get() != 0;
  r.bs_mul = read && brdma.brdma_use_mul.get() != 0;
  r.bs_base = view->Get<rk::DpuRdmaBsBaseAddr>().bs_base_addr.get();
  const bool operand = view->Get<rk::DpuRdmaErdmaCfg>().erdma_disable.get() == 0;
  if (dpu.real && (r.bs_alu || r.bs_mul)) {
    view->Warn<rk::DpuRdmaBrdmaCfg>("dpu.float_operands",
                                    "per-channel operands of a float task: fp32 addends and fp16 "
                                    "multipliers are inferred");
  }
  if (dpu.flying) {
    r.ew = EwSource::kFlying;
  } else if (operand) {
    r.ew = EwSource::kConvFed;
  }
  r.src_base = view->Get<rk::DpuRdmaSrcBaseAddr>().src_base_addr.get();
  r.ew_base = view->Get<rk::DpuRdmaEwBaseAddr>().ew_base_addr.get();
  r.surf_notch = kAtom * view->Get<rk::DpuRdmaSurfNotch>().surf_notch_addr.get();
  r.ew_surf_stride = kAtom * view->Get<rk::DpuRdmaEwSurfStride>().ew_surf_stride.get();
  r.ew_surf_notch = kAtom * view->Get<rk::DpuRdmaEwSurfNotch>().ew_surf_notch.get();
  if (r.channels != dpu.channels || r.height != dpu.height || r.width != dpu.width) {
    view->Hang<rk::DpuRdmaDataCubeChannel>("rdma.cube_mismatch",
                                           "DPU_RDMA's cube differs from the DPU's");
  }
  if (r.ew == EwSource::kConvFed && r.src_base == dpu.dst_base) {
    view->Garbage<rk::DpuRdmaSrcBaseAddr>(
        "rdma.in_place", "the fused operand is overwritten while it is read: use two buffers");
  }
  if (r.ew == EwSource::kConvFed && r.ew_surf_stride == 0) {
    view->Garbage<rk::DpuRdmaEwSurfStride>(
        "rdma.ew_stride",
        "EW_SURF_STRIDE 0 behind a convolution: the operand stays on its first atom");
  }
  const int surfaces = CeilDiv(r.channels, dpu.operand_lanes());
  const int64_t plane = kAtom * r.width * r.height;
  view->Unimplemented<rk::DpuRdmaEwSurfStride>(
      r.ew == EwSource::kConvFed && surfaces > 2 && r.ew_surf_stride != plane,
      "unimplemented.ew_row_tile",
      "fused operand of more than two surfaces with EW_SURF_STRIDE other than its plane");
  return r;
}

}  // namespace npu::sim
