// SPDX-License-Identifier: Apache-2.0
// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: sums, then the output stage.
#include <algorithm>
#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "src/host/conv_sums.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/per_image.h"

namespace npu::host {
namespace {

// Channels finished at once, on the stack.
constexpr size_t kFinish = 64;

std::span<const int8_t> ConstantInt8(const ir::Value& value) {
  return {reinterpret_cast<const int8_t*>(value.constant.data()), value.constant.size()};
}

void Finish(const OutputStage& stage, const ImageView& output, size_t y, size_t x, size_t c,
            size_t count, const int32_t* sums) {
  std::array<int8_t, kFinish> bytes;
  for (size_t done = 0; done < count; done += kFinish) {
    const size_t n = std::min(kFinish, count - done);
    stage.Apply(sums + done, c + done, n, bytes.data());
    StoreChannels(output, y, x, c + done, bytes.data(), n);
  }
}

// Sums is ConvSums or DepthwiseSums.
template <typename Sums>
class ConvKernel final : public Kernel {
 public:
  ConvKernel(Sums sums, OutputStage stage) : sums_(std::move(sums)), stage_(std::move(stage)) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  size_t scratch_bytes() const override { return sums_.scratch_bytes(); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    const ImageView output = AsImage(outputs[0], sums_.geometry().output());
    const auto finish = [&](size_t y, size_t x, size_t c, size_t count, const int32_t* sums) {
      Finish(stage_, output, y, x, c, count, sums);
    };
    sums_.Run(AsImage(inputs[0], sums_.geometry().input()), scratch, SumSink(finish));
  }

 private:
  Sums sums_;
  OutputStage stage_;
};

// x[M,K] times filter[N,K] is a 1x1 convolution over M rows of one pixel. Only row-major: the
// flattening of x is that of row-major order.
class FullyConnectedKernel final : public Kernel {
 public:
  FullyConnectedKernel(ConvSums sums, OutputStage stage)
      : kernel_(std::move(sums), std::move(stage)) {}

  size_t scratch_bytes() const override { return kernel_.scratch_bytes(); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    kernel_.Run(inputs, outputs, scratch);
  }

 private:
  ConvKernel<ConvSums> kernel_;
};

ConvGeometry FullyConnectedGeometry(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const Shape& filter = graph.input(node, 1).type.shape;
  ConvGeometry g;
  g.oc = static_cast<size_t>(filter[0]);
  g.ic = static_cast<size_t>(filter[1]);
  // One row of M pixels: the tile of the inner loop runs along a row.
  g.iw = g.ow = static_cast<size_t>(input.shape.elements()) / g.ic;
  g.ih = g.oh = 1;
  g.zero = g.pad_value = static_cast<int16_t>(input.quant.zero_point());
  g.weight_zero = static_cast<int16_t>(graph.input(node, 1).type.quant.zero_point());
  return g;
}

// Raw sums of x * w to int8: the zero point's share -z_x * sum(w - z_w) joins the bias. With
// asymmetric weights the sums have one more channel, the window's sum of x, which counts -z_w times
// in each of the others.
class RequantizeKernel final : public Kernel {
 public:
  RequantizeKernel(const Extents& extents, int32_t weight_zero, OutputStage stage)
      : extents_(extents), weight_zero_(weight_zero), stage_(std::move(stage)) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    Extents sums_extents = extents_;
    if (weight_zero_ != 0) ++sums_extents.c;
    const ImageView input = AsImage(inputs[0], sums_extents, sizeof(int32_t));
    const ImageView output = AsImage(outputs[0], extents_);
    std::array<int32_t, kFinish> sums;
    for (size_t c = 0; c < extents_.c; c += kFinish) {
      const size_t count = std::min(kFinish, extents_.c - c);
      for (size_t y = 0; y < extents_.h; ++y) {
        for (size_t x = 0; x < extents_.w; ++x) {
          LoadChannels(input, y, x, c, sums.data(), count);
          if (weight_zero_ != 0) Compensate(input, y, x, std::span(sums).first(count));
          Finish(stage_, output, y, x, c, count, sums.data());
        }
      }
    }
  }

