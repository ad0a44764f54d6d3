// SPDX-License-Identifier: Apache-2.0
// The inner loops that dense host kernels stand on, with run-time SIMD dispatch. Each equals its
// plain formula for every input; tests compare them.
#ifndef SRC_HOST_SIMD_H_
#define SRC_HOST_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace npu::host {

inline constexpr size_t kDotPixels = 4;    // rows of `patches`
inline constexpr size_t kDotChannels = 2;  // rows of `weights` are a multiple of this
inline constexpr size_t kDotDepth = 32;    // `depth` is a multiple of this

// sums[p * channels + o] = sum over k of patches[p * depth + k] * weights[o * depth + k], modulo
// 2^32, for p < kDotPixels and o < channels. Values within [-255, 255].
void DotTile(const int16_t* patches, const int16_t* weights, size_t depth, size_t channels,
             int32_t* sums);

// One tap of a depthwise window: its input channels and their weights.
struct DepthwiseTap {
  const int8_t* input = nullptr;
  const int16_t* weights = nullptr;
};

// sums[c] = sum over taps of (input[c] - zero) * weights[c], for c < channels. `zero` and weights
// are int8 values, so that each product fits 16 bits; Wide takes weights within [-255, 255].
void DepthwiseSpanWide(const DepthwiseTap* taps, size_t tap_count, int16_t zero, size_t channels,
                       int32_t* sums);
void DepthwiseSpan(const DepthwiseTap* taps, size_t tap_count, int16_t zero, size_t channels,
                   int32_t* sums);

// Arrays of one entry for each channel: the product is value * multiplier * 2^(left - right - 31).
struct RequantizeArrays {
  const int32_t* bias = nullptr;
  const int32_t* multiplier = nullptr;  // >= 0
  const int32_t* left = nullptr;        // 0..31
  const int32_t* right = nullptr;       // 0..31
};

// out[c] = clamp(DOUBLE(values[c] + bias[c]) + zero_point), tflite-delegate 3.3; the sum wraps. The
// clamp range lies inside int8.
void RequantizeDouble(const int32_t* values, const RequantizeArrays& arrays, size_t count,
                      int32_t zero_point, int32_t low, int32_t high, int8_t* out);

}  // namespace npu::host

#endif  // SRC_HOST_SIMD_H_
