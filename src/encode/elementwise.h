// SPDX-License-Identifier: Apache-2.0
// Elementwise operations and pools for the planner, no chip named. The answer to a problem is pure.
#ifndef SRC_ENCODE_ELEMENTWISE_H_
#define SRC_ENCODE_ELEMENTWISE_H_

#include <cstdint>
#include <span>

#include "npu/status.h"
#include "src/arith/elementwise.h"
#include "src/encode/encoded_op.h"

namespace npu::chip {
struct Profile;
}

namespace npu::encode {

// One int8 image, or two of equal extents, combined element by element.
struct ElementwiseProblem {
  arith::ElementwiseOp op = arith::ElementwiseOp::kAdd;
  uint32_t c = 0, h = 0, w = 0;
  // Output counts for one count of an operand: in_scale / out_scale. Not used by kMaximum and
  // kMinimum, which compare stored integers.
  double a_gain = 1.0, b_gain = 1.0;
  int32_t a_zero_point = 0, b_zero_point = 0, out_zero_point = 0;
  int32_t clamp_lo = -128, clamp_hi = 127;  // fused activation, in output counts
  // What BUILTIN_REF gives for every input, activation included, indexed by the stored bytes read
  // as unsigned: [a * 256 + b], or [a] for kNone.
  std::span<const int8_t> reference{};
};

// The result's bound is the largest difference found over all inputs, so it holds for every one.
// Errors: kInvalidArgument; kUnsupported with "elementwise.bound" when no constants were found that
// stay within one count, "elementwise.activation" for a clamp the chip cannot form,
// "elementwise.size".
Result<EncodedOp> EncodeElementwise(const chip::Profile& chip, const ElementwiseProblem& problem);

// MAX_POOL_2D with equal quantization of input and output, on the pooling unit: exact.
struct MaxPoolProblem {
  uint32_t c = 0, ih = 0, iw = 0, oh = 0, ow = 0;
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1;
  uint32_t pad_top = 0, pad_left = 0;
  int32_t clamp_lo = -128, clamp_hi = 127;
};
// Errors: kUnsupported with "pool.window", "pool.plane", "pool.activation".
Result<EncodedOp> EncodeMaxPool(const chip::Profile& chip, const MaxPoolProblem& problem);

}  // namespace npu::encode

#endif  // SRC_ENCODE_ELEMENTWISE_H_
