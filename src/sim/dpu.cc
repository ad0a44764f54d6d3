// SPDX-License-Identifier: Apache-2.0
#include "src/sim/dpu.h"

#include <algorithm>

namespace npu::sim {
namespace {

int64_t Apply(AluOp op, int64_t value, int64_t operand) {
  switch (op) {
    case AluOp::kAdd:
      return value + operand;
    case AluOp::kSub:
      return value - operand;
    case AluOp::kMax:
      return std::max(value, operand);
    case AluOp::kMul:  // only in float tasks
    case AluOp::kDiv:
    case AluOp::kMin:
      break;
  }
  return std::min(value, operand);
}

int32_t Multiply(const ScaleStage& stage, int16_t mul, int64_t value) {
  if (!stage.mul || (stage.prelu && value >= 0)) return arith::SaturateToInt32(value);
  return arith::BsMultiply(value, mul, stage.shift_positive, stage.shift_negative);
}

int32_t Clamp(bool relu, bool relux, int32_t limit, int32_t value) {
  if (relux) return arith::Relux(value, limit);
  return relu ? arith::Relu(value) : value;
}

}  // namespace

int32_t BsStage(const ScaleStage& stage, int32_t add, int16_t mul, int64_t value) {
  if (stage.alu) value = Apply(stage.alu_op, value, add);
  return Clamp(stage.relu, stage.relux, stage.relux_limit, Multiply(stage, mul, value));
}

int32_t BnStage(const ScaleStage& stage, int32_t value) {
  int64_t wide = Multiply(stage, stage.mul_operand, value);
  if (stage.alu) wide = Apply(stage.alu_op, wide, stage.alu_operand);
  return Clamp(stage.relu, stage.relux, stage.relux_limit, arith::SaturateToInt32(wide));
}

int32_t EwElement(const EwStage& stage, int32_t value, int8_t operand) {
  if (stage.op) {
    const int64_t converted =
        stage.convert ? arith::Convert(operand, stage.converter) : int64_t{operand};
    value = arith::SaturateToInt32(Apply(stage.alu_op, value, arith::SaturateToInt32(converted)));
  }
  return Clamp(stage.relu, stage.relux, stage.relux_limit, value);
}

uint32_t DpuElement(const DpuConfig& d, const ChannelOperands& operands, int32_t accumulator,
                    int64_t window_sum, int8_t ew_operand) {
  const int64_t compensated =
      d.cpend ? arith::Cpend(accumulator, operands.ow_op, window_sum) : int64_t{accumulator};
  int32_t v = BsStage(d.bs, operands.bs_add, operands.bs_mul, compensated);
  v = BnStage(d.bn, v);
  v = EwElement(d.ew, v, ew_operand);
  switch (d.out_type) {
    case OutType::kInt8:
      return static_cast<uint8_t>(arith::OutConvert<int8_t>(v, d.out_cvt));
    case OutType::kInt32:
      return static_cast<uint32_t>(arith::OutConvert<int32_t>(v, d.out_cvt));
    case OutType::kFp32:
      return arith::Float32BitsOfInt(arith::Convert(v, d.out_cvt));
    case OutType::kFp16:  // only in float tasks
    case OutType::kNothing:
      break;
  }
  return 0;
}

}  // namespace npu::sim
