// SPDX-License-Identifier: Apache-2.0
#include "src/sim/core.h"

#include <algorithm>

namespace npu::sim {
namespace {

// Input pixels under the window of (oh, ow), in kernel order; taps outside the input point at a
// pixel of pad values.
void CollectTaps(const ConvConfig& c, const FeatureCube& features, int oh, int ow,
                 const int8_t* pad_pixel, std::vector<const int8_t*>* taps) {
  taps->clear();
  for (int ky = 0; ky < c.kh; ++ky) {
    const int y = oh * c.sy + ky * c.dy - c.pad_top;
    for (int kx = 0; kx < c.kw; ++kx) {
      const int x = ow * c.sx + kx * c.dx - c.pad_left;
      const bool inside = y >= 0 && y < c.ih && x >= 0 && x < c.iw;
      taps->push_back(inside ? features.At(y, x) : pad_pixel);
    }
  }
}

// |dot| <= 2^14 * ic and ic <= 32768 (one kernel fits a bank), so 32 bits hold it.
int32_t Dot(const int8_t* x, const int8_t* w, int n) {
  int32_t sum = 0;
  for (int i = 0; i < n; ++i) sum += int32_t{x[i]} * w[i];
  return sum;
}

int64_t Sum(const int8_t* x, int n) {
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

void AccumulateDirect(const ConvConfig& c, const WeightCube& weights,
                      const std::vector<const int8_t*>& taps, int first, int count, int64_t residue,
                      int32_t* acc, int64_t* window_sum) {
  int64_t sum = 0;
  for (const int8_t* tap : taps) sum += Sum(tap, c.ic);
  for (int i = 0; i < count; ++i) {
    int64_t total = residue;
    if (first + i < c.kernels) {
      const int8_t* w = weights.Kernel(first + i);
      for (size_t t = 0; t < taps.size(); ++t) {
        total += Dot(taps[t], w + t * static_cast<size_t>(c.ic), c.ic);
      }
    }
    acc[i] = arith::ClipTruncate(total, c.clip_shift, c.clip_rounding);
    window_sum[i] = sum;
  }
}

void AccumulateDepthwise(const ConvConfig& c, const WeightCube& weights,
                         const std::vector<const int8_t*>& taps, int first, int count,
                         int64_t residue, int32_t* acc, int64_t* window_sum) {
  for (int i = 0; i < count; ++i) {
    const int channel = first + i;
    int64_t total = residue;
    int64_t sum = 0;
    if (channel < c.ic) {
      for (size_t t = 0; t < taps.size(); ++t) {
        const int64_t x = taps[t][channel];
        total += x * weights.data[t * static_cast<size_t>(c.ic) + static_cast<size_t>(channel)];
        sum += x;
      }
    }
    acc[i] = arith::ClipTruncate(total, c.clip_shift, c.clip_rounding);
    window_sum[i] = sum;
  }
}

}  // namespace

void AccumulateRow(const ConvConfig& c, const FeatureCube& features, const WeightCube& weights,
                   int oh, int first, int count, int64_t residue, AccumulatorRow* row) {
  std::vector<int8_t> pad_pixel(static_cast<size_t>(features.pitch));
  for (int i = 0; i < features.pitch; ++i) pad_pixel[static_cast<size_t>(i)] = c.pad_of(i);
  row->channels = count;
  row->acc.resize(static_cast<size_t>(int64_t{c.ow} * count));
  row->window_sum.resize(row->acc.size());
  std::vector<const int8_t*> taps;
  for (int ow = 0; ow < c.ow; ++ow) {
    CollectTaps(c, features, oh, ow, pad_pixel.data(), &taps);
    const auto accumulate = c.depthwise ? AccumulateDepthwise : AccumulateDirect;
    accumulate(c, weights, taps, first, count, residue, row->acc.data() + ow * count,
               row->window_sum.data() + ow * count);
  }
}

}  // namespace npu::sim
