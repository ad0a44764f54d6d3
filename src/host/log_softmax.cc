// SPDX-License-Identifier: Apache-2.0
// LOG_SOFTMAX of bytes over the last axis in fixed point: the reference kernel. Only differences to
// a row's maximum enter, so that int8 and uint8 are the same.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/arith/fixed_point.h"
#include "src/arith/rounding.h"
#include "src/arith/tflite.h"
#include "src/base/checked.h"
#include "src/host/exponentials.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

class LogSoftmaxKernel final : public Kernel {
 public:
  LogSoftmaxKernel(const Exponentials& table, size_t rows, size_t depth)
      : table_(table), rows_(rows), depth_(depth) {
    const arith::QuantizedMultiplier m = table.multiplier;
    reverse_ = arith::QuantizeMultiplier(std::ldexp(1.0, 31 - m.exponent) / m.multiplier);
  }

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const auto* from = inputs[0].as<const int8_t>();
    auto* to = outputs[0].as<int8_t>();
    for (size_t row = 0; row < rows_; ++row, from += depth_, to += depth_) Row(from, to);
  }

 private:
  void Row(const int8_t* from, int8_t* to) const {
    const int32_t max = *std::max_element(from, from + depth_);
    const int32_t log_sum = arith::LogOfAtLeastOne(table_.Sum(from, depth_, max));
    // The difference below which Q5.26 minus the logarithm would overflow.
    const int32_t lowest =
        Saturate<int32_t>(int64_t{log_sum} + std::numeric_limits<int32_t>::min());
    const int64_t floor = arith::MultiplyByQuantizedMultiplier(lowest, reverse_);
    const auto deepest = static_cast<int32_t>(std::min<int64_t>(table_.deepest, -floor - 1));
    for (size_t i = 0; i < depth_; ++i) {
      const int32_t d = max - from[i];
      if (d > deepest) {
        to[i] = -128;
        continue;
      }
      const int32_t scaled = table_.scaled[static_cast<size_t>(d)] - log_sum;
      to[i] =
          static_cast<int8_t>(std::clamp(arith::RoundingDivideByPot(scaled, 22) + 127, -128, 127));
    }
  }

  Exponentials table_;
  arith::QuantizedMultiplier reverse_;  // Q5.26 to a difference
  size_t rows_, depth_;
};

}  // namespace

KernelResult MakeLogSoftmax(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const auto depth = static_cast<size_t>(input.shape.back(0));
  return KernelResult(std::make_unique<LogSoftmaxKernel>(
      MakeExponentials(1.0, input.quant.scale()),
      static_cast<size_t>(input.shape.elements()) / depth, depth));
}

}  // namespace npu::host
