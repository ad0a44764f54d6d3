// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR of int8 in Q10 fixed point (tflite-delegate 4.18), in both orders.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/host/image.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

// The two source positions of one output row or column, weights in units of 1/1024.
struct Sample {
  size_t low = 0, high = 0;
  int32_t low_weight = 0, high_weight = 0;
};

std::vector<Sample> MakeSamples(int64_t in, int64_t out, const ir::ResizeBilinearParams& params) {
  const int64_t scale = params.align_corners && out > 1
                            ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1)
                            : (1024 * in + out / 2) / out;
  std::vector<Sample> samples;
  for (int64_t v = 0; v < out; ++v) {
    const int64_t p = params.half_pixel_centers ? v * scale + scale / 2 - 512 : v * scale;
    // The scale is rounded, so far positions can pass the last row: TFLite would read behind the
    // tensor there.
    const int64_t low = std::clamp<int64_t>(p / 1024, 0, in - 1);
    const int64_t high = std::min<int64_t>((p + 1023) / 1024, in - 1);
    const int64_t high_weight = p - 1024 * low;
    samples.push_back({.low = static_cast<size_t>(low),
                       .high = static_cast<size_t>(std::max<int64_t>(high, 0)),
                       .low_weight = static_cast<int32_t>(1024 - high_weight),
                       .high_weight = static_cast<int32_t>(high_weight)});
  }
  return samples;
}

struct PixelWeights {
  uint32_t w00, w01, w10, w11;
};

// Modulo 2^32: at clamped borders single weights leave [0, 1024], the total never leaves 27 bits.
void Blend(const int8_t* q00, const int8_t* q01, const int8_t* q10, const int8_t* q11,
           const PixelWeights& w, size_t lanes, int8_t* to) {
  const auto wide = [](int8_t q) { return static_cast<uint32_t>(int32_t{q}); };
  for (size_t i = 0; i < lanes; ++i) {
    const auto sum = static_cast<int32_t>(wide(q00[i]) * w.w00 + wide(q01[i]) * w.w01 +
                                          wide(q10[i]) * w.w10 + wide(q11[i]) * w.w11);
    to[i] = static_cast<int8_t>((sum + (sum > 0 ? (1 << 19) : -(1 << 19))) / (1 << 20));
  }
}

class ResizeBilinearKernel final : public Kernel {
 public:
  ResizeBilinearKernel(const Extents& input, std::vector<Sample> rows, std::vector<Sample> columns)
      : input_(input), rows_(std::move(rows)), columns_(std::move(columns)) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const ImageView from = AsImage(inputs[0], input_);
    const ImageView to = AsImage(outputs[0], {rows_.size(), columns_.size(), input_.c});
    for (size_t group = 0; group < to.groups; ++group) {
      for (size_t y = 0; y < rows_.size(); ++y) {
        for (size_t x = 0; x < columns_.size(); ++x) Pixel(from, group, y, x, to);
      }
    }
  }

 private:
  void Pixel(const ImageView& from, size_t group, size_t y, size_t x, const ImageView& to) const {
    const Sample& row = rows_[y];
    const Sample& column = columns_[x];
    const auto at = [&](size_t iy, size_t ix) {
      return reinterpret_cast<const int8_t*>(from.pixel(group, iy, ix));
    };
    const auto weight = [](int32_t a, int32_t b) {
      return static_cast<uint32_t>(a) * static_cast<uint32_t>(b);
    };
    const PixelWeights weights{.w00 = weight(row.low_weight, column.low_weight),
                               .w01 = weight(row.low_weight, column.high_weight),
                               .w10 = weight(row.high_weight, column.low_weight),
                               .w11 = weight(row.high_weight, column.high_weight)};
    Blend(at(row.low, column.low), at(row.low, column.high), at(row.high, column.low),
          at(row.high, column.high), weights, to.lanes,
          reinterpret_cast<int8_t*>(to.pixel(group, y, x)));
  }

  Extents input_;
  std::vector<Sample> rows_, columns_;
};

}  // namespace

KernelResult MakeResizeBilinear(const ir::Graph& graph, const ir::Node& node) {
  if (graph.output(node).type.rebased_uint8) return MakeResizeBilinearUint8(graph, node);
  const auto& params = std::get<ir::ResizeBilinearParams>(node.params);
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  const Extents input{static_cast<size_t>(in[1]), static_cast<size_t>(in[2]),
                      static_cast<size_t>(in[3])};
  return KernelResult(std::make_unique<ResizeBilinearKernel>(
      input, MakeSamples(in[1], out[1], params), MakeSamples(in[2], out[2], params)));
}

}  // namespace npu::host
