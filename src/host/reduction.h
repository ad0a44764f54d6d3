// SPDX-License-Identifier: Apache-2.0
// The walk of every operation that folds a row-major tensor along some of its axes.
#ifndef SRC_HOST_REDUCTION_H_
#define SRC_HOST_REDUCTION_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/data_type.h"
#include "src/ir/graph.h"

namespace npu::host {

using AxisFlags = std::array<bool, Shape::kMaxRank>;

// The axes named by a constant int32 tensor whose rule holds: in range, negative ones counted from
// the back, repetitions allowed.
AxisFlags ReducedAxes(const ir::Value& axes, size_t rank);

class Reduction {
 public:
  Reduction(const Shape& shape, const AxisFlags& reduced);

  size_t results() const { return results_; }  // elements of the output
  size_t folded() const { return folded_; }    // elements of the input behind each of them

  // results[i] = fold(results[i], x) for every x that belongs to result i, in the order of the
  // input. The caller has set the results to where the folding starts.
  template <typename T, typename Result, typename Fold>
  void Run(const T* from, Result* results, const Fold& fold) const {
    std::array<size_t, Shape::kMaxRank> at{};
    while (true) {
      if (inner_.stride == 0) {
        Result value = *results;
        for (size_t i = 0; i < inner_.count; ++i) value = fold(value, from[i]);
        *results = value;
      } else {
        for (size_t i = 0; i < inner_.count; ++i) results[i] = fold(results[i], from[i]);
      }
      from += inner_.count;
      size_t level = depth_;
      for (; level > 0; --level) {
        const Loop& loop = outer_[level - 1];
        results += loop.stride;
        if (++at[level - 1] < loop.count) break;
        results -= loop.stride * loop.count;
        at[level - 1] = 0;
      }
      if (level == 0) return;
    }
  }

 private:
  // The input is walked without a jump; `stride` is that of the result, 0 along a folded axis.
  struct Loop {
    size_t count = 1;
    size_t stride = 0;
  };

  std::array<Loop, Shape::kMaxRank> outer_{};  // outermost first
  size_t depth_ = 0;
  Loop inner_;
  size_t results_ = 1, folded_ = 1;
};

}  // namespace npu::host

#endif  // SRC_HOST_REDUCTION_H_
