// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D and MAX_POOL_2D in both orders. No rescale: input and output quantization agree.
#include <algorithm>
#include <array>

#include "src/arith/rounding.h"
#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/per_image.h"
#include "src/ir/window.h"

namespace npu::host {
namespace {

// Lanes of one step: a cube group, or a slice of the row-major channels.
constexpr size_t kBlock = 64;

struct Tap {
  size_t begin = 0, end = 0;  // input rows or columns of one output position
};

struct PoolGeometry {
  Extents input, output;
  size_t kh = 1, kw = 1, sh = 1, sw = 1;
  size_t pad_top = 0, pad_left = 0;
};

Tap InsideWindow(size_t position, size_t stride, size_t pad, size_t kernel, size_t extent) {
  const size_t start = position * stride;  // in padded coordinates
  return {start > pad ? start - pad : 0,
          std::min(start + kernel > pad ? start + kernel - pad : 0, extent)};
}

PoolGeometry GeometryOf(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::Pool2dParams>(node.params);
  const Shape& in = graph.input(node, 0).type.shape;
  const ir::AxisWindow rows = ir::ComputeAxisWindow(in[1], params.kh, params.sh, 1, params.padding);
  const ir::AxisWindow columns =
      ir::ComputeAxisWindow(in[2], params.kw, params.sw, 1, params.padding);
  PoolGeometry g;
  g.input = {static_cast<size_t>(in[1]), static_cast<size_t>(in[2]), static_cast<size_t>(in[3])};
  g.output = {static_cast<size_t>(rows.out), static_cast<size_t>(columns.out), g.input.c};
  g.kh = static_cast<size_t>(params.kh);
  g.kw = static_cast<size_t>(params.kw);
  g.sh = static_cast<size_t>(params.sh);
  g.sw = static_cast<size_t>(params.sw);
  g.pad_top = static_cast<size_t>(rows.pad_before);
  g.pad_left = static_cast<size_t>(columns.pad_before);
  return g;
}

class PoolKernel : public Kernel {
 public:
  PoolKernel(const PoolGeometry& geometry, const arith::QuantizedRange& clamp)
      : geometry_(geometry), clamp_(clamp) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const PoolGeometry& g = geometry_;
    const ImageView input = AsImage(inputs[0], g.input);
    const ImageView output = AsImage(outputs[0], g.output);
    for (size_t group = 0; group < output.groups; ++group) {
      for (size_t y = 0; y < g.output.h; ++y) {
        const Tap rows = InsideWindow(y, g.sh, g.pad_top, g.kh, g.input.h);
        for (size_t x = 0; x < g.output.w; ++x) {
          const Tap columns = InsideWindow(x, g.sw, g.pad_left, g.kw, g.input.w);
          for (size_t lane = 0; lane < output.lanes; lane += kBlock) {
            const size_t lanes = std::min(kBlock, output.lanes - lane);
            auto* to = reinterpret_cast<int8_t*>(output.pixel(group, y, x)) + lane;
            Window(input, group, rows, columns, lane, lanes, to);
          }
        }
      }
    }
  }

 protected:
  virtual void Window(const ImageView& input, size_t group, const Tap& rows, const Tap& columns,
                      size_t lane, size_t lanes, int8_t* to) const = 0;
  int8_t Clamp(int32_t value) const {
    return static_cast<int8_t>(std::clamp(value, clamp_.min, clamp_.max));
  }

 private:
  PoolGeometry geometry_;
  arith::QuantizedRange clamp_;
};

class MaxPoolKernel final : public PoolKernel {
 public:
  using PoolKernel::PoolKernel;

 protected:
  void Window(const ImageView& input, size_t group, const Tap& rows, const Tap& columns,
              size_t lane, size_t lanes, int8_t* to) const override {
    std::array<int8_t, kBlock> best;
    best.fill(-128);
    for (size_t y = rows.begin; y < rows.end; ++y) {
      for (size_t x = columns.begin; x < columns.end; ++x) {
        const auto* from = reinterpret_cast<const int8_t*>(input.pixel(group, y, x)) + lane;
        for (size_t i = 0; i < lanes; ++i) best[i] = std::max(best[i], from[i]);
      }
    }
    for (size_t i = 0; i < lanes; ++i) to[i] = Clamp(best[i]);
  }
};

// Padding is excluded from the count; ties away from zero among the host's integers, which lie
// `rebase` above ours.
class AveragePoolKernel final : public PoolKernel {
 public:
  AveragePoolKernel(const PoolGeometry& geometry, const arith::QuantizedRange& clamp,
                    int32_t rebase)
      : PoolKernel(geometry, clamp), rebase_(rebase) {}

 protected:
  void Window(const ImageView& input, size_t group, const Tap& rows, const Tap& columns,
              size_t lane, size_t lanes, int8_t* to) const override {
    std::array<int32_t, kBlock> sums{};
    for (size_t y = rows.begin; y < rows.end; ++y) {
      for (size_t x = columns.begin; x < columns.end; ++x) {
        const auto* from = reinterpret_cast<const int8_t*>(input.pixel(group, y, x)) + lane;
        for (size_t i = 0; i < lanes; ++i) sums[i] += from[i];
      }
    }
    const auto count =
        static_cast<int32_t>((rows.end - rows.begin) * (columns.end - columns.begin));
    for (size_t i = 0; i < lanes; ++i) {
      const int32_t sum = sums[i] + rebase_ * count;
      to[i] = Clamp(static_cast<int32_t>(arith::DivideRoundHalfAway(sum, count)) - rebase_);
    }
  }

 private:
  int32_t rebase_;
};

}  // namespace

KernelResult MakePool2d(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::Pool2dParams>(node.params);
  const PoolGeometry geometry = GeometryOf(graph, node);
  const arith::QuantizedRange clamp = ActivationClamp(params.activation, graph.output(node).type);
  if (params.kind == ir::PoolKind::kMax) {
    return PerImage(graph, node, std::make_unique<MaxPoolKernel>(geometry, clamp));
  }
  const int32_t rebase = graph.output(node).type.rebased_uint8 ? 128 : 0;
  return PerImage(graph, node, std::make_unique<AveragePoolKernel>(geometry, clamp, rebase));
}

}  // namespace npu::host
