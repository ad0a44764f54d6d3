// SPDX-License-Identifier: Apache-2.0
#include "src/host/output_stage.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>

#include "src/host/simd.h"

namespace npu::host {
namespace {

// FULLY_CONNECTED.
void ApplyReal(const OutputStage& stage, const int32_t* sums, size_t c, size_t count, int8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    // TFLite's accumulator wraps; so does this sum.
    const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                          static_cast<uint32_t>(stage.bias[c + i]));
    const int64_t scaled = arith::MultiplyByReal(sum, stage.real[c + i]);
    out[i] = static_cast<int8_t>(
        std::clamp<int64_t>(scaled + stage.zero_point, stage.clamp.min, stage.clamp.max));
  }
}

}  // namespace

arith::QuantizedRange TypeRange(DataType dtype) {
  return dtype == DataType::kUInt8 ? arith::QuantizedRange{0, 255}
                                   : arith::QuantizedRange{-128, 127};
}

arith::QuantizedRange ActivationClamp(ir::Activation activation, const ir::TensorType& output) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float low = -kInfinity;
  float high = kInfinity;
  switch (activation) {
    case ir::Activation::kNone:
      break;
    case ir::Activation::kRelu:
      low = 0.0F;
      break;
    case ir::Activation::kReluN1To1:
      low = -1.0F;
      high = 1.0F;
      break;
    case ir::Activation::kRelu6:
      low = 0.0F;
      high = 6.0F;
      break;
  }
  return arith::ActivationRange(low, high, output.quant.scale(), output.quant.zero_point(),
                                TypeRange(output.dtype));
}

std::vector<double> RealMultipliers(const ir::Graph& graph, const ir::Node& node,
                                    size_t output_channels) {
  const ir::Quantization& filter = graph.input(node, 1).type.quant;
  const float input_scale = graph.input(node, 0).type.quant.scale();
  const double output_scale = graph.output(node).type.quant.scale();
  const bool float_product = graph.input(node, 0).type.rebased_uint8 &&
                             !std::holds_alternative<ir::FullyConnectedParams>(node.params);
  std::vector<double> multipliers(output_channels);
  for (size_t c = 0; c < output_channels; ++c) {
    const float scale = filter.scale(c);
    const double product = float_product
                               ? static_cast<double>(input_scale * scale)
                               : static_cast<double>(input_scale) * static_cast<double>(scale);
    multipliers[c] = product / output_scale;
  }
  return multipliers;
}

void OutputStage::Apply(const int32_t* sums, size_t c, size_t count, int8_t* out) const {
  if (!real.empty()) {
    ApplyReal(*this, sums, c, count, out);
    return;
  }
  const RequantizeArrays arrays{.bias = bias.data() + c,
                                .multiplier = multiplier.data() + c,
                                .left = left.data() + c,
                                .right = right.data() + c};
  RequantizeDouble(sums, arrays, count, zero_point, clamp.min, clamp.max, out);
}

OutputStage MakeOutputStage(const ir::Graph& graph, const ir::Node& node, size_t channels,
                            ir::Activation activation) {
  OutputStage stage;
  stage.bias.assign(channels, 0);
  if (graph.has_input(node, 2)) {
    const std::span<const std::byte> bytes = graph.input(node, 2).constant;
    std::memcpy(stage.bias.data(), bytes.data(),
                std::min(bytes.size(), channels * sizeof(int32_t)));
  }
  std::vector<double> factors = RealMultipliers(graph, node, channels);
  for (const double factor : factors) {
    const arith::QuantizedMultiplier m = arith::QuantizeMultiplier(factor);
    stage.multiplier.push_back(m.multiplier);
    stage.left.push_back(std::max(m.exponent, 0));
    stage.right.push_back(std::max(-m.exponent, 0));
  }
  const ir::TensorType& output = graph.output(node).type;
  if (std::holds_alternative<ir::FullyConnectedParams>(node.params))
    stage.real = std::move(factors);
  stage.zero_point = output.quant.zero_point();
  stage.clamp = ActivationClamp(activation, output);
  return stage;
}

}  // namespace npu::host
