// SPDX-License-Identifier: Apache-2.0
// fp16 bit patterns and fp32 numbers, independent of the host's half-precision support.
// Source: rk3588-dpu-ppu 3 (narrowing once, ties to even; subnormals kept; NaN is 7C01h).
#ifndef SRC_ARITH_HALF_H_
#define SRC_ARITH_HALF_H_

#include <bit>
#include <cstdint>

namespace npu::arith {

constexpr uint16_t kHalfNan = 0x7C01;
constexpr uint16_t kHalfInfinity = 0x7C00;

// Exact: every fp16 value, subnormals, infinities and NaN included, is an fp32 value.
constexpr float HalfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t mantissa = half & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24, computed without rounding.
  const float magnitude = static_cast<float>(mantissa) * (1.0f / 16777216.0f);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

// Nearest fp16, ties to even; beyond 65504 by half a step or more: infinity; NaN: 7C01h.
constexpr uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint32_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return kHalfNan;
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | kHalfInfinity);  // 2^16
  // Significand and how many of its low bits fall away; subnormal results lose more.
  const int exponent = static_cast<int>(magnitude >> 23);
  if (exponent < 102) return static_cast<uint16_t>(sign);  // below half of 2^-24
  const uint32_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
  const bool normal = exponent >= 113;
  const int drop = normal ? 13 : 126 - exponent;
  const uint32_t half = uint32_t{1} << (drop - 1);
  const uint32_t fraction = significand & ((uint32_t{1} << drop) - 1);
  uint32_t kept = significand >> drop;
  if (fraction > half || (fraction == half && (kept & 1) != 0)) ++kept;
  // Adding the exponent lets a significand that rounded up carry, into infinity too.
  const uint32_t base = normal ? static_cast<uint32_t>(exponent - 113) << 10 : 0;
  return static_cast<uint16_t>(sign | (base + kept));
}

// Division by 2^count as the output converter does it: the 5-bit exponent field alone is lowered
// modulo 32, whatever the value is. Example: (0, 15) -> 4400h = 4.0. Source: rk3588-dpu-ppu 4.8.
constexpr uint16_t MinusExponent(uint16_t half, int count) {
  const uint32_t exponent = (((half >> 10) & 31u) - static_cast<uint32_t>(count)) & 31u;
  return static_cast<uint16_t>((half & 0x83FFu) | (exponent << 10));
}

}  // namespace npu::arith

#endif  // SRC_ARITH_HALF_H_
