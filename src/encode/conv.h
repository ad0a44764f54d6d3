// SPDX-License-Identifier: Apache-2.0
// Entry points of the encoders for the planner: convolution-class operations as plain problems, no
// chip named. The answer to a problem is pure: the same at every call.
#ifndef SRC_ENCODE_CONV_H_
#define SRC_ENCODE_CONV_H_

#include <cstdint>
#include <span>

#include "npu/status.h"
#include "src/encode/encoded_op.h"

namespace npu::chip {
struct Profile;
}

namespace npu::encode {

// How BUILTIN_REF rounds the requantized sum (tflite-delegate 3.3, 4.3).
enum class ReferenceRounding : uint8_t {
  kDouble,  // CONV_2D, DEPTHWISE_CONV_2D: two roundings
  kReal,    // FULLY_CONNECTED of litert 2.3: a float64 product, rounded half away from zero
};

// One int8 convolution, batch 1, groups 1 or depthwise with multiplier 1. FULLY_CONNECTED is a 1x1
// kernel on a plane of M x 1 pixels. Extents are real ones; bottom and right padding follow from
// them. Taps outside the plane contribute nothing.
struct ConvProblem {
  bool depthwise = false;
  uint32_t ic = 0, ih = 0, iw = 0;
  uint32_t oc = 0, oh = 0, ow = 0;  // depthwise: oc == ic
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  uint32_t pad_top = 0, pad_left = 0;
  std::span<const int8_t> weights{};  // [oc][kh][kw][ic]; depthwise [kh][kw][c]
  int32_t weight_zero_point = 0;
  std::span<const int32_t> bias{};  // [oc], or empty
  int32_t in_zero_point = 0;
  // Real multipliers in_scale * weight_scale[c] / out_scale, one or oc of them, formed exactly as
  // the reference kernel forms them (which product is rounded to float differs from operation to
  // operation). Zero and denormal ones are legal. Unused for raw_int32.
  std::span<const double> multipliers{};
  int32_t out_zero_point = 0;
  int32_t clamp_lo = -128, clamp_hi = 127;  // fused activation, in output counts
  ReferenceRounding reference = ReferenceRounding::kDouble;
  // The output is the int32 sum over x * w alone, taps outside the plane counting in_zero_point;
  // the host adds bias[c] - in_zero_point * sum(w[c] - weight_zero_point) and requantizes. With
  // weight_zero_point != 0 the NPU writes one more channel, the sum of x over the window (its
  // kernel is all ones), of which the host subtracts weight_zero_point times. Not for depthwise.
  bool raw_int32 = false;
};

// Errors: kInvalidArgument for a problem that contradicts itself, kUnsupported with a reason id
// ("conv.requant_bound", "conv.cbuf", ...) and a text for people when the chip or the bound of one
// count rules it out.
Result<EncodedOp> EncodeConv(const chip::Profile& chip, const ConvProblem& problem);

// AVERAGE_POOL_2D, VALID, equal quantization of input and output, without activation: a depthwise
// convolution with unit weights. bound.counts is 0 where the requantization was checked to equal
// TFLite for every possible sum (int8: all windows up to 92 elements), else 1.
struct AveragePoolProblem {
  uint32_t c = 0, ih = 0, iw = 0, oh = 0, ow = 0;
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1;
  int32_t clamp_lo = -128, clamp_hi = 127;
  bool rebased_uint8 = false;  // ties go up, as TFLite's do among non-negative integers
};
Result<EncodedOp> EncodeAveragePool(const chip::Profile& chip, const AveragePoolProblem& problem);

// MEAN over the whole plane of [1,H,W,C], requantized from in_scale to out_scale (tflite-delegate
// 4.17, formula B); bound at most one count.
struct MeanProblem {
  uint32_t c = 0, ih = 0, iw = 0;
  double in_scale = 1.0, out_scale = 1.0;
  int32_t in_zero_point = 0, out_zero_point = 0;
};
Result<EncodedOp> EncodeMean(const chip::Profile& chip, const MeanProblem& problem);

}  // namespace npu::encode

#endif  // SRC_ENCODE_CONV_H_
