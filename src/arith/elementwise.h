// SPDX-License-Identifier: Apache-2.0
// The elementwise unit of the RK3588 on int8 operands that both come from memory, one element at a
// time: the encoder proves its bounds with it and the host recomputes outputs with it.
// Source: rk3588-dpu-ppu 4.3, 4.6, 4.7, 9.3.
#ifndef SRC_ARITH_ELEMENTWISE_H_
#define SRC_ARITH_ELEMENTWISE_H_

#include <cstdint>

#include "src/arith/silicon.h"

namespace npu::arith {

enum class ElementwiseOp : uint8_t { kNone, kAdd, kSubtract, kMaximum, kMinimum };

//   v = (a + a_addend) * a_multiplier                           BS, without a shift: exact
//   e = round((b + b_addend) * b_multiplier / 2^b_shift)        EW operand converter, ties to even
//   w = v op e, saturated to 32 bits                            kNone: w = v
//   relu: w = max(w, 0); relux: w = min(max(w, 0), relux_limit)
//   y = sat8(round(w * out_scale / 2^out_shift) + out_offset)   OUT_CVT
// Ranges: shifts 0..63, |a_addend| and |b_addend| <= 255.
struct ElementwiseStages {
  ElementwiseOp op = ElementwiseOp::kAdd;
  int32_t a_addend = 0;
  int16_t a_multiplier = 1;
  int32_t b_addend = 0;
  int16_t b_multiplier = 1;
  uint8_t b_shift = 0;
  bool relu = false;
  bool relux = false;
  int32_t relux_limit = 0;
  int16_t out_scale = 1;
  uint8_t out_shift = 0;
  int32_t out_offset = 0;
  Rounding out_rounding = Rounding::kHalfEven;  // kHalfEven or kHalfAway
};

// The main stream behind BS.
constexpr int32_t ElementwiseMain(const ElementwiseStages& s, int8_t a) {
  return BsMultiply(int64_t{a} + s.a_addend, s.a_multiplier, 0, 0);
}

// The operand behind its converter.
constexpr int32_t ElementwiseOperand(const ElementwiseStages& s, int8_t b) {
  return SaturateToInt32(Convert(
      b, {.scale = s.b_multiplier, .shift = s.b_shift, .offset = s.b_addend, .add_first = true}));
}

// EW, its activation and the output converter.
constexpr int8_t ElementwiseOutput(const ElementwiseStages& s, int32_t v, int32_t e) {
  int64_t w = v;
  switch (s.op) {
    case ElementwiseOp::kNone:
      break;
    case ElementwiseOp::kAdd:
      w += e;
      break;
    case ElementwiseOp::kSubtract:
      w -= e;
      break;
    case ElementwiseOp::kMaximum:
      w = std::max(v, e);
      break;
    case ElementwiseOp::kMinimum:
      w = std::min(v, e);
      break;
  }
  int32_t narrow = SaturateToInt32(w);
  if (s.relux) {
    narrow = Relux(narrow, s.relux_limit);
  } else if (s.relu) {
    narrow = Relu(narrow);
  }
  return OutConvert<int8_t>(narrow, {.scale = s.out_scale,
                                     .shift = s.out_shift,
                                     .offset = s.out_offset,
                                     .rounding = s.out_rounding});
}

}  // namespace npu::arith

#endif  // SRC_ARITH_ELEMENTWISE_H_
