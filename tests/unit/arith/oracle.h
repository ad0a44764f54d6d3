// SPDX-License-Identifier: Apache-2.0
// Naive oracles: 128-bit integers, one rule a line, no bit tricks. They share no code with
// src/arith.
#ifndef TESTS_UNIT_ARITH_ORACLE_H_
#define TESTS_UNIT_ARITH_ORACLE_H_

#include <cstdint>

namespace npu::oracle {

__extension__ typedef __int128 Int128;

enum class Tie { kEven, kAway, kUp, kDown };

inline Int128 PowerOfTwo(int n) {
  Int128 p = 1;
  for (int i = 0; i < n; ++i) p *= 2;
  return p;
}

inline Int128 FloorDivide(Int128 a, Int128 b) {  // b > 0
  Int128 q = a / b;
  if (q * b > a) q -= 1;
  return q;
}

// numerator / denominator to the nearest integer, by comparing distances.
inline Int128 Nearest(Int128 numerator, Int128 denominator, Tie tie) {
  const Int128 low = FloorDivide(numerator, denominator);
  const Int128 high = low + 1;
  const Int128 below = numerator - low * denominator;
  const Int128 above = high * denominator - numerator;
  if (below < above) return low;
  if (above < below) return high;
  if (tie == Tie::kEven) return low % 2 == 0 ? low : high;
  if (tie == Tie::kAway) return numerator < 0 ? low : high;
  return tie == Tie::kUp ? high : low;
}

inline Int128 Clamp(Int128 v, Int128 low, Int128 high) {
  if (v < low) return low;
  if (v > high) return high;
  return v;
}

inline Int128 Sat(Int128 v, int bits) {
  return Clamp(v, -PowerOfTwo(bits - 1), PowerOfTwo(bits - 1) - 1);
}

// The low 32 bits of v as a signed number.
inline Int128 Wrap32(Int128 v) {
  Int128 r = v - FloorDivide(v, PowerOfTwo(32)) * PowerOfTwo(32);
  if (r >= PowerOfTwo(31)) r -= PowerOfTwo(32);
  return r;
}

}  // namespace npu::oracle

#endif  // TESTS_UNIT_ARITH_ORACLE_H_
