// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic of the RK3588 output pipeline, stage by stage, as pure functions of one
// element: CACC truncation, CPEND, BS and BN, EW operand converter, OUT_CVT, and the constants a
// driver derives from real scales. Source: rk3588-conv-matmul 6, rk3588-dpu-ppu 4.
#ifndef SRC_ARITH_SILICON_H_
#define SRC_ARITH_SILICON_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "src/arith/rounding.h"
#include "src/base/checked.h"

namespace npu::arith {

// The nearest value of the narrower type.
constexpr int32_t SaturateToInt32(int64_t v) { return Saturate<int32_t>(v); }
constexpr int16_t SaturateToInt16(int64_t v) { return Saturate<int16_t>(v); }
constexpr int8_t SaturateToInt8(int64_t v) { return Saturate<int8_t>(v); }

// CLIP_TRUNCATE of the CORE: the wide accumulator shifted right with rounding, then saturated to 32
// bits. Ranges: 0 <= shift <= 31; rounding kHalfEven or kHalfUp. Source: conv-matmul 6.4 step 2.
constexpr int32_t ClipTruncate(int64_t accumulator, int shift, Rounding rounding) {
  return SaturateToInt32(ShiftRightRound(rounding, accumulator, shift));
}

// CPEND, the weight-zero-point compensation: sum + ow_op * window_sum, where window_sum is the sum
// of the same window's inputs (padding included; own channel only for depthwise).
// Range: the result is kept wide. Source: conv-matmul 6.3.
constexpr int64_t Cpend(int64_t sum, int16_t ow_op, int64_t window_sum) {
  return sum + int64_t{ow_op} * window_sum;
}

// The multiplier of BS (and, [inferred], BN): value * multiplier stays wide, is shifted right with
// ties to even by shift_positive (product >= 0) or shift_negative, and saturates to 32 bits
// afterwards. Ranges: |value| < 2^47, shifts 0..63. Source: conv-matmul 6.5.
constexpr int32_t BsMultiply(int64_t value, int16_t multiplier, int shift_positive,
                             int shift_negative) {
  const int64_t product = value * multiplier;
  return SaturateToInt32(ShiftRightRound<Rounding::kHalfEven>(
      product, product >= 0 ? shift_positive : shift_negative));
}

// ReLU and ReLUx (clamp to [0, limit]) of BS, BN and EW. Source: conv-matmul 6.5.
constexpr int32_t Relu(int32_t v) { return std::max(v, 0); }
constexpr int32_t Relux(int32_t v, int32_t limit) { return std::min(Relu(v), limit); }

// Constants of an integer converter: EW operand (EW_CVT_*) or output (OUT_CVT_*).
struct Converter {
  int16_t scale = 1;  // as the hardware reads 16 bits: 8000h is -32768
  uint8_t shift = 0;  // 0..63
  int32_t offset = 0;
  bool add_first = false;                   // CVT_TYPE 1: the offset is added before scaling
  Rounding rounding = Rounding::kHalfEven;  // CVT_ROUND: 0 kHalfEven, 1 kHalfAway
};

// Converter arithmetic before saturation. CVT_TYPE 0: round(v * scale / 2^shift) + offset;
// CVT_TYPE 1: round((v + offset) * scale / 2^shift). Range: |v| < 2^46. Source: dpu-ppu 4.7,
// conv-matmul 6.6.
constexpr int64_t Convert(int64_t v, const Converter& c) {
  const int64_t scaled = (c.add_first ? v + c.offset : v) * c.scale;
  const int64_t rounded = ShiftRightRound(c.rounding, scaled, c.shift);
  return c.add_first ? rounded : rounded + c.offset;
}

// OUT_CVT to an integer output type: Convert, then saturation to T.
template <typename T>
constexpr T OutConvert(int64_t v, const Converter& c) {
  return Saturate<T>(Convert(v, c));
}

// Bit pattern of the binary32 nearest to v, ties to even: the cast of int -> fp32 outputs, which
// comes after OUT_CVT. Independent of the host's rounding mode. Source: conv-matmul 6.6, 6.9.
constexpr uint32_t Float32BitsOfInt(int64_t v) {
  if (v == 0) return 0;
  const uint32_t sign = v < 0 ? 1u : 0u;
  const uint64_t magnitude = v < 0 ? ~static_cast<uint64_t>(v) + 1 : static_cast<uint64_t>(v);
  const int top = 63 - std::countl_zero(magnitude);
  uint64_t mantissa = 0;
  if (top <= 23) {
    mantissa = magnitude << (23 - top);
  } else {
    const int drop = top - 23;
    const uint64_t fraction = magnitude & ((uint64_t{1} << drop) - 1);
    const uint64_t half = uint64_t{1} << (drop - 1);
    mantissa = magnitude >> drop;
    if (fraction > half || (fraction == half && (mantissa & 1) != 0)) ++mantissa;
  }
  // Adding (not or-ing) the implicit bit lets a mantissa that rounded up to 2^24 carry.
  const uint64_t bits = (static_cast<uint64_t>(126 + top) << 23) + mantissa;
  return (sign << 31) | static_cast<uint32_t>(bits);
}

// The scale and shift that realise a real factor: factor ~ scale / 2^shift.
struct ScaleShift {
  int16_t scale = 0;
  uint8_t shift = 0;
  friend constexpr bool operator==(const ScaleShift&, const ScaleShift&) = default;
};

// How the 14 kept mantissa bits are chosen.
enum class ScaleRule : uint8_t {
  kDriver,    // truncate, then + 1: what Mesa and its relatives program (gain high by <= 2^-14)
  kNearest,   // nearest 15-bit scale, ties to even: unbiased
  kTruncate,  // truncate: EW operand converters (dpu-ppu 9.3)
};

// Constants for a real factor (float32). nullopt unless the factor is a positive normal number and
// 0 <= shift <= 63. The scale is in [4000h, 7FFFh]: one that reaches 8000h, which the hardware
// would read as negative, becomes 4000h with one shift less.
// Example: 0.5 -> (16385, 15) by kDriver. Source: conv-matmul 6.6, dpu-ppu 4.7.
constexpr std::optional<ScaleShift> ScaleFromReal(float factor,
                                                  ScaleRule rule = ScaleRule::kDriver) {
  const uint32_t bits = std::bit_cast<uint32_t>(factor);
  const uint32_t exponent = bits >> 23;  // includes the sign bit, so a negative factor is > 254
  if (exponent == 0 || exponent >= 255) return std::nullopt;
  const uint32_t mantissa = (bits & 0x7FFFFFu) | 0x800000u;
  uint32_t scale = mantissa >> 9;
  if (rule == ScaleRule::kDriver) {
    ++scale;
  } else if (rule == ScaleRule::kNearest) {
    scale = static_cast<uint32_t>(ShiftRightRound<Rounding::kHalfEven>(mantissa, 9));
  }
  int shift = 141 - static_cast<int>(exponent);
  if (scale == 0x8000u) {
    scale = 0x4000u;
    --shift;
  }
  if (shift < 0 || shift > 63) return std::nullopt;
  return ScaleShift{static_cast<int16_t>(scale), static_cast<uint8_t>(shift)};
}

}  // namespace npu::arith

#endif  // SRC_ARITH_SILICON_H_
