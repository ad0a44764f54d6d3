// SPDX-License-Identifier: Apache-2.0
// PRELU: one multiplier where the input is not below its zero point, the slope's product below it.
#include <algorithm>
#include <array>
#include <utility>

#include "src/arith/tflite.h"
#include "src/host/broadcast_kernel.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"

namespace npu::host {
namespace {

struct PreluArithmetic {
  int32_t input_zero = 0, slope_zero = 0, output_zero = 0;
  arith::QuantizedMultiplier product;
  arith::QuantizedRange range;
  std::array<int8_t, 256> positive{};  // the results that do not depend on the slope

  int8_t operator()(int8_t value, int8_t slope) const {
    const int32_t d = value - input_zero;
    if (d >= 0) return positive[static_cast<uint8_t>(value)];
    return Finish(arith::MultiplyByQuantizedMultiplier(d * (slope - slope_zero), product));
  }
  int8_t Finish(int64_t value) const {
    return static_cast<int8_t>(std::clamp<int64_t>(value + output_zero, range.min, range.max));
  }
};

PreluArithmetic MakeArithmetic(const ir::Graph& graph, const ir::Node& node) {
  const ir::Quantization& in = graph.input(node, 0).type.quant;
  const ir::Quantization& slope = graph.input(node, 1).type.quant;
  const ir::TensorType& out = graph.output(node).type;
  PreluArithmetic arithmetic;
  arithmetic.input_zero = in.zero_point();
  arithmetic.slope_zero = slope.zero_point();
  arithmetic.output_zero = out.quant.zero_point();
  arithmetic.range = TypeRange(out.dtype);
  const float scale = out.quant.scale();
  arithmetic.product =
      arith::QuantizeMultiplier(static_cast<double>(in.scale() * slope.scale() / scale));
  const auto identity = arith::QuantizeMultiplier(static_cast<double>(in.scale() / scale));
  for (size_t i = 0; i < arithmetic.positive.size(); ++i) {
    const int32_t d = static_cast<int8_t>(static_cast<uint8_t>(i)) - in.zero_point();
    if (d < 0) continue;
    arithmetic.positive[i] = arithmetic.Finish(arith::MultiplyByQuantizedMultiplier(d, identity));
  }
  return arithmetic;
}

}  // namespace

KernelResult MakePrelu(const ir::Graph& graph, const ir::Node& node) {
  return MakeBroadcastKernel(graph, node, MakeArithmetic(graph, node));
}

}  // namespace npu::host
