// SPDX-License-Identifier: Apache-2.0
// Plans the return from int32 sums to int8 on the chip, and proves for every channel how far the
// result can be from BUILTIN_REF given the same input. Arithmetic: rk3588-conv-matmul 6.5 to 6.8.
#ifndef SRC_ENCODE_REQUANTIZE_H_
#define SRC_ENCODE_REQUANTIZE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "npu/status.h"
#include "src/arith/tflite.h"
#include "src/encode/conv.h"
#include "src/encode/encoded_op.h"

namespace npu::encode {

// What one output channel computes, with V = sum over taps of (x - x0) * (w - w0).
struct RequantChannel {
  int64_t v_min = 0, v_max = 0;  // every V an int8 input can produce; v_min <= 0 <= v_max
  int32_t bias = 0;
  int64_t fold = 0;                       // x0 * sum(w - w0): the chip's own sum is V + fold
  arith::QuantizedMultiplier multiplier;  // of the reference, as kDouble realises it
  double real = 0.0;                      // the same for kReal
};

struct RequantProblem {
  std::vector<RequantChannel> channels{};
  int32_t out_zero_point = 0;
  int32_t clamp_lo = -128, clamp_hi = 127;
  ReferenceRounding reference = ReferenceRounding::kDouble;
};

// The chip's output for channel c is sat8(rne(v * scale / 2^shift) + offset) with
// v = rne((sum + addend[c]) * multiplier[c] / 2^bs_shift), or v = sum + addend[c] without
// multipliers, limited to [0, relux_limit] where relu and relux say so.
struct RequantPlan {
  std::vector<int32_t> addend;
  std::vector<int16_t> multiplier;  // empty: per tensor
  // Channels whose weights must be packed as zeros (w0): their output does not depend on the input,
  // or so little that a constant is closer than the smallest multiplier.
  std::vector<bool> zero_weights;
  uint32_t bs_shift = 0;
  int16_t scale = 1;
  uint32_t shift = 0;
  int32_t offset = 0;
  bool relu = false;
  bool relux = false;
  int32_t relux_limit = 0;
  ErrorBound bound;
};

// Errors: kUnsupported with reason::kRequantBound naming the first channel beyond one count, or
// reason::kActivation for a clamp the chip cannot form.
Result<RequantPlan> PlanRequantization(const RequantProblem& problem);

}  // namespace npu::encode

#endif  // SRC_ENCODE_REQUANTIZE_H_
