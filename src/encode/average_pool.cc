// SPDX-License-Identifier: Apache-2.0
// VALID average pooling as a depthwise convolution with unit weights. The quantization of input and
// output is equal, so no zero point enters: the output is the rounded mean of the stored integers.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "src/arith/rounding.h"
#include "src/arith/silicon.h"
#include "src/chip/profile.h"
#include "src/encode/conv.h"
#include "src/encode/reason.h"
#include "src/encode/rk3588/conv_encoder.h"

namespace npu::encode {
namespace {

// Largest difference to TFLite's mean (half away from zero) over every sum of n stored values
// `lowest` to `lowest` + 255.
int64_t LargestDifference(const arith::ScaleShift& s, int64_t n, int32_t lowest) {
  const int32_t offset = -128 - lowest;
  const arith::Converter converter{.scale = s.scale, .shift = s.shift, .offset = offset};
  int64_t largest = 0;
  for (int64_t sum = lowest * n; sum <= (lowest + 255) * n; ++sum) {
    const int64_t chip = arith::OutConvert<int8_t>(sum, converter);
    const int64_t reference = arith::DivideRoundHalfAway(sum, n) + offset;
    largest = std::max(largest, std::abs(chip - reference));
  }
  return largest;
}

}  // namespace

Result<EncodedOp> EncodeAveragePool(const chip::Profile& chip, const AveragePoolProblem& p) {
  // Above this a window cannot be a kernel anyway; it keeps the exhaustive check below short.
  constexpr uint32_t kMax = 1u << 10;
  for (const uint32_t v : {p.kh, p.kw, p.sh, p.sw}) {
    if (v == 0 || v > kMax) return Unsupported(reason::kPoolWindow, "window or stride too large");
  }
  constexpr uint32_t kMaxExtent = 1u << 20;
  if (p.c > kMaxExtent || p.ih > kMaxExtent || p.iw > kMaxExtent || p.oh == 0 || p.ow == 0 ||
      (uint64_t{p.oh} - 1) * p.sh + p.kh > p.ih || (uint64_t{p.ow} - 1) * p.sw + p.kw > p.iw ||
      p.c == 0) {
    return Status(ErrorCode::kInvalidArgument,
                  "average pooling: an extent is 0 or above 2^20, or a window leaves the plane");
  }
  if (p.clamp_lo > -128 || p.clamp_hi < 127) {
    return Unsupported(reason::kPoolActivation,
                       "a fused activation that limits a pooled value is not formed on the NPU");
  }
  SiliconConv conv{.depthwise = true, .ic = p.c, .ih = p.ih, .iw = p.iw};
  conv.oc = p.c;
  conv.oh = p.oh;
  conv.ow = p.ow;
  conv.kh = p.kh;
  conv.kw = p.kw;
  conv.sh = p.sh;
  conv.sw = p.sw;
  NPU_RETURN_IF_ERROR(rk3588::CheckLimits(chip, conv));
  const int64_t n = int64_t{p.kh} * p.kw;
  // The drivers' scale is always high, which breaks ties away from zero as TFLite does.
  const auto scale = arith::ScaleFromReal(1.0F / static_cast<float>(n), arith::ScaleRule::kDriver);
  // uint8 is averaged as such: BS adds 128 to each of the n elements, OUT_CVT takes 128 back.
  const int32_t lowest = p.rebased_uint8 ? 0 : -128;
  const int64_t difference = scale ? LargestDifference(*scale, n, lowest) : 2;
  if (difference > 1) {
    return Unsupported(reason::kPoolWindow, "the mean of " + std::to_string(n) +
                                                " elements is not within one count on the NPU");
  }
  conv.weights.assign(size_t{p.c} * static_cast<size_t>(n), 1);
  conv.addend.assign(p.c, static_cast<int32_t>((lowest + 128) * n));
  conv.out_offset = -128 - lowest;
  conv.out_scale = scale->scale;
  conv.out_shift = scale->shift;
  NPU_ASSIGN_OR_RETURN(EncodedOp op, rk3588::EncodeSilicon(chip, std::move(conv)));
  op.bound = {static_cast<double>(difference), static_cast<int32_t>(difference)};
  return op;
}

}  // namespace npu::encode
