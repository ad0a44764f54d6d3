// SPDX-License-Identifier: Apache-2.0
// A typed view of one tensor in memory: row-major, or an NC1HWC2 cube as the NPU stores it.
#ifndef SRC_LAYOUT_TENSOR_VIEW_H_
#define SRC_LAYOUT_TENSOR_VIEW_H_

#include <cstddef>
#include <cstdint>

#include "src/base/checked.h"
#include "src/base/data_type.h"

namespace npu::layout {

// Bytes of one atom: the channels of one pixel that lie together in a cube.
inline constexpr uint32_t kAtomBytes = 16;

// Geometry of an NC1HWC2 cube (batch 1). Channels are cut into groups of c2() elements; one group
// of all pixels is a surface (row-major atoms), surfaces follow each other without gaps. Source:
// rk3588-conv-matmul 3.1.
struct CubeShape {
  uint32_t channels = 0;            // real channels
  uint32_t allocated_channels = 0;  // >= channels; what the buffer holds (whole groups)
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t element_bytes = 1;

  constexpr uint32_t c2() const { return kAtomBytes / element_bytes; }
  constexpr uint64_t surface_bytes() const { return uint64_t{height} * width * kAtomBytes; }
  constexpr uint32_t surfaces() const { return CeilDiv(allocated_channels, c2()); }
  constexpr uint64_t bytes() const { return surface_bytes() * surfaces(); }
  bool operator==(const CubeShape&) const = default;
};

// Byte offset of element (c, h, w). Example: int8, 8x8, (37, 2, 3) -> 2357.
constexpr uint64_t CubeOffset(const CubeShape& s, uint32_t c, uint32_t h, uint32_t w) {
  return (c / s.c2()) * s.surface_bytes() + (uint64_t{h} * s.width + w) * kAtomBytes +
         uint64_t{c % s.c2()} * s.element_bytes;
}

enum class Order : uint8_t { kRowMajor, kCube };

// Not owning. For kCube the logical shape is [1,H,W,C] and `surface_bytes` the pitch between
// channel groups; padding lanes of the last group exist and may hold anything.
struct TensorView {
  std::byte* data = nullptr;
  DataType dtype = DataType::kInvalid;
  Shape shape;
  Order order = Order::kRowMajor;
  uint64_t surface_bytes = 0;

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

}  // namespace npu::layout

#endif  // SRC_LAYOUT_TENSOR_VIEW_H_
