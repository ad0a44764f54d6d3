// SPDX-License-Identifier: Apache-2.0
// DIV of bytes by a fixed-point reciprocal: several percent of its results differ from a rounded
// division, and quotients far below one count are not near zero (see WrappingDivideByPot).
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "src/arith/fixed_point.h"
#include "src/arith/rounding.h"
#include "src/arith/tflite.h"
#include "src/base/checked.h"
#include "src/host/broadcast_kernel.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"

namespace npu::host {
namespace {

// The 256 possible divisors as reciprocals of their magnitude.
struct Divisor {
  int32_t inverse = 0;
  int shift = 0;
  bool negative = false;
};

// x / 2^exponent, ties away from zero. TFLite shifts int32 by more than 31 where a small dividend
// meets a large divisor; x86 and Arm take such a count modulo 32, and the rounding term is 1 for
// x >= 0 then. Measured on ai-edge-litert 2.3: such results saturate.
int32_t WrappingDivideByPot(int32_t x, int exponent) {
  if (exponent <= 31) return arith::RoundingDivideByPot(x, exponent);
  return static_cast<int32_t>(Saturate<int32_t>(int64_t{x >> (exponent - 32)} + (x >= 0 ? 1 : 0)));
}

struct DivArithmetic {
  int32_t dividend_zero = 0, divisor_zero = 0, output_zero = 0;
  arith::QuantizedMultiplier output;
  arith::QuantizedRange clamp;
  std::array<Divisor, 256> divisors{};

  int8_t operator()(int8_t a, int8_t b) const {
    const Divisor& divisor = divisors[static_cast<uint8_t>(b)];
    const int32_t difference = a - dividend_zero;
    const int32_t dividend = divisor.negative ? -difference : difference;
    // Leading sign bits: the dividend is scaled to use all of int32.
    const int room = std::countl_zero(static_cast<uint32_t>(dividend ^ (dividend >> 31))) - 1;
    const auto scaled = static_cast<int32_t>(int64_t{dividend} << room);
    const int32_t quotient = arith::SaturatingRoundingDoublingHighMul(scaled, divisor.inverse);
    const int64_t value =
        WrappingDivideByPot(arith::SaturatingRoundingDoublingHighMul(quotient, output.multiplier),
                            room + divisor.shift - output.exponent);
    return static_cast<int8_t>(std::clamp<int64_t>(value + output_zero, clamp.min, clamp.max));
  }
};

DivArithmetic MakeArithmetic(const ir::Graph& graph, const ir::Node& node) {
  const ir::Quantization& a = graph.input(node, 0).type.quant;
  const ir::Quantization& b = graph.input(node, 1).type.quant;
  const ir::TensorType& out = graph.output(node).type;
  DivArithmetic arithmetic;
  arithmetic.dividend_zero = a.zero_point();
  arithmetic.divisor_zero = b.zero_point();
  arithmetic.output_zero = out.quant.zero_point();
  const float real = a.scale() / (b.scale() * out.quant.scale());
  arithmetic.output = arith::QuantizeMultiplier(static_cast<double>(real));
  arithmetic.clamp = ActivationClamp(std::get<ir::BinaryParams>(node.params).activation, out);
  for (size_t i = 0; i < arithmetic.divisors.size(); ++i) {
    const int32_t d = static_cast<int8_t>(static_cast<uint8_t>(i)) - b.zero_point();
    if (d == 0) continue;  // undefined in TFLite; the output's zero point here
    const arith::ScaledInverse inverse = arith::Reciprocal(d < 0 ? -d : d, 31);
    arithmetic.divisors[i] = {inverse.value, inverse.shift, d < 0};
  }
  return arithmetic;
}

}  // namespace

KernelResult MakeDiv(const ir::Graph& graph, const ir::Node& node) {
  return MakeBroadcastKernel(graph, node, MakeArithmetic(graph, node));
}

}  // namespace npu::host
