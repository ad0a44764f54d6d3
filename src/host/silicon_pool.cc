// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "src/host/image.h"
#include "src/host/silicon.h"

namespace npu::host {
namespace {

using Lanes = std::array<int8_t, layout::kAtomBytes>;

class PoolKernel final : public Kernel {
 public:
  explicit PoolKernel(const encode::SiliconPool& pool) : pool_(pool) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const ImageView in = AsImage(inputs[0], {pool_.ih, pool_.iw, pool_.c});
    const ImageView out = AsImage(outputs[0], {pool_.oh, pool_.ow, pool_.c});
    for (uint32_t y = 0; y < pool_.oh; ++y) {
      for (uint32_t x = 0; x < pool_.ow; ++x) {
        for (size_t c = 0; c < pool_.c; c += layout::kAtomBytes) {
          const size_t n = std::min<size_t>(layout::kAtomBytes, pool_.c - c);
          const Lanes lanes = Window(in, y, x, c, n);
          StoreChannels(out, y, x, c, lanes.data(), n);
        }
      }
    }
  }

 private:
  Lanes Window(const ImageView& in, uint32_t y, uint32_t x, size_t c, size_t n) const {
    const bool maximum = pool_.method == encode::SiliconPool::Method::kMaximum;
    Lanes best;
    best.fill(static_cast<int8_t>(maximum ? -128 : 127));
    for (uint32_t ky = 0; ky < pool_.kh; ++ky) {
      for (uint32_t kx = 0; kx < pool_.kw; ++kx) {
        const int64_t iy = int64_t{y} * pool_.sh + ky - pool_.pad_top;
        const int64_t ix = int64_t{x} * pool_.sw + kx - pool_.pad_left;
        Lanes tap;
        tap.fill(pool_.pad_value);
        if (iy >= 0 && iy < pool_.ih && ix >= 0 && ix < pool_.iw) {
          LoadChannels(in, static_cast<size_t>(iy), static_cast<size_t>(ix), c, tap.data(), n);
        }
        for (size_t i = 0; i < n; ++i) {
          best[i] = maximum ? std::max(best[i], tap[i]) : std::min(best[i], tap[i]);
        }
      }
    }
    return best;
  }

  encode::SiliconPool pool_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeSiliconPool(const encode::SiliconPool& pool) {
  for (const uint32_t extent :
       {pool.c, pool.ih, pool.iw, pool.oh, pool.ow, pool.kh, pool.kw, pool.sh, pool.sw}) {
    if (extent == 0) {
      return Status(ErrorCode::kInvalidArgument, "an extent of an NPU pooling operation is 0");
    }
  }
  return std::unique_ptr<Kernel>(std::make_unique<PoolKernel>(pool));
}

}  // namespace npu::host
