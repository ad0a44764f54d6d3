// SPDX-License-Identifier: Apache-2.0
// One way to address an image in both orders: groups of channels, rows, pixels, lanes. Row-major
// NHWC is one group of all channels; a cube has groups of 16 bytes.
#ifndef SRC_HOST_IMAGE_H_
#define SRC_HOST_IMAGE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/layout/tensor_view.h"

namespace npu::host {

struct Extents {
  size_t h = 1, w = 1, c = 1;
};

// Pitches in bytes. `lanes` are the elements of one pixel within one group; the last group of a
// cube may hold fewer real channels, its other lanes exist in memory all the same.
struct ImageView {
  std::byte* data = nullptr;
  Extents extents;
  size_t groups = 1;
  size_t lanes = 1;
  size_t element_bytes = 1;
  size_t group_pitch_bytes = 0;
  size_t row_pitch_bytes = 0;
  size_t pixel_pitch_bytes = 0;

  std::byte* pixel(size_t group, size_t y, size_t x) const {
    return data + group * group_pitch_bytes + y * row_pitch_bytes + x * pixel_pitch_bytes;
  }
  // Real channels in a group.
  size_t lanes_in(size_t group) const { return std::min(lanes, extents.c - group * lanes); }
};

// The extents are the kernel's own: the view only says where the bytes are and in which order.
inline ImageView AsImage(const layout::TensorView& view, const Extents& extents,
                         size_t element_bytes = 1) {
  ImageView image{.data = view.data, .extents = extents, .element_bytes = element_bytes};
  if (view.order == layout::Order::kCube) {
    image.lanes = layout::kAtomBytes / element_bytes;
    image.groups = (extents.c + image.lanes - 1) / image.lanes;
    image.group_pitch_bytes = static_cast<size_t>(view.surface_bytes);
  } else {
    image.lanes = extents.c;
  }
  image.pixel_pitch_bytes = image.lanes * element_bytes;
  image.row_pitch_bytes = extents.w * image.pixel_pitch_bytes;
  return image;
}

// Copies `count` elements between channel `c` of a pixel and a dense array.
inline void StoreChannels(const ImageView& image, size_t y, size_t x, size_t c, const void* values,
                          size_t count) {
  const auto* from = static_cast<const std::byte*>(values);
  while (count > 0) {
    const size_t lane = c % image.lanes;
    const size_t n = std::min(count, image.lanes - lane);
    std::memcpy(image.pixel(c / image.lanes, y, x) + lane * image.element_bytes, from,
                n * image.element_bytes);
    from += n * image.element_bytes;
    c += n;
    count -= n;
  }
}

// The inverse: `count` channels of one pixel, from channel `c` on, gathered into `values`.
inline void LoadChannels(const ImageView& image, size_t y, size_t x, size_t c, void* values,
                         size_t count) {
  auto* to = static_cast<std::byte*>(values);
  while (count > 0) {
    const size_t lane = c % image.lanes;
    const size_t n = std::min(count, image.lanes - lane);
    std::memcpy(to, image.pixel(c / image.lanes, y, x) + lane * image.element_bytes,
                n * image.element_bytes);
    to += n * image.element_bytes;
    c += n;
    count -= n;
  }
}

// Elements an elementwise kernel walks over: all of a row-major tensor, all lanes of a cube's
// groups.
inline size_t ElementwiseCount(const layout::TensorView& view, size_t elements, size_t channels,
                               size_t element_bytes = 1) {
  if (view.order == layout::Order::kRowMajor) return elements;
  const size_t lanes = layout::kAtomBytes / element_bytes;
  return (channels + lanes - 1) / lanes * static_cast<size_t>(view.surface_bytes) / element_bytes;
}

}  // namespace npu::host

#endif  // SRC_HOST_IMAGE_H_
