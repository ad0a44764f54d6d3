// SPDX-License-Identifier: Apache-2.0
// Integer sums of convolutions, shared by the TFLite kernels and the recomputation of silicon
// results. What follows the sums is the caller's.
#ifndef SRC_HOST_CONV_SUMS_H_
#define SRC_HOST_CONV_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "npu/status.h"
#include "src/host/image.h"
#include "src/host/simd.h"
#include "src/ir/graph.h"

namespace npu::host {

struct ConvGeometry {
  size_t ic = 0, ih = 0, iw = 0;
  size_t oc = 0, oh = 0, ow = 0;
  size_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  size_t pad_top = 0, pad_left = 0;
  int16_t zero = 0;         // subtracted from every input
  int16_t pad_value = 0;    // what taps outside the image carry, before the subtraction
  int16_t weight_zero = 0;  // subtracted from every weight

  Extents input() const { return {ih, iw, ic}; }
  Extents output() const { return {oh, ow, oc}; }
};

// Geometry of a CONV_2D or DEPTHWISE_CONV_2D node whose rule holds: zero and pad are the input's
// zero point, weight_zero is the filter's.
ConvGeometry GeometryOf(const ir::Graph& graph, const ir::Node& node);

// Non-owning callback: sums of `count` channels from `c` of output pixel (y, x).
class SumSink {
 public:
  template <typename Fn>
  explicit SumSink(const Fn& fn)
      : context_(&fn),
        call_([](const void* context, size_t y, size_t x, size_t c, size_t count,
                 const int32_t* sums) {
          (*static_cast<const Fn*>(context))(y, x, c, count, sums);
        }) {}
  void operator()(size_t y, size_t x, size_t c, size_t count, const int32_t* sums) const {
    call_(context_, y, x, c, count, sums);
  }

 private:
  const void* context_;
  void (*call_)(const void*, size_t, size_t, size_t, size_t, const int32_t*);
};

// Direct convolution. Sums are modulo 2^32.
class ConvSums {
 public:
  // weights: [oc][kh][kw][ic], of exactly that size.
  ConvSums(const ConvGeometry& geometry, std::span<const int8_t> weights);
  size_t scratch_bytes() const;
  const ConvGeometry& geometry() const { return geometry_; }
  void Run(const ImageView& input, std::span<std::byte> scratch, const SumSink& sink) const;

 private:
  void Gather(const ImageView& input, size_t y, size_t x, int16_t* patch) const;

  ConvGeometry geometry_;
  size_t depth_ = 0;     // kh * kw * ic, rounded up
  size_t channels_ = 0;  // oc, rounded up
  std::vector<int16_t> weights_;
};

// Depthwise convolution with oc = ic * multiplier; output channel c reads channel c / multiplier.
class DepthwiseSums {
 public:
  // weights: [kh][kw][oc].
  DepthwiseSums(const ConvGeometry& geometry, std::span<const int8_t> weights);
  size_t scratch_bytes() const;
  const ConvGeometry& geometry() const { return geometry_; }
  void Run(const ImageView& input, std::span<std::byte> scratch, const SumSink& sink) const;

 private:
  // The taps of one output pixel in one channel group of the input; returns their number.
  size_t FillTaps(const ImageView& input, size_t group, size_t y, size_t x,
                  DepthwiseTap* taps) const;
  // Sums of the outputs that read `lanes` channels of a group.
  void Sum(const DepthwiseTap* taps, size_t tap_count, size_t lanes, int32_t* sums) const;

  ConvGeometry geometry_;
  size_t multiplier_ = 1;
  std::vector<int16_t> weights_;
  std::vector<int8_t> outside_;  // a pixel of padding; empty where padding contributes nothing
};

}  // namespace npu::host

#endif  // SRC_HOST_CONV_SUMS_H_
