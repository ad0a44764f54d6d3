// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of int8 over the last axis in fixed point: the reference kernel of tflite-delegate 4.15.
#include <algorithm>
#include <array>
#include <cmath>

#include "src/arith/fixed_point.h"
#include "src/arith/rounding.h"
#include "src/arith/tflite.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

// exp() of the 256 possible differences q - max, d = 0 ... 255 below the maximum.
struct Exponentials {
  std::array<int32_t, 256> value{};   // Q0.31
  std::array<int32_t, 256> addend{};  // Q12.19
  int32_t deepest = 0;                // differences beyond it count as 0
};

Exponentials MakeExponentials(double beta, double scale) {
  const double real = std::min(beta * scale * double{1 << 26}, 2147483647.0);
  const arith::QuantizedMultiplier m = arith::QuantizeMultiplier(real);
  Exponentials table;
  // dmin = -floor(31 * 2^26 / 2^e); an exponent below 0 never limits 8-bit differences.
  const double limit = std::floor(31.0 * double{1 << 26} / std::ldexp(1.0, m.exponent));
  table.deepest = static_cast<int32_t>(std::min(limit, 255.0));
  for (int32_t d = 0; d <= table.deepest; ++d) {
    const auto i = static_cast<size_t>(d);
    const int32_t t = arith::MultiplyByQuantizedMultiplier(-d, m);
    table.value[i] = arith::ExpOfNegative(t);
    table.addend[i] = arith::RoundingDivideByPot(table.value[i], 12);
  }
  return table;
}

class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(const Exponentials& table, size_t rows, size_t depth)
      : table_(table), rows_(rows), depth_(depth) {}

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const auto* from = inputs[0].as<const int8_t>();
    auto* to = outputs[0].as<int8_t>();
    for (size_t row = 0; row < rows_; ++row, from += depth_, to += depth_) Row(from, to);
  }

 private:
  void Row(const int8_t* from, int8_t* to) const {
    const int32_t max = *std::max_element(from, from + depth_);
    uint32_t sum = 0;
    for (size_t i = 0; i < depth_; ++i) {
      sum += static_cast<uint32_t>(table_.addend[static_cast<size_t>(max - from[i])]);
    }
    const arith::ScaledInverse inverse = arith::Reciprocal(static_cast<int32_t>(sum), 12);
    for (size_t i = 0; i < depth_; ++i) {
      const int32_t d = max - from[i];
      to[i] = d > table_.deepest ? int8_t{-128} : Output(static_cast<size_t>(d), inverse);
    }
  }
  int8_t Output(size_t d, const arith::ScaledInverse& inverse) const {
    const int32_t product =
        arith::SaturatingRoundingDoublingHighMul(inverse.value, table_.value[d]);
    const int32_t scaled = arith::RoundingDivideByPot(product, inverse.shift + 23);
    return static_cast<int8_t>(std::clamp(scaled - 128, -128, 127));
  }

  Exponentials table_;
  size_t rows_, depth_;
};

}  // namespace

KernelResult MakeSoftmax(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const auto depth = static_cast<size_t>(input.shape.back(0));
  const double beta = std::get<ir::SoftmaxParams>(node.params).beta;
  return KernelResult(
      std::make_unique<SoftmaxKernel>(MakeExponentials(beta, input.quant.scale()),
                                      static_cast<size_t>(input.shape.elements()) / depth, depth));
}

}  // namespace npu::host
