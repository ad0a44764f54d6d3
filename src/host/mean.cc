// SPDX-License-Identifier: Apache-2.0
// MEAN over any axes: formula B of tflite-delegate 4.17.
#include <algorithm>
#include <array>
#include <optional>

#include "src/arith/tflite.h"
#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/reduction.h"

namespace npu::host {
namespace {

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
  // plane: the extents of one image whose height and width are folded.
  MeanKernel(const MeanArithmetic& arithmetic, const Reduction& reduction,
             const std::optional<Extents>& plane)
      : arithmetic_(arithmetic), reduction_(reduction), plane_(plane) {}

  OrderSupport order_support() const override {
    return plane_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }
  size_t scratch_bytes() const override { return reduction_.results() * sizeof(int32_t); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    if (plane_) {
      Plane(*plane_, inputs[0], outputs[0]);
      return;
    }
    auto* sums = reinterpret_cast<int32_t*>(scratch.data());
    std::fill_n(sums, reduction_.results(), 0);
    reduction_.Run(inputs[0].as<const int8_t>(), sums,
                   [](int32_t sum, int8_t value) { return sum + value; });
    auto* out = outputs[0].as<int8_t>();
    for (size_t i = 0; i < reduction_.results(); ++i) out[i] = arithmetic_.Apply(sums[i]);
  }

 private:
  // Either order.
  void Plane(const Extents& extents, const layout::TensorView& in,
             const layout::TensorView& out) const {
    const ImageView input = AsImage(in, extents);
    const ImageView output = AsImage(out, {1, 1, extents.c});
    constexpr size_t kBlock = 64;
    std::array<int32_t, kBlock> sums;
    std::array<int8_t, kBlock> means;
    for (size_t group = 0; group < input.groups; ++group) {
      const size_t real = input.lanes_in(group);
      for (size_t lane = 0; lane < real; lane += kBlock) {
        const size_t lanes = std::min(kBlock, real - lane);
        sums.fill(0);
        for (size_t y = 0; y < extents.h; ++y) {
          for (size_t x = 0; x < extents.w; ++x) {
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
  Reduction reduction_;
  std::optional<Extents> plane_;
};

}  // namespace

KernelResult MakeMean(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const ir::TensorType& output = graph.output(node).type;
  const Shape& shape = input.shape;
  const AxisFlags reduced = ReducedAxes(graph.input(node, 1), shape.rank());
  const Reduction reduction(shape, reduced);
  const auto count = static_cast<int64_t>(reduction.folded());
  const double real = static_cast<double>(input.quant.scale()) / output.quant.scale();
  const MeanArithmetic arithmetic{
      .multiplier = arith::MeanMultiplier(arith::QuantizeMultiplier(real), count),
      .offset = static_cast<int32_t>(input.quant.zero_point() * count),
      .output_zero = output.quant.zero_point()};
  std::optional<Extents> plane;
  if (shape.rank() == 4 && shape[0] == 1 && reduced[1] && reduced[2] && !reduced[3]) {
    plane = {static_cast<size_t>(shape[1]), static_cast<size_t>(shape[2]),
             static_cast<size_t>(shape[3])};
  }
  return KernelResult(std::make_unique<MeanKernel>(arithmetic, reduction, plane));
}

}  // namespace npu::host
