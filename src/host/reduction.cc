// SPDX-License-Identifier: Apache-2.0
#include "src/host/reduction.h"

#include <cstring>

namespace npu::host {

AxisFlags ReducedAxes(const ir::Value& axes, size_t rank) {
  AxisFlags reduced{};
  for (size_t i = 0; i + sizeof(int32_t) <= axes.constant.size(); i += sizeof(int32_t)) {
    int32_t axis = 0;
    std::memcpy(&axis, axes.constant.data() + i, sizeof(axis));
    const auto position = static_cast<size_t>(axis < 0 ? axis + static_cast<int32_t>(rank) : axis);
    if (position < rank) reduced[position] = true;
  }
  return reduced;
}

// Adjacent axes of the same kind are one loop.
Reduction::Reduction(const Shape& shape, const AxisFlags& reduced) {
  std::array<Loop, Shape::kMaxRank> inside_out{};
  size_t loops = 0;
  bool previous = false;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(shape[axis]);
    if (extent == 1) continue;
    if (loops > 0 && previous == reduced[axis]) {
      inside_out[loops - 1].count *= extent;
    } else {
      inside_out[loops++] = {extent, reduced[axis] ? 0 : results_};
    }
    previous = reduced[axis];
    (reduced[axis] ? folded_ : results_) *= extent;
  }
  if (loops == 0) return;
  inner_ = inside_out[0];
  while (--loops > 0) outer_[depth_++] = inside_out[loops];
}

}  // namespace npu::host