 private:
  // Modulo 2^32, as the sums themselves.
  void Compensate(const ImageView& input, size_t y, size_t x, std::span<int32_t> sums) const {
    int32_t window = 0;
    LoadChannels(input, y, x, extents_.c, &window, 1);
    const uint32_t share = static_cast<uint32_t>(window) * static_cast<uint32_t>(weight_zero_);
    for (int32_t& sum : sums) sum = static_cast<int32_t>(static_cast<uint32_t>(sum) - share);
  }

  Extents extents_;
  int32_t weight_zero_;
  OutputStage stage_;
};

}  // namespace

KernelResult MakeConv2d(const ir::Graph& graph, const ir::Node& node) {
  const ConvGeometry geometry = GeometryOf(graph, node);
  const auto& params = std::get<ir::Conv2dParams>(node.params);
  return PerImage(graph, node,
                  std::make_unique<ConvKernel<ConvSums>>(
                      ConvSums(geometry, ConstantInt8(graph.input(node, 1))),
                      MakeOutputStage(graph, node, geometry.oc, params.activation)));
}

KernelResult MakeDepthwiseConv2d(const ir::Graph& graph, const ir::Node& node) {
  const ConvGeometry geometry = GeometryOf(graph, node);
  const auto& params = std::get<ir::DepthwiseConv2dParams>(node.params);
  return PerImage(graph, node,
                  std::make_unique<ConvKernel<DepthwiseSums>>(
                      DepthwiseSums(geometry, ConstantInt8(graph.input(node, 1))),
                      MakeOutputStage(graph, node, geometry.oc, params.activation)));
}

KernelResult MakeFullyConnected(const ir::Graph& graph, const ir::Node& node) {
  const ConvGeometry geometry = FullyConnectedGeometry(graph, node);
  const auto& params = std::get<ir::FullyConnectedParams>(node.params);
  return KernelResult(std::make_unique<FullyConnectedKernel>(
      ConvSums(geometry, ConstantInt8(graph.input(node, 1))),
      MakeOutputStage(graph, node, geometry.oc, params.activation)));
}

KernelResult MakeRequantize(const ir::Graph& graph, const ir::Node& node) {
  const auto* conv = std::get_if<ir::Conv2dParams>(&node.params);
  const auto* depthwise = std::get_if<ir::DepthwiseConv2dParams>(&node.params);
  const auto* dense = std::get_if<ir::FullyConnectedParams>(&node.params);
  if (conv == nullptr && depthwise == nullptr && dense == nullptr) {
    return Status(ErrorCode::kInternal, "only convolutions and FULLY_CONNECTED give raw sums");
  }
  const ConvGeometry g = dense ? FullyConnectedGeometry(graph, node) : GeometryOf(graph, node);
  OutputStage stage = MakeOutputStage(graph, node, g.oc,
                                      conv        ? conv->activation
                                      : depthwise ? depthwise->activation
                                                  : dense->activation);
  const std::span<const int8_t> weights = ConstantInt8(graph.input(node, 1));
  // [oc][depth], but [depth][oc] for a depthwise filter.
  const size_t depth = g.kh * g.kw * (depthwise ? 1 : g.ic);
  const size_t o_step = depthwise ? 1 : depth;
  const size_t k_step = depthwise ? g.oc : 1;
  for (size_t o = 0; o < g.oc; ++o) {
    int64_t total = 0;
    for (size_t k = 0; k < depth; ++k) total += weights[o * o_step + k * k_step] - g.weight_zero;
    // Modulo 2^32, as the sums themselves.
    stage.bias[o] = static_cast<int32_t>(
        static_cast<uint32_t>(static_cast<uint64_t>(stage.bias[o] - total * g.zero)));
  }
  // FULLY_CONNECTED runs on the NPU with its rows along the height.
  const Extents extents = dense ? Extents{g.ow, 1, g.oc} : g.output();
  return KernelResult(std::make_unique<RequantizeKernel>(extents, g.weight_zero, std::move(stage)));
}

}  // namespace npu::host
