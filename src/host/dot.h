// SPDX-License-Identifier: Apache-2.0
// The inner product every dense host kernel stands on, with run-time SIMD dispatch.
#ifndef SRC_HOST_DOT_H_
#define SRC_HOST_DOT_H_

#include <cstddef>
#include <cstdint>

namespace npu::host {

inline constexpr size_t kDotPixels = 4;    // rows of `patches`
inline constexpr size_t kDotChannels = 2;  // rows of `weights` are a multiple of this
inline constexpr size_t kDotDepth = 32;    // `depth` is a multiple of this

// sums[p * channels + o] = sum over k of patches[p * depth + k] * weights[o * depth + k], modulo
// 2^32, for p < kDotPixels and o < channels. Values within [-255, 255] and [-128, 127].
void DotTile(const int16_t* patches, const int16_t* weights, size_t depth, size_t channels,
             int32_t* sums);

}  // namespace npu::host

#endif  // SRC_HOST_DOT_H_
