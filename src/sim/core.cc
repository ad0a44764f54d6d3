// SPDX-License-Identifier: Apache-2.0
#include "src/sim/core.h"

#include <algorithm>

#include "src/arith/half.h"
#include "src/sim/real.h"

namespace npu::sim {
namespace {

// Input pixels under the window of (oh, ow), in kernel order; taps outside the input point at a
// pixel of pad values.
template <typename T, typename At>
void CollectTaps(const ConvConfig& c, int oh, int ow, At at, const T* pad_pixel,
                 std::vector<const T*>* taps) {
  taps->clear();
  for (int ky = 0; ky < c.kh; ++ky) {
    const int y = oh * c.sy + ky * c.dy - c.pad_top;
    for (int kx = 0; kx < c.kw; ++kx) {
      const int x = ow * c.sx + kx * c.dx - c.pad_left;
      const bool inside = y >= 0 && y < c.ih && x >= 0 && x < c.iw;
      taps->push_back(inside ? at(y, x) : pad_pixel);
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

// One output element: groups of 32 channels outermost, then taps, as the weights are streamed.
float RealElement(const ConvConfig& c, const float* kernel, const std::vector<const float*>& taps) {
  float sum = 0.0f;
  for (int ic = 0; ic < c.ic; ic += ConvConfig::kInGroup) {
    const int lanes = std::min(ConvConfig::kInGroup, c.ic - ic);
    for (size_t t = 0; t < taps.size(); ++t) {
      sum += GroupSum(taps[t] + ic, kernel + t * static_cast<size_t>(c.ic) + ic, lanes);
    }
  }
  return sum;
}

float RealDepthwiseElement(const ConvConfig& c, const float* kernel, int channel,
                           const std::vector<const float*>& taps) {
  float sum = 0.0f;
  for (size_t t = 0; t < taps.size(); ++t) {
    sum += GroupSum(taps[t] + channel, kernel + t * static_cast<size_t>(c.ic) + channel, 1);
  }
  return sum;
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
    const auto at = [&](int y, int x) { return features.At(y, x); };
    CollectTaps(c, oh, ow, at, pad_pixel.data(), &taps);
    const auto accumulate = c.depthwise ? AccumulateDepthwise : AccumulateDirect;
    accumulate(c, weights, taps, first, count, residue, row->acc.data() + ow * count,
               row->window_sum.data() + ow * count);
  }
}

void AccumulateRealRow(const ConvConfig& c, const FeatureCube& features, const WeightCube& weights,
                       int oh, int first, int count, std::vector<float>* acc) {
  const std::vector<float> pad_pixel(static_cast<size_t>(features.pitch),
                                     arith::HalfToFloat(c.pad_half));
  const auto at = [&](int y, int x) { return features.RealAt(y, x); };
  std::vector<const float*> taps;
  acc->assign(static_cast<size_t>(int64_t{c.ow} * count), 0.0f);
  float* to = acc->data();
  for (int ow = 0; ow < c.ow; ++ow) {
    CollectTaps(c, oh, ow, at, pad_pixel.data(), &taps);
    for (int i = 0; i < count; ++i, ++to) {
      const int channel = first + i;
      if (c.depthwise && channel < c.ic) {
        *to = RealDepthwiseElement(c, weights.real.data(), channel, taps);
      } else if (!c.depthwise && channel < c.kernels) {
        *to = RealElement(c, weights.RealKernel(channel), taps);
      }
    }
  }
}

}  // namespace npu::sim
