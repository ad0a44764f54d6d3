// SPDX-License-Identifier: Apache-2.0
#include "src/encode/rk3588/elementwise_task.h"

#include <algorithm>

#include "src/encode/rk3588/list_builder.h"
#include "src/layout/tensor_view.h"

namespace npu::encode::rk3588 {
namespace {

using arith::ElementwiseOp;
using regs::Var;
namespace r = regs::rk3588;

constexpr uint32_t kMaxColumns = 4096;  // wider rows were corrupted on silicon (dpu-ppu 7, 10)
constexpr uint32_t kMaxRows = 8191;     // 13-bit fields
constexpr uint32_t kMinColumns = 64;    // narrower rectangles are not worth saving a task
constexpr int kLanes = layout::kAtomBytes;

bool IsExtremum(ElementwiseOp op) {
  return op == ElementwiseOp::kMaximum || op == ElementwiseOp::kMinimum;
}

r::AluAlgoEw Algorithm(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kSubtract:
      return r::AluAlgoEw::kSub;
    case ElementwiseOp::kMaximum:
      return r::AluAlgoEw::kMax;
    case ElementwiseOp::kMinimum:
      return r::AluAlgoEw::kMin;
    case ElementwiseOp::kNone:
    case ElementwiseOp::kAdd:
      break;
  }
  return r::AluAlgoEw::kAdd;
}

void SetCubes(const ElementwiseTask& t, ListBuilder* list) {
  const Var width(int64_t{t.columns} - 1), height(int64_t{t.rows} - 1), channels(kLanes - 1);
  const Var surface(uint64_t{t.rows} * t.columns);
  list->Set(r::DpuFeatureModeCfg{.flying_mode = 1,
                                 .output_mode = r::OutputMode::kToMemory,
                                 .burst_len = r::BurstLen::kBurst16});
  list->Set(r::DpuDataFormat{});  // int8 throughout, both BS shifts 0
  list->SetAddress<r::DpuDstBaseAddr>(Slot::kOutput, t.offset);
  list->Set(r::DpuDstSurfStride{.dst_surf_stride = surface});
  list->Set(r::DpuDataCubeWidth{.width = width});
  list->Set(r::DpuDataCubeHeight{.height = height});
  list->Set(r::DpuDataCubeChannel{.channel = channels, .orig_channel = channels});
  list->Set(r::DpuWdmaSize0{.channel_wdma = channels});
  list->Set(r::DpuWdmaSize1{.width_wdma = width, .height_wdma = height});
  list->Set(r::DpuSurfaceAdd{.surf_add = surface});
  list->Set(r::DpuRdmaDataCubeWidth{.width = width});
  list->Set(r::DpuRdmaDataCubeHeight{.height = height});
  list->Set(r::DpuRdmaDataCubeChannel{.channel = channels});
  list->SetAddress<r::DpuRdmaSrcBaseAddr>(Slot::kInput, t.offset);
  list->Set(r::DpuRdmaFeatureModeCfg{.flying_mode = 1, .burst_len = r::BurstLen::kBurst16});
}

// BS: add, then multiply, both from registers. A stage that changes nothing stays bypassed.
void SetMain(const arith::ElementwiseStages& s, ListBuilder* list) {
  const bool scaled = s.a_addend != 0 || s.a_multiplier != 1;
  // Without an operand the activation follows here (dpu-ppu 8.4); with one, behind the operation.
  const bool activation = s.op == ElementwiseOp::kNone && (s.relu || s.relux);
  if (!scaled && !activation) return;
  // ASSUMPTION bs_register_multiply (docs/hardware/open-questions.md).
  list->Set(r::DpuBsCfg{.bs_alu_bypass = Var(!scaled),
                        .bs_mul_bypass = Var(!scaled),
                        .bs_relu_bypass = Var(!activation),
                        .bs_relux_en = Var(activation && s.relux),
                        .bs_alu_algo = r::AluAlgoAffine::kAdd});
  if (activation && s.relux) {
    list->Set(r::DpuBsReluxCmpValue{.bs_relux_cmp_dat = Var(s.relux_limit)});
  }
  list->Set(r::DpuBsAluCfg{.bs_alu_operand = Var(s.a_addend)});
  list->Set(r::DpuBsMulCfg{.bs_mul_operand = Var(s.a_multiplier)});
}

void SetOperand(const ElementwiseTask& t, ListBuilder* list) {
  const arith::ElementwiseStages& s = t.stages;
  if (s.op == ElementwiseOp::kNone) return;  // EW and its read engine stay off
  const bool activation = s.relu || s.relux;
  // Without an offset the order does not matter; the proven program of equal scales has it so.
  const bool add_first = s.b_addend != 0;
  list->Set(
      r::DpuEwCfg{.ew_op_src = r::OperandSrc::kDma,
                  .ew_lut_bypass = 1,
                  .ew_relu_bypass = Var(!activation),
                  .ew_relux_en = Var(s.relux),
                  .ew_alu_algo = Algorithm(s.op),
                  .ew_equal_en = Var(IsExtremum(s.op)),
                  .edata_size = r::DataBits::kBits8,
                  .ew_data_mode = r::ErdmaMode::kPerPixel,
                  .ew_cvt_type = add_first ? r::CvtOrder::kAddFirst : r::CvtOrder::kMulFirst});
  // ASSUMPTION ew_relu_integer: limits to [0, value] in the integer domain, behind the operation.
  list->Set(r::DpuEwReluxCmpValue{.ew_relux_cmp_dat = Var(s.relux ? s.relux_limit : 0)});
  list->Set(r::DpuEwCvtOffsetValue{.ew_op_cvt_offset = Var(s.b_addend)});
  list->Set(r::DpuEwCvtScaleValue{.ew_op_cvt_scale = Var(s.b_multiplier),
                                  .ew_op_cvt_shift = Var(s.b_shift)});
  list->Set(r::DpuRdmaErdmaCfg{.erdma_data_size = r::DataBits::kBits8,
                               .erdma_data_mode = r::ErdmaMode::kPerPixel});
  list->SetAddress<r::DpuRdmaEwBaseAddr>(Slot::kInputB, t.offset);
  list->Set(r::DpuRdmaEwSurfStride{.ew_surf_stride = Var(uint64_t{t.rows} * t.columns)});
}

void SetOutput(const arith::ElementwiseStages& s, ListBuilder* list) {
  list->Set(r::DpuOutCvtOffset{.out_cvt_offset = Var(s.out_offset)});
  list->Set(r::DpuOutCvtScale{.out_cvt_scale = Var(s.out_scale)});
  list->Set(r::DpuOutCvtShift{.out_cvt_shift = Var(s.out_shift),
                              .cvt_round = s.out_rounding == arith::Rounding::kHalfAway
                                               ? r::RoundMode::kHalfUp
                                               : r::RoundMode::kHalfToEven});
}

// The widest rectangle that takes all atoms; no columns: there is none worth it.
AtomRectangle WholeRectangle(uint64_t atoms) {
  for (uint64_t columns = kMaxColumns; columns >= kMinColumns; --columns) {
    if (atoms % columns != 0) continue;
    if (atoms / columns > kMaxRows) break;
    return {.rows = static_cast<uint32_t>(atoms / columns),
            .columns = static_cast<uint32_t>(columns)};
  }
  return {.rows = 0, .columns = 0};
}

}  // namespace

Result<TaskProgram> BuildElementwiseTask(const ElementwiseTask& task) {
  ListBuilder list(ListBuilder::Unit::kElementwise);
  SetCubes(task, &list);
  SetMain(task.stages, &list);
  SetOperand(task, &list);
  SetOutput(task.stages, &list);
  return list.Finish();
}

std::vector<AtomRectangle> CutAtoms(uint64_t atoms) {
  std::vector<AtomRectangle> cut;
  uint64_t first = 0;
  while (first < atoms) {
    const uint64_t left = atoms - first;
    AtomRectangle next{.rows = 1, .columns = static_cast<uint32_t>(left)};
    if (left > kMaxColumns) {
      next = WholeRectangle(left);
      if (next.columns == 0) {
        next.columns = kMaxColumns;
        next.rows = static_cast<uint32_t>(std::min<uint64_t>(kMaxRows, left / kMaxColumns));
      }
    }
    next.first = first;
    cut.push_back(next);
    first += uint64_t{next.rows} * next.columns;
  }
  return cut;
}

}  // namespace npu::encode::rk3588
