// SPDX-License-Identifier: Apache-2.0
#include "src/sim/real.h"

#include <bit>
#include <cmath>

#include "src/arith/half.h"

namespace npu::sim {
namespace {

using Int128 = __int128;
using Uint128 = unsigned __int128;

constexpr int kProductBits = 48;  // every product of two fp16 values is a multiple of 2^-48
constexpr uint32_t kNanBits = 0x7FC00000;

// The nearest fp32 of magnitude * 2^-48: what does not fit a double is kept as a sticky bit, far
// below the 24 bits that decide.
float Narrow(bool negative, Uint128 magnitude) {
  int exponent = -kProductBits;
  bool sticky = false;
  while ((magnitude >> 53) != 0) {
    sticky = sticky || (magnitude & 1) != 0;
    magnitude >>= 1;
    ++exponent;
  }
  auto kept = static_cast<uint64_t>(magnitude);
  if (sticky) kept |= 1;
  const double value = std::ldexp(static_cast<double>(kept), exponent);
  return static_cast<float>(negative ? -value : value);
}

// In integers of 2^-48: |product| < 2^80, so 128 bits hold the sum.
float ExactSum(const float* x, const float* w, int n) {
  Int128 sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += static_cast<Int128>(std::ldexp(double{x[i]} * double{w[i]}, kProductBits));
  }
  const bool negative = sum < 0;
  return Narrow(negative, negative ? -static_cast<Uint128>(sum) : static_cast<Uint128>(sum));
}

float Apply(AluOp op, float value, float operand) {
  switch (op) {
    case AluOp::kAdd:
      return value + operand;
    case AluOp::kSub:
      return value - operand;
    case AluOp::kMul:
      return value * operand;
    case AluOp::kDiv:
      return value / operand;
    case AluOp::kMax:
    case AluOp::kMin:
      break;
  }
  if (std::isnan(value) || std::isnan(operand)) return std::bit_cast<float>(kNanBits);
  if (op == AluOp::kMax) return value > operand ? value : operand;
  return value < operand ? value : operand;
}

// NaN passes: neither comparison holds for it.
float Clamp(bool relu, bool relux, float limit, float value) {
  if ((relu || relux) && value < 0.0f) value = 0.0f;
  return relux && value > limit ? limit : value;
}

float Multiply(const ScaleStage& stage, float mul, float value) {
  return !stage.mul || (stage.prelu && value >= 0.0f) ? value : value * mul;
}

float Bs(const ScaleStage& stage, float add, float mul, float value) {
  if (stage.alu) value = Apply(stage.alu_op, value, add);
  return Clamp(stage.relu, stage.relux, stage.relux_real, Multiply(stage, mul, value));
}

float Bn(const ScaleStage& stage, float value) {
  value = Multiply(stage, stage.mul_real, value);
  if (stage.alu) value = Apply(stage.alu_op, value, stage.alu_real);
  return Clamp(stage.relu, stage.relux, stage.relux_real, value);
}

float Ew(const EwStage& stage, float value, float operand) {
  if (stage.op) value = Apply(stage.alu_op, value, operand);
  return Clamp(stage.relu, stage.relux, stage.relux_real, value);
}

float OutConvert(const arith::Converter& c, float value) {
  const auto offset = static_cast<float>(c.offset);
  const auto scale = static_cast<float>(c.scale);
  if (c.add_first) return (value + offset) * scale;
  return value * scale + offset;
}

}  // namespace

float GroupSum(const float* x, const float* w, int n) {
  // Products are exact in a double; so is the sum as long as no addition leaves an error behind.
  double sum = 0.0;
  bool exact = true;
  for (int i = 0; i < n; ++i) {
    const double product = double{x[i]} * double{w[i]};
    const double next = sum + product;
    const double part = next - sum;
    exact = exact && (sum - (next - part)) + (product - part) == 0.0;
    sum = next;
  }
  if (exact || !std::isfinite(sum)) return static_cast<float>(sum);
  return ExactSum(x, w, n);
}

uint32_t DpuElementReal(const DpuConfig& d, const ChannelOperands& operands, float accumulator,
                        float ew_operand) {
  float v = Bs(d.bs, operands.bs_add_real, operands.bs_mul_real, accumulator);
  v = Bn(d.bn, v);
  v = Ew(d.ew, v, ew_operand);
  switch (d.out_type) {
    case OutType::kFp32:  // the converter does not touch it
      return std::isnan(v) ? kNanBits : std::bit_cast<uint32_t>(v);
    case OutType::kFp16:
      if (d.half_lanes) return arith::FloatToHalf(v);
      v = OutConvert(d.out_cvt, v);
      if (!d.narrow) return std::bit_cast<uint32_t>(v) & 0xFFFF;
      return arith::MinusExponent(arith::FloatToHalf(v), d.minus_exponent);
    case OutType::kInt8:
    case OutType::kInt32:
    case OutType::kNothing:
      break;
  }
  return 0;
}

}  // namespace npu::sim
