// SPDX-License-Identifier: Apache-2.0
// QUANTIZE (8 bits to 8 bits by table, float32 to 8 bits) and DEQUANTIZE (8 bits to float32).
#include <algorithm>
#include <array>
#include <cmath>

#include "src/arith/tflite.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/table.h"

namespace npu::host {
namespace {

ByteTable RescaleTable(const ir::TensorType& input, const ir::TensorType& output) {
  const arith::QuantizedMultiplier m = arith::QuantizeMultiplier(
      static_cast<double>(input.quant.scale()) / static_cast<double>(output.quant.scale()));
  const arith::QuantizedRange range = TypeRange(output.dtype);
  ByteTable table;
  for (size_t i = 0; i < table.size(); ++i) {
    const int32_t d = StoredValue(input.dtype, i) - input.quant.zero_point();
    const int64_t value =
        int64_t{arith::MultiplyByQuantizedMultiplier(d, m)} + output.quant.zero_point();
    table[i] = static_cast<uint8_t>(std::clamp<int64_t>(value, range.min, range.max));
  }
  return table;
}

class FloatQuantizeKernel final : public Kernel {
 public:
  explicit FloatQuantizeKernel(const ir::TensorType& output)
      : elements_(static_cast<size_t>(output.shape.elements())),
        scale_(output.quant.scale()),
        zero_point_(static_cast<float>(output.quant.zero_point())),
        range_(TypeRange(output.dtype)) {}

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const auto* from = inputs[0].as<const float>();
    auto* to = outputs[0].as<uint8_t>();
    const auto low = static_cast<float>(range_.min);
    const auto high = static_cast<float>(range_.max);
    for (size_t i = 0; i < elements_; ++i) {
      // Clamped before the conversion, so that infinities are defined; NaN becomes the low bound.
      const float value = std::round(from[i] / scale_) + zero_point_;
      const float clamped = value > low ? std::min(value, high) : low;
      to[i] = static_cast<uint8_t>(static_cast<int32_t>(clamped));
    }
  }

 private:
  size_t elements_;
  float scale_;
  float zero_point_;
  arith::QuantizedRange range_;
};

class DequantizeKernel final : public Kernel {
 public:
  explicit DequantizeKernel(const ir::TensorType& input)
      : elements_(static_cast<size_t>(input.shape.elements())) {
    for (size_t i = 0; i < table_.size(); ++i) {
      table_[i] = input.quant.scale() *
                  static_cast<float>(StoredValue(input.dtype, i) - input.quant.zero_point());
    }
  }

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const auto* from = inputs[0].as<const uint8_t>();
    auto* to = outputs[0].as<float>();
    for (size_t i = 0; i < elements_; ++i) to[i] = table_[from[i]];
  }

 private:
  size_t elements_;
  std::array<float, 256> table_;
};

}  // namespace

KernelResult MakeQuantize(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const ir::TensorType& output = graph.output(node).type;
  if (input.dtype == DataType::kFloat32) {
    return KernelResult(std::make_unique<FloatQuantizeKernel>(output));
  }
  return KernelResult(MakeTableKernel(RescaleTable(input, output), output));
}

KernelResult MakeDequantize(const ir::Graph& graph, const ir::Node& node) {
  return KernelResult(std::make_unique<DequantizeKernel>(graph.input(node, 0).type));
}

}  // namespace npu::host
