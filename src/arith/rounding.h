// SPDX-License-Identifier: Apache-2.0
// Rounding right shifts and divisions. Everything is exact 64-bit integer arithmetic, usable in
// constant expressions, and never fails inside the stated ranges.
#ifndef SRC_ARITH_ROUNDING_H_
#define SRC_ARITH_ROUNDING_H_

#include <cstdint>

namespace npu::arith {

// What happens to a value exactly half way between two integers (and, for kFloor, to any other).
enum class Rounding : uint8_t {
  kHalfEven,  // ties to the even neighbour: 2.5 -> 2, -2.5 -> -2, 3.5 -> 4
  kHalfAway,  // ties away from zero:        2.5 -> 3, -2.5 -> -3
  kHalfUp,    // ties toward +infinity:      2.5 -> 3, -2.5 -> -2
  kFloor,     // plain arithmetic shift:     2.5 -> 2, -2.5 -> -3
};

// value / 2^shift rounded to an integer in the given mode.
// Ranges: 0 <= shift <= 63, any value (also the extremes: nothing overflows).
// Example: ShiftRightRound<kHalfEven>(5 * 16384, 15) = 2. Source: rk3588-conv-matmul 6.6.
template <Rounding kMode>
constexpr int64_t ShiftRightRound(int64_t value, int shift) {
  if (shift == 0) return value;
  const int64_t floor = value >> shift;
  // Bits shifted out, as an unsigned fraction of 2^shift; half is its middle.
  const uint64_t fraction = static_cast<uint64_t>(value) & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  bool round_up = false;
  if constexpr (kMode == Rounding::kHalfEven) {
    round_up = fraction > half || (fraction == half && (floor & 1) != 0);
  } else if constexpr (kMode == Rounding::kHalfAway) {
    round_up = fraction > half || (fraction == half && value >= 0);
  } else if constexpr (kMode == Rounding::kHalfUp) {
    round_up = fraction >= half;
  }
  return floor + (round_up ? 1 : 0);
}

// The same with the mode chosen at run time (register fields decide it in the simulator).
constexpr int64_t ShiftRightRound(Rounding mode, int64_t value, int shift) {
  switch (mode) {
    case Rounding::kHalfEven:
      return ShiftRightRound<Rounding::kHalfEven>(value, shift);
    case Rounding::kHalfAway:
      return ShiftRightRound<Rounding::kHalfAway>(value, shift);
    case Rounding::kHalfUp:
      return ShiftRightRound<Rounding::kHalfUp>(value, shift);
    case Rounding::kFloor:
      break;
  }
  return ShiftRightRound<Rounding::kFloor>(value, shift);
}

// numerator / denominator rounded to the nearest integer, ties away from zero.
// Ranges: 0 < denominator, |numerator| + denominator < 2^63. Source: tflite-delegate 4.8 (AVERAGE
// pooling of int8: (S + n/2)/n truncated for S > 0, (S - n/2)/n else; the same number).
constexpr int64_t DivideRoundHalfAway(int64_t numerator, int64_t denominator) {
  const int64_t half = denominator / 2;
  return (numerator > 0 ? numerator + half : numerator - half) / denominator;
}

}  // namespace npu::arith

#endif  // SRC_ARITH_ROUNDING_H_
