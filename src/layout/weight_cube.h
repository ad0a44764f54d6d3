// SPDX-License-Identifier: Apache-2.0
// Weight cubes of int8 convolutions: where each weight lies, and packing. The group sizes are the
// chip's (RK3588: 32 x 32 direct, 64 depthwise). Source: rk3588-conv-matmul 3.5, 3.6.
#ifndef SRC_LAYOUT_WEIGHT_CUBE_H_
#define SRC_LAYOUT_WEIGHT_CUBE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace npu::layout {

// Direct convolution. `oc`, `ic` are real; the programmed counts say what the cube holds: whole
// kernel groups, and input channels of which the last group may be short.
struct DirectWeightShape {
  uint32_t oc = 0, ic = 0, kh = 1, kw = 1;
  uint32_t oc_programmed = 0, ic_programmed = 0;
  uint32_t oc_group = 32, ic_group = 32;

  constexpr uint64_t kernel_bytes() const { return uint64_t{kh} * kw * ic_programmed; }
  constexpr uint64_t bytes() const { return kernel_bytes() * oc_programmed; }
};

// Byte offset of weight (oc, ic, y, x). Nest: kernel group, input group, row, column, kernel in the
// group, lane; the last input group holds only the lanes that are programmed.
// Example: 64 input channels, 3x3, (21, 40, 1, 2) -> 15016.
constexpr uint64_t DirectWeightOffset(const DirectWeightShape& s, uint32_t oc, uint32_t ic,
                                      uint32_t y, uint32_t x) {
  const uint32_t first = ic / s.ic_group * s.ic_group;
  const uint32_t lanes = std::min(s.ic_group, s.ic_programmed - first);
  const uint64_t taps = uint64_t{s.kh} * s.kw;
  return uint64_t{oc / s.oc_group} * s.oc_group * s.kernel_bytes() + taps * first * s.oc_group +
         (uint64_t{y} * s.kw + x) * s.oc_group * lanes + uint64_t{oc % s.oc_group} * lanes +
         ic % s.ic_group;
}

// Packs [oc][kh][kw][ic]. Lanes of padding input channels carry `zero_point`, so that they vanish
// after the zero-point compensation whatever the feature lane holds; padding kernels are 0.
// `weights` has oc * kh * kw * ic elements.
std::vector<std::byte> PackDirectWeights(const DirectWeightShape& shape,
                                         std::span<const int8_t> weights, int8_t zero_point);

// Depthwise convolution: groups of `group` channels, the last one with a shorter tap pitch.
struct DepthwiseWeightShape {
  uint32_t c = 0, kh = 1, kw = 1;
  uint32_t c_programmed = 0;
  uint32_t group = 64;

  constexpr uint64_t bytes() const { return uint64_t{kh} * kw * c_programmed; }
};

// Byte offset of weight (c, y, x). Example: 96 channels, 3x3, (70, 1, 2) -> 742.
constexpr uint64_t DepthwiseWeightOffset(const DepthwiseWeightShape& s, uint32_t c, uint32_t y,
                                         uint32_t x) {
  const uint32_t first = c / s.group * s.group;
  const uint32_t lanes = std::min(s.group, s.c_programmed - first);
  return uint64_t{first} * s.kh * s.kw + (uint64_t{y} * s.kw + x) * lanes + (c - first);
}

// Packs [c][kh][kw]. Padding channels carry `zero_point`. `weights` has c * kh * kw elements.
std::vector<std::byte> PackDepthwiseWeights(const DepthwiseWeightShape& shape,
                                            std::span<const int8_t> weights, int8_t zero_point);

}  // namespace npu::layout

#endif  // SRC_LAYOUT_WEIGHT_CUBE_H_
