// SPDX-License-Identifier: Apache-2.0
// MEAN over any axes of a tensor of rank 1 to 4: formula B of tflite-delegate 4.17.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "src/arith/tflite.h"
#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"

namespace npu::host {
namespace {

constexpr size_t kRank = 4;

struct MeanArithmetic {
  arith::QuantizedMultiplier multiplier;
  int32_t offset = 0;  // z_x * n
  int32_t output_zero = 0;

  int8_t Apply(int32_t sum) const {
    const int64_t scaled = arith::MultiplyByQuantizedMultiplier(
        static_cast<int32_t>(static_cast<uint32_t>(sum) - static_cast<uint32_t>(offset)),
        multiplier);
    return static_cast<int8_t>(std::clamp<int64_t>(scaled + output_zero, -128, 127));
  }
};

class MeanKernel final : public Kernel {
 public:
  // extents and reduced: right-aligned to rank 4.
  MeanKernel(const MeanArithmetic& arithmetic, const std::array<size_t, kRank>& extents,
             const std::array<bool, kRank>& reduced, bool plane)
      : arithmetic_(arithmetic), extents_(extents), plane_(plane) {
    for (size_t axis = kRank; axis-- > 0;) {
      strides_[axis] = reduced[axis] ? 0 : elements_;
      if (!reduced[axis]) elements_ *= extents[axis];
    }
  }

  OrderSupport order_support() const override {
    return plane_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }
  size_t scratch_bytes() const override { return elements_ * sizeof(int32_t); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    if (plane_) {
      Plane(inputs[0], outputs[0]);
      return;
    }
    auto* sums = reinterpret_cast<int32_t*>(scratch.data());
    std::fill_n(sums, elements_, 0);
    const auto* from = inputs[0].as<const int8_t>();
    for (size_t n = 0; n < extents_[0]; ++n) {
      for (size_t y = 0; y < extents_[1]; ++y) {
        for (size_t x = 0; x < extents_[2]; ++x) {
          int32_t* to = sums + n * strides_[0] + y * strides_[1] + x * strides_[2];
          for (size_t c = 0; c < extents_[3]; ++c) to[c * strides_[3]] += from[c];
          from += extents_[3];
        }
      }
    }
    auto* out = outputs[0].as<int8_t>();
    for (size_t i = 0; i < elements_; ++i) out[i] = arithmetic_.Apply(sums[i]);
  }

 private:
  // Height and width of one image, either order.
  void Plane(const layout::TensorView& in, const layout::TensorView& out) const {
    const ImageView input = AsImage(in, {extents_[1], extents_[2], extents_[3]});
    const ImageView output = AsImage(out, {1, 1, extents_[3]});
    constexpr size_t kBlock = 64;
    std::array<int32_t, kBlock> sums;
    std::array<int8_t, kBlock> means;
    for (size_t group = 0; group < input.groups; ++group) {
      const size_t real = input.lanes_in(group);
      for (size_t lane = 0; lane < real; lane += kBlock) {
        const size_t lanes = std::min(kBlock, real - lane);
        sums.fill(0);
        for (size_t y = 0; y < extents_[1]; ++y) {
          for (size_t x = 0; x < extents_[2]; ++x) {
            const auto* from = reinterpret_cast<const int8_t*>(input.pixel(group, y, x)) + lane;
            for (size_t i = 0; i < lanes; ++i) sums[i] += from[i];
          }
        }
        for (size_t i = 0; i < lanes; ++i) means[i] = arithmetic_.Apply(sums[i]);
        StoreChannels(output, 0, 0, group * input.lanes + lane, means.data(), lanes);
      }
    }
  }

  MeanArithmetic arithmetic_;
  std::array<size_t, kRank> extents_;
  std::array<size_t, kRank> strides_{};  // of the output, 0 along reduced axes
  size_t elements_ = 1;
  bool plane_;
};

}  // namespace

KernelResult MakeMean(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const ir::TensorType& output = graph.output(node).type;
  const size_t rank = input.shape.rank();
  std::array<size_t, kRank> extents{1, 1, 1, 1};
  std::array<bool, kRank> reduced{};
  const size_t lead = kRank - rank;
  for (size_t i = 0; i < rank; ++i) extents[lead + i] = static_cast<size_t>(input.shape[i]);
  const std::span<const std::byte> axes = graph.input(node, 1).constant;
  for (size_t i = 0; i + sizeof(int32_t) <= axes.size(); i += sizeof(int32_t)) {
    int32_t axis = 0;
    std::memcpy(&axis, axes.data() + i, sizeof(axis));
    reduced[lead + static_cast<size_t>(axis < 0 ? axis + static_cast<int32_t>(rank) : axis)] = true;
  }
  int64_t count = 1;
  for (size_t i = 0; i < kRank; ++i) {
    if (reduced[i]) count *= static_cast<int64_t>(extents[i]);
  }
  const double real = static_cast<double>(input.quant.scale()) / output.quant.scale();
  const MeanArithmetic arithmetic{
      .multiplier = arith::MeanMultiplier(arith::QuantizeMultiplier(real), count),
      .offset = static_cast<int32_t>(input.quant.zero_point() * count),
      .output_zero = output.quant.zero_point()};
  const bool plane = rank == 4 && extents[0] == 1 && reduced[1] && reduced[2] && !reduced[3];
  return KernelResult(std::make_unique<MeanKernel>(arithmetic, extents, reduced, plane));
}

}  // namespace npu::host
