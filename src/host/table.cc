// SPDX-License-Identifier: Apache-2.0
#include "src/host/table.h"

#include "src/host/image.h"

namespace npu::host {
namespace {

class TableKernel final : public Kernel {
 public:
  TableKernel(const ByteTable& table, size_t elements, size_t channels)
      : table_(table), elements_(elements), channels_(channels) {}

  OrderSupport order_support() const override { return OrderSupport::kElementwise; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const size_t count = ElementwiseCount(inputs[0], elements_, channels_);
    const auto* from = inputs[0].as<const uint8_t>();
    auto* to = outputs[0].as<uint8_t>();
    for (size_t i = 0; i < count; ++i) to[i] = table_[from[i]];
  }

 private:
  ByteTable table_;
  size_t elements_;
  size_t channels_;
};

}  // namespace

std::unique_ptr<Kernel> MakeTableKernel(const ByteTable& table, const ir::TensorType& type) {
  const size_t channels = type.shape.rank() == 0 ? 1 : static_cast<size_t>(type.shape.back(0));
  return std::make_unique<TableKernel>(table, static_cast<size_t>(type.shape.elements()), channels);
}

}  // namespace npu::host
