// SPDX-License-Identifier: Apache-2.0
// Integer helpers that cannot overflow silently.
#ifndef SRC_BASE_CHECKED_H_
#define SRC_BASE_CHECKED_H_

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace npu {

// ceil(a / b) for a >= 0, b > 0.
template <std::integral T>
constexpr T CeilDiv(T a, T b) {
  return static_cast<T>((a + b - 1) / b);
}

// Smallest multiple of b that is >= a, for a >= 0, b > 0.
template <std::integral T>
constexpr T RoundUp(T a, T b) {
  return static_cast<T>(CeilDiv(a, b) * b);
}

// a + b and a * b, or nothing where the type cannot hold the result.
template <std::integral T>
constexpr std::optional<T> CheckedAdd(T a, T b) {
  T r{};
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
template <std::integral T>
constexpr std::optional<T> CheckedMul(T a, T b) {
  T r{};
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// Whether `To` holds v exactly.
template <std::integral To, std::integral From>
constexpr bool FitsIn(From v) {
  return std::in_range<To>(v);
}

// The value of `To` nearest to v.
template <std::integral To, std::integral From>
constexpr To Saturate(From v) {
  if (std::cmp_less(v, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(v, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

}  // namespace npu

#endif  // SRC_BASE_CHECKED_H_
