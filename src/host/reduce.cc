// SPDX-License-Identifier: Apache-2.0
// REDUCE_MAX and REDUCE_MIN of stored integers, and SUM.
#include <algorithm>

#include "src/arith/tflite.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/reduction.h"

namespace npu::host {
namespace {

struct Larger {
  static constexpr int8_t kStart = -128;
  int8_t operator()(int8_t a, int8_t b) const { return std::max(a, b); }
};
struct Smaller {
  static constexpr int8_t kStart = 127;
  int8_t operator()(int8_t a, int8_t b) const { return std::min(a, b); }
};

template <typename Choice>
class ReduceKernel final : public Kernel {
 public:
  explicit ReduceKernel(const Reduction& reduction) : reduction_(reduction) {}

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    auto* out = outputs[0].as<int8_t>();
    std::fill_n(out, reduction_.results(), Choice::kStart);
    reduction_.Run(inputs[0].as<const int8_t>(), out, Choice{});
  }

 private:
  Reduction reduction_;
};

class SumKernel final : public Kernel {
 public:
  SumKernel(const Reduction& reduction, const ir::Quantization& in, const ir::TensorType& out)
      : reduction_(reduction),
        multiplier_(arith::QuantizeMultiplier(static_cast<double>(in.scale()) /
                                              static_cast<double>(out.quant.scale()))),
        start_(-in.zero_point() * static_cast<int32_t>(reduction.folded())),
        output_zero_(out.quant.zero_point()),
        range_(TypeRange(out.dtype)) {}

  size_t scratch_bytes() const override { return reduction_.results() * sizeof(int32_t); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    auto* sums = reinterpret_cast<int32_t*>(scratch.data());
    std::fill_n(sums, reduction_.results(), start_);
    reduction_.Run(inputs[0].as<const int8_t>(), sums,
                   [](int32_t sum, int8_t value) { return sum + value; });
    auto* out = outputs[0].as<int8_t>();
    for (size_t i = 0; i < reduction_.results(); ++i) {
      const int64_t value = arith::MultiplyByQuantizedMultiplier(sums[i], multiplier_);
      out[i] =
          static_cast<int8_t>(std::clamp<int64_t>(value + output_zero_, range_.min, range_.max));
    }
  }

 private:
  Reduction reduction_;
  arith::QuantizedMultiplier multiplier_;
  int32_t start_, output_zero_;
  arith::QuantizedRange range_;
};

}  // namespace

KernelResult MakeReduce(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const Reduction reduction(input.shape, ReducedAxes(graph.input(node, 1), input.shape.rank()));
  switch (std::get<ir::ReduceParams>(node.params).kind) {
    case ir::ReduceKind::kMax:
      return KernelResult(std::make_unique<ReduceKernel<Larger>>(reduction));
    case ir::ReduceKind::kMin:
      return KernelResult(std::make_unique<ReduceKernel<Smaller>>(reduction));
    case ir::ReduceKind::kSum:
      break;
  }
  return KernelResult(std::make_unique<SumKernel>(reduction, input.quant, graph.output(node).type));
}

}  // namespace npu::host
