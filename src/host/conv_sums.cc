// SPDX-License-Identifier: Apache-2.0
#include "src/host/conv_sums.h"

#include <algorithm>
#include <variant>

#include "src/base/checked.h"
#include "src/ir/window.h"

namespace npu::host {
namespace {

struct TapRange {
  size_t begin = 0, end = 0;  // taps inside the image
};

// Taps k of [0, kernel) for which position + k * dilation lies in [0, extent).
TapRange InsideTaps(ptrdiff_t position, size_t kernel, size_t dilation, size_t extent) {
  const auto d = static_cast<ptrdiff_t>(dilation);
  const auto k = static_cast<ptrdiff_t>(kernel);
  const auto e = static_cast<ptrdiff_t>(extent);
  const ptrdiff_t begin = position >= 0 ? 0 : (-position + d - 1) / d;
  const ptrdiff_t end = position >= e ? 0 : (e - position + d - 1) / d;
  const ptrdiff_t first = std::min(begin, k);
  return {static_cast<size_t>(first), static_cast<size_t>(std::clamp(end, first, k))};
}

ptrdiff_t Start(size_t output, size_t stride, size_t pad) {
  return static_cast<ptrdiff_t>(output * stride) - static_cast<ptrdiff_t>(pad);
}

size_t Tap(ptrdiff_t start, size_t k, size_t dilation) {
  return static_cast<size_t>(start + static_cast<ptrdiff_t>(k * dilation));
}

template <typename Params>
void SetWindow(const Params& params, ConvGeometry& g) {
  g.sh = static_cast<size_t>(params.sh);
  g.sw = static_cast<size_t>(params.sw);
  g.dh = static_cast<size_t>(params.dh);
  g.dw = static_cast<size_t>(params.dw);
  const auto axis = [&](size_t in, size_t k, int32_t s, int32_t d) {
    return ir::ComputeAxisWindow(static_cast<int64_t>(in), static_cast<int64_t>(k), s, d,
                                 params.padding);
  };
  const ir::AxisWindow vertical = axis(g.ih, g.kh, params.sh, params.dh);
  const ir::AxisWindow horizontal = axis(g.iw, g.kw, params.sw, params.dw);
  g.oh = static_cast<size_t>(vertical.out);
  g.ow = static_cast<size_t>(horizontal.out);
  g.pad_top = static_cast<size_t>(vertical.pad_before);
  g.pad_left = static_cast<size_t>(horizontal.pad_before);
}

}  // namespace

ConvGeometry GeometryOf(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& input = graph.input(node, 0).type;
  const ir::TensorType& filter = graph.input(node, 1).type;
  const auto extent = [](const ir::TensorType& type, size_t axis) {
    return static_cast<size_t>(type.shape[axis]);
  };
  ConvGeometry g;
  g.ih = extent(input, 1);
  g.iw = extent(input, 2);
  g.ic = extent(input, 3);
  g.kh = extent(filter, 1);
  g.kw = extent(filter, 2);
  g.zero = g.pad_value = static_cast<int16_t>(input.quant.zero_point());
  g.weight_zero = static_cast<int16_t>(filter.quant.zero_point());
  if (const auto* conv = std::get_if<ir::Conv2dParams>(&node.params)) {
    g.oc = extent(filter, 0);
    SetWindow(*conv, g);
  } else if (const auto* depthwise = std::get_if<ir::DepthwiseConv2dParams>(&node.params)) {
    g.oc = extent(filter, 3);
    SetWindow(*depthwise, g);
  }
  return g;
}

ConvSums::ConvSums(const ConvGeometry& geometry, std::span<const int8_t> weights)
    : geometry_(geometry) {
  const size_t real_depth = geometry.kh * geometry.kw * geometry.ic;
  depth_ = RoundUp(real_depth, kDotDepth);
  channels_ = RoundUp(geometry.oc, kDotChannels);
  weights_.assign(channels_ * depth_, 0);
  for (size_t o = 0; o < geometry.oc; ++o) {
    const std::span<const int8_t> kernel = weights.subspan(o * real_depth, real_depth);
    for (size_t k = 0; k < real_depth; ++k) {
      weights_[o * depth_ + k] = static_cast<int16_t>(kernel[k] - geometry.weight_zero);
    }
  }
}

size_t ConvSums::scratch_bytes() const {
  return kDotPixels * (depth_ * sizeof(int16_t) + channels_ * sizeof(int32_t));
}

void ConvSums::Gather(const ImageView& input, size_t y, size_t x, int16_t* patch) const {
  const ConvGeometry& g = geometry_;
  const ptrdiff_t top = Start(y, g.sh, g.pad_top);
  const ptrdiff_t left = Start(x, g.sw, g.pad_left);
  const TapRange rows = InsideTaps(top, g.kh, g.dh, g.ih);
  const TapRange columns = InsideTaps(left, g.kw, g.dw, g.iw);
  const auto outside = static_cast<int16_t>(g.pad_value - g.zero);
  for (size_t ky = 0; ky < g.kh; ++ky) {
    for (size_t kx = 0; kx < g.kw; ++kx, patch += g.ic) {
      if (ky < rows.begin || ky >= rows.end || kx < columns.begin || kx >= columns.end) {
        std::fill_n(patch, g.ic, outside);
        continue;
      }
      const size_t iy = Tap(top, ky, g.dh);
      const size_t ix = Tap(left, kx, g.dw);
      for (size_t group = 0; group < input.groups; ++group) {
        const auto* from = reinterpret_cast<const int8_t*>(input.pixel(group, iy, ix));
        int16_t* to = patch + group * input.lanes;
        const size_t lanes = input.lanes_in(group);
        for (size_t i = 0; i < lanes; ++i) to[i] = static_cast<int16_t>(from[i] - g.zero);
      }
    }
  }
}

void ConvSums::Run(const ImageView& input, std::span<std::byte> scratch,
                   const SumSink& sink) const {
  auto* sums = reinterpret_cast<int32_t*>(scratch.data());
  auto* patches = reinterpret_cast<int16_t*>(sums + kDotPixels * channels_);
  std::fill_n(patches, kDotPixels * depth_, int16_t{0});
  for (size_t y = 0; y < geometry_.oh; ++y) {
    for (size_t x = 0; x < geometry_.ow; x += kDotPixels) {
      const size_t pixels = std::min(kDotPixels, geometry_.ow - x);
      for (size_t p = 0; p < pixels; ++p) Gather(input, y, x + p, patches + p * depth_);
      DotTile(patches, weights_.data(), depth_, channels_, sums);
      for (size_t p = 0; p < pixels; ++p) {
        sink(y, x + p, 0, geometry_.oc, sums + p * channels_);
      }
    }
  }
}

DepthwiseSums::DepthwiseSums(const ConvGeometry& geometry, std::span<const int8_t> weights)
    : geometry_(geometry),
      multiplier_(geometry.oc / geometry.ic),
      weights_(weights.begin(), weights.end()) {
  for (int16_t& w : weights_) w = static_cast<int16_t>(w - geometry.weight_zero);
  if (geometry.pad_value != geometry.zero) {
    outside_.assign(geometry.ic, static_cast<int8_t>(geometry.pad_value));
  }
}

size_t DepthwiseSums::scratch_bytes() const {
  return geometry_.kh * geometry_.kw * sizeof(DepthwiseTap) + geometry_.oc * sizeof(int32_t);
}

size_t DepthwiseSums::FillTaps(const ImageView& input, size_t group, size_t y, size_t x,
                               DepthwiseTap* taps) const {
  const ConvGeometry& g = geometry_;
  const ptrdiff_t top = Start(y, g.sh, g.pad_top);
  const ptrdiff_t left = Start(x, g.sw, g.pad_left);
  const TapRange rows = InsideTaps(top, g.kh, g.dh, g.ih);
  const TapRange columns = InsideTaps(left, g.kw, g.dw, g.iw);
  const size_t first = group * input.lanes * multiplier_;
  size_t count = 0;
  for (size_t ky = 0; ky < g.kh; ++ky) {
    for (size_t kx = 0; kx < g.kw; ++kx) {
      const bool inside =
          ky >= rows.begin && ky < rows.end && kx >= columns.begin && kx < columns.end;
      if (!inside && outside_.empty()) continue;
      const int8_t* from = outside_.data();
      if (inside) {
        from = reinterpret_cast<const int8_t*>(
            input.pixel(group, Tap(top, ky, g.dh), Tap(left, kx, g.dw)));
      }
      taps[count++] = {from, weights_.data() + (ky * g.kw + kx) * g.oc + first};
    }
  }
  return count;
}

void DepthwiseSums::Sum(const DepthwiseTap* taps, size_t tap_count, size_t lanes,
                        int32_t* sums) const {
  if (multiplier_ == 1) {
    const auto span = geometry_.weight_zero == 0 ? DepthwiseSpan : DepthwiseSpanWide;
    span(taps, tap_count, geometry_.zero, lanes, sums);
    return;
  }
  std::fill_n(sums, lanes * multiplier_, 0);
  for (size_t t = 0; t < tap_count; ++t) {
    for (size_t i = 0; i < lanes * multiplier_; ++i) {
      sums[i] += (taps[t].input[i / multiplier_] - geometry_.zero) * taps[t].weights[i];
    }
  }
}

void DepthwiseSums::Run(const ImageView& input, std::span<std::byte> scratch,
                        const SumSink& sink) const {
  auto* taps = reinterpret_cast<DepthwiseTap*>(scratch.data());
  auto* sums = reinterpret_cast<int32_t*>(taps + geometry_.kh * geometry_.kw);
  for (size_t group = 0; group < input.groups; ++group) {
    const size_t lanes = input.lanes_in(group);
    const size_t first = group * input.lanes * multiplier_;
    for (size_t y = 0; y < geometry_.oh; ++y) {
      for (size_t x = 0; x < geometry_.ow; ++x) {
        Sum(taps, FillTaps(input, group, y, x, taps), lanes, sums);
        sink(y, x, first, lanes * multiplier_, sums);
      }
    }
  }
}

}  // namespace npu::host
