// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV: outputs whose coordinates agree modulo the strides see the same taps of the
// filter, so that each such phase is a plain convolution of stride 1 with a part of the filter.
#include "src/host/transpose_conv.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/base/checked.h"
#include "src/host/conv_sums.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/per_image.h"
#include "src/ir/window.h"

namespace npu::host {
namespace {

// Channels finished at once, on the stack.
constexpr size_t kFinish = 64;

// One axis of one phase: output o = first + stride * m reads inputs m - pad ... of its taps.
struct AxisPhase {
  size_t first = 0;    // the phase, also its first output
  size_t outputs = 0;  // how many
  size_t tap = 0;      // the filter's first tap; the others follow in steps of the stride
  size_t taps = 0;     // 0: outputs between the reach of any input
  // Inputs before the image. Negative where the first output already starts inside; the wrapped
  // value is right for ConvGeometry, which subtracts it modulo 2^64.
  size_t pad = 0;
};

std::vector<AxisPhase> PhasesOf(size_t extent, size_t kernel, size_t stride, size_t lead) {
  std::vector<AxisPhase> phases;
  for (size_t first = 0; first < std::min(stride, extent); ++first) {
    AxisPhase phase{.first = first, .outputs = CeilDiv(extent - first, stride)};
    phase.tap = (first + lead) % stride;
    phase.taps = phase.tap < kernel ? CeilDiv(kernel - phase.tap, stride) : 0;
    phase.pad = std::max<size_t>(phase.taps, 1) - 1 - (first + lead) / stride;
    phases.push_back(phase);
  }
  return phases;
}

struct Phase {
  AxisPhase y, x;
  ConvSums sums;
};

// The taps of a phase, last tap first: later inputs meet earlier taps. One tap of zero points where
// the phase has none.
std::vector<int8_t> PhaseWeights(const ir::Value& filter, const AxisPhase& y, const AxisPhase& x,
                                 size_t sh, size_t sw) {
  const Shape& shape = filter.type.shape;
  const auto extent = [&](size_t axis) { return static_cast<size_t>(shape[axis]); };
  const size_t oc = extent(0), kh = extent(1), kw = extent(2), ic = extent(3);
  const size_t rows = std::max<size_t>(y.taps, 1), columns = std::max<size_t>(x.taps, 1);
  std::vector<int8_t> weights(oc * rows * columns * ic,
                              static_cast<int8_t>(filter.type.quant.zero_point()));
  if (y.taps == 0 || x.taps == 0) return weights;
  const auto* from = reinterpret_cast<const int8_t*>(filter.constant.data());
  int8_t* to = weights.data();
  for (size_t o = 0; o < oc; ++o) {
    for (size_t row = rows; row-- > 0;) {
      for (size_t column = columns; column-- > 0; to += ic) {
        const size_t ky = y.tap + row * sh;
        const size_t kx = x.tap + column * sw;
        std::copy_n(from + ((o * kh + ky) * kw + kx) * ic, ic, to);
      }
    }
  }
  return weights;
}

class TransposeConvKernel final : public Kernel {
 public:
  TransposeConvKernel(std::vector<Phase> phases, const Extents& input, const Extents& output,
                      size_t sh, size_t sw, OutputStage stage)
      : phases_(std::move(phases)),
        input_(input),
        output_(output),
        sh_(sh),
        sw_(sw),
        stage_(std::move(stage)) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  size_t scratch_bytes() const override {
    size_t bytes = 0;
    for (const Phase& phase : phases_) bytes = std::max(bytes, phase.sums.scratch_bytes());
    return bytes;
  }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    const ImageView input = AsImage(inputs[2], input_);
    const ImageView output = AsImage(outputs[0], output_);
    for (const Phase& phase : phases_) {
      const auto finish = [&](size_t y, size_t x, size_t c, size_t count, const int32_t* sums) {
        Finish(output, phase.y.first + y * sh_, phase.x.first + x * sw_, c, count, sums);
      };
      phase.sums.Run(input, scratch, SumSink(finish));
    }
  }

 private:
  void Finish(const ImageView& output, size_t y, size_t x, size_t c, size_t count,
              const int32_t* sums) const {
    std::array<int8_t, kFinish> bytes;
    for (size_t done = 0; done < count; done += kFinish) {
      const size_t n = std::min(kFinish, count - done);
      stage_.Apply(sums + done, c + done, n, bytes.data());
      StoreChannels(output, y, x, c + done, bytes.data(), n);
    }
  }

  std::vector<Phase> phases_;
  Extents input_, output_;
  size_t sh_, sw_;
  OutputStage stage_;
};

size_t Lead(int32_t extent, int32_t kernel, int32_t stride, ir::Padding padding) {
  // Of the output: TFLite inverts the convolution that would shrink it.
  return static_cast<size_t>(ir::ComputeAxisWindow(extent, kernel, stride, 1, padding).pad_before);
}

}  // namespace

ir::Node OperandsOfTransposeConv(const ir::Node& node) {
  ir::Node operands;
  operands.params =
      ir::Conv2dParams{.activation = std::get<ir::TransposeConvParams>(node.params).activation};
  operands.inputs = {node.inputs[2], node.inputs[1]};
  if (node.inputs.size() > 3) operands.inputs.push_back(node.inputs[3]);
  operands.outputs = node.outputs;
  return operands;
}

KernelResult MakeTransposeConv(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::TransposeConvParams>(node.params);
  const ir::Node operands = OperandsOfTransposeConv(node);
  const ir::TensorType& input = graph.input(operands, 0).type;
  const ir::Value& filter = graph.input(operands, 1);
  const Shape& kernel = filter.type.shape;
  const Shape& out = graph.output(node).type.shape;
  const auto image = [](const Shape& shape) {
    return Extents{static_cast<size_t>(shape[1]), static_cast<size_t>(shape[2]),
                   static_cast<size_t>(shape[3])};
  };
  const Extents from = image(input.shape), to = image(out), window = image(kernel);
  const auto sh = static_cast<size_t>(params.sh), sw = static_cast<size_t>(params.sw);
  const size_t top = Lead(out[1], kernel[1], params.sh, params.padding);
  const size_t left = Lead(out[2], kernel[2], params.sw, params.padding);
  std::vector<Phase> phases;
  for (const AxisPhase& y : PhasesOf(to.h, window.h, sh, top)) {
    for (const AxisPhase& x : PhasesOf(to.w, window.w, sw, left)) {
      ConvGeometry g{.ic = from.c, .ih = from.h, .iw = from.w};
      g.oc = to.c;
      g.oh = y.outputs;
      g.ow = x.outputs;
      g.kh = std::max<size_t>(y.taps, 1);
      g.kw = std::max<size_t>(x.taps, 1);
      g.pad_top = y.pad;
      g.pad_left = x.pad;
      g.zero = g.pad_value = static_cast<int16_t>(input.quant.zero_point());
      g.weight_zero = static_cast<int16_t>(filter.type.quant.zero_point());
      phases.push_back({y, x, ConvSums(g, PhaseWeights(filter, y, x, sh, sw))});
    }
  }
  return PerImage(graph, node,
                  std::make_unique<TransposeConvKernel>(
                      std::move(phases), from, to, sh, sw,
                      MakeOutputStage(graph, operands, to.c, params.activation)));
}

}  // namespace npu::host
