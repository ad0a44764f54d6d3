// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of int8 over the last axis in fixed point: the reference kernel of tflite-delegate 4.15.
#include <algorithm>

#include "src/arith/fixed_point.h"
#include "src/arith/rounding.h"
#include "src/arith/tflite.h"
#include "src/host/exponentials.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

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
    const arith::ScaledInverse inverse = arith::Reciprocal(table_.Sum(from, depth_, max), 12);
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
