// SPDX-License-Identifier: Apache-2.0
#include "src/host/strided_copy.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

namespace npu::host {
namespace {

// Side of a tile: both sides of a transpose touch this many cache lines, which the smallest L1
// holds.
constexpr size_t kTile = 32;
constexpr size_t kAtom = 16;  // a cube's pixel

void CopyRun(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes == kAtom) {
    std::memcpy(to, from, kAtom);  // one load and store instead of a call
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

StridedCopy::StridedCopy(std::span<const CopyAxis> axes) {
  assert(axes.size() <= kMaxAxes);
  for (const CopyAxis& axis : axes) {
    if (axis.count != 1) axes_[rank_++] = axis;
  }
  std::sort(axes_.begin(), axes_.begin() + static_cast<ptrdiff_t>(rank_),
            [](const CopyAxis& a, const CopyAxis& b) { return std::abs(a.to) > std::abs(b.to); });
  // An outer axis that continues where the inner one ends on both sides is the same loop.
  size_t kept = 0;
  for (size_t i = 0; i < rank_; ++i) {
    const CopyAxis& inner = axes_[i];
    const auto steps = static_cast<ptrdiff_t>(inner.count);
    if (kept > 0 && axes_[kept - 1].from == inner.from * steps &&
        axes_[kept - 1].to == inner.to * steps) {
      axes_[kept - 1] = {axes_[kept - 1].count * inner.count, inner.from, inner.to};
    } else {
      axes_[kept++] = inner;
    }
  }
  rank_ = kept;
  if (rank_ > 0 && axes_[rank_ - 1].from == 1 && axes_[rank_ - 1].to == 1) {
    run_ = axes_[--rank_].count;
  }
}

void StridedCopy::Run(const std::byte* from, std::byte* to) const { Loop(0, from, to); }

void StridedCopy::Loop(size_t axis, const std::byte* from, std::byte* to) const {
  if (axis == rank_) {
    CopyRun(to, from, run_);
    return;
  }
  if (run_ == 1 && rank_ - axis == 2) {
    Tiles(from, to);
    return;
  }
  const CopyAxis& loop = axes_[axis];
  const bool innermost = axis + 1 == rank_;
  for (size_t i = 0; i < loop.count; ++i, from += loop.from, to += loop.to) {
    if (innermost) {
      CopyRun(to, from, run_);
    } else {
      Loop(axis + 1, from, to);
    }
  }
}

// The two innermost axes, byte by byte: what a transpose is made of.
void StridedCopy::Tiles(const std::byte* from, std::byte* to) const {
  const CopyAxis& rows = axes_[rank_ - 2];
  const CopyAxis& columns = axes_[rank_ - 1];
  for (size_t r = 0; r < rows.count; r += kTile) {
    const size_t row_end = std::min(rows.count, r + kTile);
    for (size_t c = 0; c < columns.count; c += kTile) {
      const size_t column_end = std::min(columns.count, c + kTile);
      for (size_t y = r; y < row_end; ++y) {
        for (size_t x = c; x < column_end; ++x) {
          const auto sy = static_cast<ptrdiff_t>(y);
          const auto sx = static_cast<ptrdiff_t>(x);
          to[sy * rows.to + sx * columns.to] = from[sy * rows.from + sx * columns.from];
        }
      }
    }
  }
}

}  // namespace npu::host
