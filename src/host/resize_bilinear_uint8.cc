// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR of uint8: float32 in the order of the reference kernel (tflite-delegate 4.18), in
// both orders. The integers of the host enter the products, 128 above ours.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "src/host/image.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

constexpr int32_t kRebase = 128;

// The two source positions of one output row or column.
struct Sample {
  size_t low = 0, high = 0;
  float low_weight = 1.0F, high_weight = 0.0F;
};

std::vector<Sample> MakeSamples(int32_t in, int32_t out, const ir::ResizeBilinearParams& params) {
  const float scale = params.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float last = static_cast<float>(in - 1);
  std::vector<Sample> samples;
  for (int32_t v = 0; v < out; ++v) {
    const auto position = static_cast<float>(v);
    const float p = params.half_pixel_centers ? (position + 0.5F) * scale - 0.5F : position * scale;
    const float low = std::clamp(std::floor(p), 0.0F, last);
    const float high = std::clamp(std::ceil(p), 0.0F, last);
    const float fraction = p - low;
    samples.push_back({.low = static_cast<size_t>(low),
                       .high = static_cast<size_t>(high),
                       .low_weight = 1.0F - fraction,
                       .high_weight = fraction});
  }
  return samples;
}

class ResizeBilinearUint8Kernel final : public Kernel {
 public:
  ResizeBilinearUint8Kernel(const Extents& input, std::vector<Sample> rows,
                            std::vector<Sample> columns)
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
    const int8_t* q00 = at(row.low, column.low);
    const int8_t* q10 = at(row.high, column.low);
    const int8_t* q01 = at(row.low, column.high);
    const int8_t* q11 = at(row.high, column.high);
    auto* out = reinterpret_cast<int8_t*>(to.pixel(group, y, x));
    const float top = row.low_weight, bottom = row.high_weight;
    const float left = column.low_weight, right = column.high_weight;
    const auto real = [](int8_t q) { return static_cast<float>(q + kRebase); };
    for (size_t i = 0; i < to.lanes; ++i) {
      // Each product and sum rounded by itself (-ffp-contract=off), from left to right.
      float sum = real(q00[i]) * top * left;
      sum += real(q10[i]) * bottom * left;
      sum += real(q01[i]) * top * right;
      sum += real(q11[i]) * bottom * right;
      out[i] = static_cast<int8_t>(static_cast<int32_t>(sum + 0.5F) - kRebase);
    }
  }

  Extents input_;
  std::vector<Sample> rows_, columns_;
};

}  // namespace

KernelResult MakeResizeBilinearUint8(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::ResizeBilinearParams>(node.params);
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  const Extents input{static_cast<size_t>(in[1]), static_cast<size_t>(in[2]),
                      static_cast<size_t>(in[3])};
  return KernelResult(std::make_unique<ResizeBilinearUint8Kernel>(
      input, MakeSamples(in[1], out[1], params), MakeSamples(in[2], out[2], params)));
}

}  // namespace npu::host
