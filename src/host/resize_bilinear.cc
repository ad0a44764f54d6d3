// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR (tflite-delegate 4.18), in both orders: int8 in Q10 fixed point, uint8 in float32
// as the reference kernel orders its products.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/per_image.h"

namespace npu::host {
namespace {

// The two source positions of one output row or column.
struct Places {
  size_t low = 0, high = 0;
};

Places PlacesAt(int64_t low, int64_t high, int64_t extent) {
  // The scale is rounded, so far positions can pass the last row: TFLite would read behind the
  // tensor there.
  return {.low = static_cast<size_t>(std::clamp<int64_t>(low, 0, extent - 1)),
          .high = static_cast<size_t>(std::clamp<int64_t>(high, 0, extent - 1))};
}

// One pixel's four sources.
struct Corners {
  const int8_t *q00, *q01, *q10, *q11;  // first digit: the row
};

// int8: weights in units of 1/1024.
class FixedPoint {
 public:
  struct Sample {
    Places at;
    int32_t low_weight = 0, high_weight = 0;
  };

  static std::vector<Sample> Samples(int64_t in, int64_t out,
                                     const ir::ResizeBilinearParams& params) {
    const int64_t scale = params.align_corners && out > 1
                              ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1)
                              : (1024 * in + out / 2) / out;
    std::vector<Sample> samples;
    for (int64_t v = 0; v < out; ++v) {
      const int64_t p = params.half_pixel_centers ? v * scale + scale / 2 - 512 : v * scale;
      const Places at = PlacesAt(p / 1024, (p + 1023) / 1024, in);
      const int64_t high_weight = p - 1024 * static_cast<int64_t>(at.low);
      samples.push_back({.at = at,
                         .low_weight = static_cast<int32_t>(1024 - high_weight),
                         .high_weight = static_cast<int32_t>(high_weight)});
    }
    return samples;
  }

  // Modulo 2^32: at clamped borders single weights leave [0, 1024], the total never leaves 27 bits.
  static void Blend(const Corners& q, const Sample& row, const Sample& column, size_t lanes,
                    int8_t* to) {
    const auto product = [](int32_t a, int32_t b) {
      return static_cast<uint32_t>(a) * static_cast<uint32_t>(b);
    };
    const uint32_t w00 = product(row.low_weight, column.low_weight);
    const uint32_t w01 = product(row.low_weight, column.high_weight);
    const uint32_t w10 = product(row.high_weight, column.low_weight);
    const uint32_t w11 = product(row.high_weight, column.high_weight);
    const auto wide = [](int8_t value) { return static_cast<uint32_t>(int32_t{value}); };
    for (size_t i = 0; i < lanes; ++i) {
      const auto sum = static_cast<int32_t>(wide(q.q00[i]) * w00 + wide(q.q01[i]) * w01 +
                                            wide(q.q10[i]) * w10 + wide(q.q11[i]) * w11);
      to[i] = static_cast<int8_t>((sum + (sum > 0 ? (1 << 19) : -(1 << 19))) / (1 << 20));
    }
  }
};

// uint8, here rebased to int8: the reference blends the unsigned values in float32. The order of
// the products and sums is part of the result.
class Float {
 public:
  struct Sample {
    Places at;
    float fraction = 0.0F;  // of the higher place; beyond [0, 1] at clamped borders
  };

  static std::vector<Sample> Samples(int64_t in, int64_t out,
                                     const ir::ResizeBilinearParams& params) {
    const float scale = params.align_corners && out > 1
                            ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                            : static_cast<float>(in) / static_cast<float>(out);
    std::vector<Sample> samples;
    for (int64_t v = 0; v < out; ++v) {
      const auto position = static_cast<float>(v);
      const float p =
          params.half_pixel_centers ? (position + 0.5F) * scale - 0.5F : position * scale;
      const Places at =
          PlacesAt(static_cast<int64_t>(std::floor(p)), static_cast<int64_t>(std::ceil(p)), in);
      samples.push_back({.at = at, .fraction = p - static_cast<float>(at.low)});
    }
    return samples;
  }

  static void Blend(const Corners& q, const Sample& row, const Sample& column, size_t lanes,
                    int8_t* to) {
    constexpr int kRebase = 128;
    const auto value = [](int8_t byte) { return static_cast<float>(byte + kRebase); };
    const float fy = row.fraction, fx = column.fraction;
    for (size_t i = 0; i < lanes; ++i) {
      const float blended = value(q.q00[i]) * (1.0F - fy) * (1.0F - fx) +
                            value(q.q10[i]) * fy * (1.0F - fx) +
                            value(q.q01[i]) * (1.0F - fy) * fx + value(q.q11[i]) * fy * fx;
      // As the reference rounds: half added, then truncated.
      // NOLINTNEXTLINE(bugprone-incorrect-roundings)
      to[i] = static_cast<int8_t>(static_cast<int>(blended + 0.5F) - kRebase);
    }
  }
};

template <typename Arithmetic>
class ResizeBilinearKernel final : public Kernel {
 public:
  using Samples = std::vector<typename Arithmetic::Sample>;

  ResizeBilinearKernel(const Extents& input, Samples rows, Samples columns)
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
    const Places& row = rows_[y].at;
    const Places& column = columns_[x].at;
    const auto at = [&](size_t iy, size_t ix) {
      return reinterpret_cast<const int8_t*>(from.pixel(group, iy, ix));
    };
    const Corners corners{.q00 = at(row.low, column.low),
                          .q01 = at(row.low, column.high),
                          .q10 = at(row.high, column.low),
                          .q11 = at(row.high, column.high)};
    Arithmetic::Blend(corners, rows_[y], columns_[x], to.lanes,
                      reinterpret_cast<int8_t*>(to.pixel(group, y, x)));
  }

  Extents input_;
  Samples rows_, columns_;
};

template <typename Arithmetic>
std::unique_ptr<Kernel> Make(const Shape& in, const Shape& out,
                             const ir::ResizeBilinearParams& params) {
  const Extents input{static_cast<size_t>(in[1]), static_cast<size_t>(in[2]),
                      static_cast<size_t>(in[3])};
  return std::make_unique<ResizeBilinearKernel<Arithmetic>>(
      input, Arithmetic::Samples(in[1], out[1], params),
      Arithmetic::Samples(in[2], out[2], params));
}

}  // namespace

KernelResult MakeResizeBilinear(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::ResizeBilinearParams>(node.params);
  const ir::TensorType& in = graph.input(node, 0).type;
  const Shape& out = graph.output(node).type.shape;
  return PerImage(graph, node,
                  in.rebased_uint8 ? Make<Float>(in.shape, out, params)
                                   : Make<FixedPoint>(in.shape, out, params));
}

}  // namespace npu::host
