// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <memory>

#include "src/host/image.h"
#include "src/host/silicon.h"

namespace npu::host {
namespace {

constexpr size_t kCodes = 256;

class ElementwiseKernel final : public Kernel {
 public:
  explicit ElementwiseKernel(const encode::SiliconElementwise& op)
      : extents_{op.h, op.w, op.c}, stages_(op.stages) {
    for (size_t code = 0; code < kCodes; ++code) {
      const auto q = static_cast<int8_t>(code);
      main_[code] = arith::ElementwiseMain(stages_, q);
      operand_[code] = arith::ElementwiseOperand(stages_, q);
    }
  }

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const ImageView a = AsImage(inputs[0], extents_);
    const ImageView b = AsImage(inputs[inputs.size() - 1], extents_);
    const ImageView out = AsImage(outputs[0], extents_);
    std::array<std::byte, layout::kAtomBytes> main, operand;
    std::array<int8_t, layout::kAtomBytes> result;
    for (size_t y = 0; y < extents_.h; ++y) {
      for (size_t x = 0; x < extents_.w; ++x) {
        for (size_t c = 0; c < extents_.c; c += layout::kAtomBytes) {
          const size_t n = std::min<size_t>(layout::kAtomBytes, extents_.c - c);
          LoadChannels(a, y, x, c, main.data(), n);
          LoadChannels(b, y, x, c, operand.data(), n);
          for (size_t i = 0; i < n; ++i) {
            result[i] = arith::ElementwiseOutput(stages_, main_[static_cast<size_t>(main[i])],
                                                 operand_[static_cast<size_t>(operand[i])]);
          }
          StoreChannels(out, y, x, c, result.data(), n);
        }
      }
    }
  }

 private:
  Extents extents_;
  arith::ElementwiseStages stages_;
  std::array<int32_t, kCodes> main_{}, operand_{};
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeSiliconElementwise(const encode::SiliconElementwise& op) {
  if (op.c == 0 || op.h == 0 || op.w == 0 || op.stages.b_shift > 63 || op.stages.out_shift > 63) {
    return Status(ErrorCode::kInvalidArgument,
                  "the description of an NPU elementwise operation contradicts itself");
  }
  return std::unique_ptr<Kernel>(std::make_unique<ElementwiseKernel>(op));
}

}  // namespace npu::host
