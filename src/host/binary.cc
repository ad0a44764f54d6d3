// SPDX-License-Identifier: Apache-2.0
// ADD, SUB and MUL with broadcasting, in both orders.
#include <algorithm>
#include <array>
#include <utility>

#include "src/arith/tflite.h"
#include "src/host/broadcast_kernel.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/simd.h"

namespace npu::host {
namespace {

using arith::MultiplyByQuantizedMultiplier;
using arith::QuantizedMultiplier;

// Elements of one step.
constexpr size_t kBlock = 64;

// The sum of two table entries, or the product of two differences, rescaled.
struct BinaryArithmetic {
  bool product = false;
  // ADD, SUB: an operand's byte -> its rescaled value (SUB negates b's). MUL: byte - zero point.
  std::array<int32_t, 256> a{}, b{};
  // The output multiplier, repeated for every element of a step.
  std::array<int32_t, kBlock> bias{}, multiplier{}, left{}, right{};
  int32_t output_zero = 0;
  arith::QuantizedRange clamp;

  void SetOutput(QuantizedMultiplier m) {
    multiplier.fill(m.multiplier);
    left.fill(std::max(m.exponent, 0));
    right.fill(std::max(-m.exponent, 0));
  }
  void Row(const BroadcastRow& row) const {
    const RequantizeArrays arrays{.bias = bias.data(),
                                  .multiplier = multiplier.data(),
                                  .left = left.data(),
                                  .right = right.data()};
    std::array<int32_t, kBlock> values;
    for (size_t done = 0; done < row.count; done += kBlock) {
      const size_t n = std::min(kBlock, row.count - done);
      const uint8_t* from_a = row.a + done * row.step_a;
      const uint8_t* from_b = row.b + done * row.step_b;
      for (size_t i = 0; i < n; ++i) {
        const int32_t va = a[from_a[i * row.step_a]];
        const int32_t vb = b[from_b[i * row.step_b]];
        values[i] = product ? va * vb : va + vb;
      }
      RequantizeDouble(values.data(), arrays, n, output_zero, clamp.min, clamp.max, row.out + done);
    }
  }
};

std::array<int32_t, 256> Differences(int32_t zero_point) {
  std::array<int32_t, 256> table;
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<int8_t>(static_cast<uint8_t>(i)) - zero_point;
  }
  return table;
}

BinaryArithmetic MakeArithmetic(const ir::BinaryParams& params, const ir::Quantization& a,
                                const ir::Quantization& b, const ir::TensorType& output) {
  BinaryArithmetic arithmetic;
  arithmetic.a = Differences(a.zero_point());
  arithmetic.b = Differences(b.zero_point());
  arithmetic.output_zero = output.quant.zero_point();
  arithmetic.clamp = ActivationClamp(params.activation, output);
  const float output_scale = output.quant.scale();
  if (params.kind == ir::BinaryKind::kMul) {  // 4.6: all in float32
    arithmetic.product = true;
    const float real = a.scale() * b.scale() / output_scale;
    arithmetic.SetOutput(arith::QuantizeMultiplier(static_cast<double>(real)));
    return arithmetic;
  }
  // 4.5: 2^20 units of the larger input scale, doubled.
  const double twice_max = 2.0 * static_cast<double>(std::max(a.scale(), b.scale()));
  const float unit = static_cast<float>(1 << 20) * output_scale;
  arithmetic.SetOutput(arith::QuantizeMultiplier(twice_max / static_cast<double>(unit)));
  const QuantizedMultiplier ma =
      arith::QuantizeMultiplier(static_cast<double>(a.scale()) / twice_max);
  const QuantizedMultiplier mb =
      arith::QuantizeMultiplier(static_cast<double>(b.scale()) / twice_max);
  const int32_t sign = params.kind == ir::BinaryKind::kSub ? -1 : 1;
  for (size_t i = 0; i < 256; ++i) {
    arithmetic.a[i] = MultiplyByQuantizedMultiplier(arithmetic.a[i] * (1 << 20), ma);
    arithmetic.b[i] = sign * MultiplyByQuantizedMultiplier(arithmetic.b[i] * (1 << 20), mb);
  }
  return arithmetic;
}

}  // namespace

KernelResult MakeBinary(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::BinaryParams>(node.params);
  return MakeBroadcastKernel(
      graph, node,
      MakeArithmetic(params, graph.input(node, 0).type.quant, graph.input(node, 1).type.quant,
                     graph.output(node).type));
}

}  // namespace npu::host
