// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace npu::sim::fast {
namespace {

constexpr double kInt32Min = std::numeric_limits<int32_t>::min();
constexpr double kInt32Max = std::numeric_limits<int32_t>::max();

bool CanExpress(const ScaleStage& stage) {
  const bool alu = !stage.alu || stage.alu_op == AluOp::kAdd || stage.alu_op == AluOp::kSub;
  return alu && (!stage.mul || stage.shift_positive == stage.shift_negative);
}

bool CanExpress(const arith::Converter& converter) {
  return converter.rounding == arith::Rounding::kHalfEven ||
         converter.rounding == arith::Rounding::kHalfAway;
}

struct Range {
  double low = kInt32Min, high = kInt32Max;
};

Range ReluRange(bool relu, bool relux, int32_t limit) {
  if (relux) return {0.0, static_cast<double>(limit)};
  return relu ? Range{0.0, kInt32Max} : Range{};
}

double Addend(const ScaleStage& stage, int32_t operand) {
  if (!stage.alu) return 0.0;
  return stage.alu_op == AluOp::kSub ? -static_cast<double>(operand) : operand;
}

double Scale(const ScaleStage& stage, int16_t operand) {
  return stage.mul ? std::ldexp(operand, -stage.shift_positive) : 1.0;
}

StageConstants MakeConstants(const ScaleStage& stage) {
  StageConstants constants;
  constants.negative_only = stage.mul && stage.prelu;
  const Range range = ReluRange(stage.relu, stage.relux, stage.relux_limit);
  constants.low = range.low;
  constants.high = range.high;
  return constants;
}

void SetEw(const EwStage& ew, PostRow* row) {
  const Range range = ReluRange(ew.relu, ew.relux, ew.relux_limit);
  row->ew_low = range.low;
  row->ew_high = range.high;
  if (!ew.op) return;
  switch (ew.alu_op) {
    case AluOp::kAdd:
      row->ew = RowAlu::kAdd;
      break;
    case AluOp::kSub:
      row->ew = RowAlu::kSub;
      break;
    case AluOp::kMax:
      row->ew = RowAlu::kMax;
      break;
    case AluOp::kMul:  // only in float tasks
    case AluOp::kDiv:
    case AluOp::kMin:
      row->ew = RowAlu::kMin;
      break;
  }
  row->operand_converts = ew.convert;
  const arith::Converter& c = ew.converter;
  (c.add_first ? row->operand_pre : row->operand_post) = c.offset;
  row->operand_scale = std::ldexp(c.scale, -c.shift);
  row->operand_ties_away = c.rounding == arith::Rounding::kHalfAway;
}

}  // namespace

bool CanExpress(const DpuConfig& d) {
  return CanExpress(d.bs) && CanExpress(d.bn) && CanExpress(d.out_cvt) &&
         (!d.ew.op || !d.ew.convert || CanExpress(d.ew.converter)) &&
         d.out_type != OutType::kNothing && !d.real;
}

PostRow MakeStages(const DpuConfig& d, std::span<const ChannelOperands> operands) {
  PostRow row;
  row.bs = MakeConstants(d.bs);
  row.bs_multiplies = d.bs.mul;
  row.cpend = d.cpend && std::any_of(operands.begin(), operands.end(),
                                     [](const ChannelOperands& o) { return o.ow_op != 0; });
  row.bn_active = d.bn.active();
  row.bn = MakeConstants(d.bn);
  row.bn.add.fill(Addend(d.bn, d.bn.alu_operand));
  row.bn.scale.fill(Scale(d.bn, d.bn.mul_operand));
  for (size_t c = 0; c < kAtom; ++c) {
    row.bs.add[c] = Addend(d.bs, operands[c].bs_add);
    row.bs.scale[c] = Scale(d.bs, operands[c].bs_mul);
    row.cpend_factor[c] = operands[c].ow_op;
  }
  SetEw(d.ew, &row);
  (d.out_cvt.add_first ? row.out_pre : row.out_post) = d.out_cvt.offset;
  row.out_scale = std::ldexp(d.out_cvt.scale, -d.out_cvt.shift);
  row.out_ties_away = d.out_cvt.rounding == arith::Rounding::kHalfAway;
  row.type = d.out_type == OutType::kInt8    ? RowOutput::kInt8
             : d.out_type == OutType::kInt32 ? RowOutput::kInt32
                                             : RowOutput::kFp32;
  return row;
}

}  // namespace npu::sim::fast
