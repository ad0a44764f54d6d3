// SPDX-License-Identifier: Apache-2.0
// L2_NORMALIZATION of bytes over the last axis.
#include <algorithm>

#include "src/arith/fixed_point.h"
#include "src/arith/tflite.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

// The result's scale is 1/128.
constexpr int kFraction = 7;

class L2NormalizationKernel final : public Kernel {
 public:
  L2NormalizationKernel(const ir::TensorType& input, size_t rows, size_t depth)
      : zero_(input.quant.zero_point()), uint8_(input.rebased_uint8), rows_(rows), depth_(depth) {}

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const auto* from = inputs[0].as<const int8_t>();
    auto* to = outputs[0].as<int8_t>();
    for (size_t row = 0; row < rows_; ++row, from += depth_, to += depth_) Row(from, to);
  }

 private:
  void Row(const int8_t* from, int8_t* to) const {
    int32_t squares = 0;
    for (size_t i = 0; i < depth_; ++i) squares += (from[i] - zero_) * (from[i] - zero_);
    arith::QuantizedMultiplier m = arith::InverseSquareRoot(squares);
    // The uint8 kernel scales the value by 128, the int8 kernel the multiplier: other roundings.
    const int32_t factor = uint8_ ? 1 << kFraction : 1;
    if (!uint8_) m.exponent += kFraction;
    for (size_t i = 0; i < depth_; ++i) {
      const int32_t value = arith::MultiplyByQuantizedMultiplier((from[i] - zero_) * factor, m);
      to[i] = static_cast<int8_t>(std::clamp(value, -128, 127));
    }
  }

  int32_t zero_;
  bool uint8_;
  size_t rows_, depth_;
};

}  // namespace

KernelResult MakeL2Normalization(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const auto depth = static_cast<size_t>(input.shape.back(0));
  return KernelResult(std::make_unique<L2NormalizationKernel>(
      input, static_cast<size_t>(input.shape.elements()) / depth, depth));
}

}  // namespace npu::host
