// SPDX-License-Identifier: Apache-2.0
// The one loop behind every operation that only moves bytes.
#ifndef SRC_HOST_STRIDED_COPY_H_
#define SRC_HOST_STRIDED_COPY_H_

#include <array>
#include <cstddef>
#include <span>

namespace npu::host {

// One loop: `count` >= 1 steps, pitches in bytes. `from` may be negative.
struct CopyAxis {
  size_t count = 1;
  ptrdiff_t from = 0, to = 0;
};

// Copies byte elements along up to 9 axes (a tensor's 8 and a cube's lanes); source and destination
// must not overlap and no byte may be written twice, so the order of the axes does not matter.
// Prepared once: axes are ordered for the destination and joined where both sides are contiguous,
// whole rows become one memcpy, transposes run in tiles.
class StridedCopy {
 public:
  static constexpr size_t kMaxAxes = 9;

  explicit StridedCopy(std::span<const CopyAxis> axes);
  // `from` and `to` are the first element of each side.
  void Run(const std::byte* from, std::byte* to) const;

 private:
  void Loop(size_t axis, const std::byte* from, std::byte* to) const;
  void Tiles(const std::byte* from, std::byte* to) const;

  std::array<CopyAxis, kMaxAxes> axes_;  // outermost first; without the run
  size_t rank_ = 0;
  size_t run_ = 1;  // bytes of one memcpy
};

}  // namespace npu::host

#endif  // SRC_HOST_STRIDED_COPY_H_
