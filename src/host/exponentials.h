// SPDX-License-Identifier: Apache-2.0
// exp() of the 256 possible differences to a row's maximum in fixed point: what SOFTMAX and
// LOG_SOFTMAX of bytes share. Source: tflite-delegate 4.15 (REF).
#ifndef SRC_HOST_EXPONENTIALS_H_
#define SRC_HOST_EXPONENTIALS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/arith/tflite.h"

namespace npu::host {

// Rows longer than this could overflow the sum, which has 12 integer bits.
inline constexpr int32_t kMaxExponentialsDepth = 4095;

struct Exponentials {
  arith::QuantizedMultiplier multiplier;  // of a difference, to Q5.26
  // By the distance below the maximum:
  std::array<int32_t, 256> scaled{};  // minus the distance, in Q5.26
  std::array<int32_t, 256> value{};   // its exponential, in Q0.31
  std::array<int32_t, 256> addend{};  // the same in Q12.19
  int32_t deepest = 0;                // distances beyond it count as 0

  // Of one row and its maximum, in Q12.19.
  int32_t Sum(const int8_t* row, size_t depth, int32_t max) const {
    uint32_t sum = 0;
    for (size_t i = 0; i < depth; ++i) {
      sum += static_cast<uint32_t>(addend[static_cast<size_t>(max - row[i])]);
    }
    return static_cast<int32_t>(sum);
  }
};

// `beta` scales the differences.
Exponentials MakeExponentials(double beta, double scale);

}  // namespace npu::host

#endif  // SRC_HOST_EXPONENTIALS_H_
