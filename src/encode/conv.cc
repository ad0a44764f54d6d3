// SPDX-License-Identifier: Apache-2.0
#include "src/encode/conv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/arith/tflite.h"
#include "src/base/checked.h"
#include "src/chip/profile.h"
#include "src/encode/reason.h"
#include "src/encode/requantize.h"
#include "src/encode/rk3588/conv_encoder.h"

namespace npu::encode {
namespace {

constexpr int32_t kInt8Min = -128, kInt8Max = 127;

Status Invalid(const std::string& what) {
  return Status(ErrorCode::kInvalidArgument, "convolution problem: " + what);
}

bool IsInt8(int32_t v) { return v >= kInt8Min && v <= kInt8Max; }

// Every window must cover at least one row and column of the plane; TFLite's paddings always do
// except with dilations larger than the plane.
bool WindowsTouchPlane(uint32_t in, uint32_t out, uint32_t k, uint32_t s, uint32_t d,
                       uint32_t pad) {
  return pad <= uint64_t{k - 1} * d && int64_t{out - 1} * s - pad < in;
}

Status CheckExtents(const SiliconConv& c) {
  // One limit for every extent keeps all products of three of them inside 64 bits.
  constexpr uint32_t kMax = 1u << 20;
  for (const uint32_t v :
       {c.ic, c.ih, c.iw, c.oc, c.oh, c.ow, c.kh, c.kw, c.sh, c.sw, c.dh, c.dw}) {
    if (v == 0 || v > kMax) return Invalid("an extent is 0 or above 2^20");
  }
  if (c.pad_top > kMax || c.pad_left > kMax) return Invalid("a padding is above 2^20");
  if (c.depthwise && c.ic != c.oc) return Invalid("a depthwise one has as many inputs as outputs");
  if (!WindowsTouchPlane(c.ih, c.oh, c.kh, c.sh, c.dh, c.pad_top) ||
      !WindowsTouchPlane(c.iw, c.ow, c.kw, c.sw, c.dw, c.pad_left)) {
    return Unsupported(reason::kGeometry,
                       "a window lies beside the input plane: padding alone would be convolved");
  }
  return OkStatus();
}

Status CheckProblem(const ConvProblem& p) {
  const uint64_t taps = uint64_t{p.kh} * p.kw;
  const auto count = CheckedMul<uint64_t>(taps * p.oc, p.depthwise ? 1 : p.ic);
  if (!count || p.weights.size() != *count) return Invalid("weights of the wrong size");
  if (!p.bias.empty() && p.bias.size() != p.oc) return Invalid("bias of the wrong size");
  if (!IsInt8(p.in_zero_point) || !IsInt8(p.out_zero_point) || !IsInt8(p.weight_zero_point)) {
    return Invalid("a zero point is outside int8");
  }
  if (p.raw_int32) return OkStatus();
  if (p.multipliers.size() != 1 && p.multipliers.size() != p.oc) {
    return Invalid("multipliers of the wrong size");
  }
  for (const double m : p.multipliers) {
    if (!(m >= 0.0) || !std::isfinite(m)) return Invalid("a multiplier is negative or not finite");
  }
  if (p.clamp_lo > p.clamp_hi || !IsInt8(p.clamp_lo) || !IsInt8(p.clamp_hi)) {
    return Invalid("the clamp is empty or outside int8");
  }
  return OkStatus();
}

// Geometry and weights in the order of SiliconConv; weights of a depthwise problem are transposed.
SiliconConv GeometryOf(const ConvProblem& p) {
  SiliconConv c{.depthwise = p.depthwise, .ic = p.ic, .ih = p.ih, .iw = p.iw};
  c.oc = p.oc;
  c.oh = p.oh;
  c.ow = p.ow;
  c.kh = p.kh;
  c.kw = p.kw;
  c.sh = p.sh;
  c.sw = p.sw;
  c.dh = p.dh;
  c.dw = p.dw;
  c.pad_top = p.pad_top;
  c.pad_left = p.pad_left;
  c.pad_value = static_cast<int8_t>(p.in_zero_point);
  c.raw_int32 = p.raw_int32;
  c.weight_zero_point = static_cast<int8_t>(p.weight_zero_point);
  return c;
}

std::vector<int8_t> ChannelMajorWeights(const ConvProblem& p) {
  std::vector<int8_t> weights(p.weights.begin(), p.weights.end());
  if (!p.depthwise) return weights;
  const size_t taps = size_t{p.kh} * p.kw;
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t c = 0; c < p.ic; ++c) weights[c * taps + tap] = p.weights[tap * p.ic + c];
  }
  return weights;
}

// Range of V = sum (x - x0) * (w - w0) over every int8 input. Taps outside the plane contribute 0,
// which x = x0 covers.
void SetSums(std::span<const int8_t> kernel, int32_t zero_point, int32_t weight_zero_point,
             RequantChannel* channel) {
  int64_t positive = 0, negative = 0;
  for (const int8_t stored : kernel) {
    const int32_t w = stored - weight_zero_point;
    (w > 0 ? positive : negative) += w;
  }
  const int64_t low = kInt8Min - zero_point, high = kInt8Max - zero_point;
  channel->v_min = positive * low + negative * high;
  channel->v_max = positive * high + negative * low;
  channel->fold = zero_point * (positive + negative);
}

RequantProblem RequantProblemOf(const ConvProblem& p, std::span<const int8_t> weights) {
  RequantProblem problem{.out_zero_point = p.out_zero_point,
                         .clamp_lo = p.clamp_lo,
                         .clamp_hi = p.clamp_hi,
                         .reference = p.reference};
  problem.channels.resize(p.oc);
  const size_t kernel = weights.size() / p.oc;
  for (size_t c = 0; c < p.oc; ++c) {
    RequantChannel& channel = problem.channels[c];
    SetSums(weights.subspan(c * kernel, kernel), p.in_zero_point, p.weight_zero_point, &channel);
    channel.bias = p.bias.empty() ? 0 : p.bias[c];
    channel.real = p.multipliers[p.multipliers.size() == 1 ? 0 : c];
    channel.multiplier = arith::QuantizeMultiplier(channel.real);
  }
  return problem;
}

void ApplyPlan(RequantPlan plan, SiliconConv* c) {
  const size_t kernel = c->weights.size() / c->oc;
  for (size_t oc = 0; oc < c->oc; ++oc) {
    if (!plan.zero_weights[oc]) continue;
    std::fill_n(c->weights.begin() + static_cast<std::ptrdiff_t>(oc * kernel), kernel,
                c->weight_zero_point);
  }
  c->addend = std::move(plan.addend);
  c->multiplier = std::move(plan.multiplier);
  c->bs_shift = plan.bs_shift;
  c->relu = plan.relu;
  c->relux = plan.relux;
  c->relux_limit = plan.relux_limit;
  c->out_scale = plan.scale;
  c->out_shift = plan.shift;
  c->out_offset = plan.offset;
}

// Plans the requantization of `problem`, applies it to `conv` and encodes.
Result<EncodedOp> EncodePlanned(const chip::Profile& chip, const RequantProblem& problem,
                                SiliconConv conv) {
  NPU_ASSIGN_OR_RETURN(RequantPlan plan, PlanRequantization(problem));
  const ErrorBound bound = plan.bound;
  ApplyPlan(std::move(plan), &conv);
  NPU_ASSIGN_OR_RETURN(EncodedOp op, rk3588::EncodeSilicon(chip, std::move(conv)));
  op.bound = bound;
  return op;
}

// Raw sums. The writer of 32-bit sums has the zero-point compensation bypassed (conv-matmul 6.3
// (2)): a kernel of ones gives the host what it needs to compensate itself.
Result<EncodedOp> EncodeRaw(const chip::Profile& chip, SiliconConv conv) {
  const uint32_t real = conv.oc;
  if (conv.weight_zero_point != 0) {
    conv.weight_zero_point = 0;
    conv.weights.insert(conv.weights.end(), conv.weights.size() / real, int8_t{1});
    ++conv.oc;
  }
  const uint32_t programmed = conv.oc;
  NPU_ASSIGN_OR_RETURN(EncodedOp op, rk3588::EncodeSilicon(chip, std::move(conv)));
  op.macs = op.macs / programmed * real;
  return op;
}

}  // namespace

Result<EncodedOp> EncodeConv(const chip::Profile& chip, const ConvProblem& problem) {
  SiliconConv conv = GeometryOf(problem);
  NPU_RETURN_IF_ERROR(CheckExtents(conv));
  NPU_RETURN_IF_ERROR(CheckProblem(problem));
  NPU_RETURN_IF_ERROR(rk3588::CheckLimits(chip, conv));
  conv.weights = ChannelMajorWeights(problem);
  if (problem.raw_int32) return EncodeRaw(chip, std::move(conv));
  const RequantProblem requant = RequantProblemOf(problem, conv.weights);
  return EncodePlanned(chip, requant, std::move(conv));
}

Result<EncodedOp> EncodeMean(const chip::Profile& chip, const MeanProblem& p) {
  SiliconConv conv{.depthwise = true, .ic = p.c, .ih = p.ih, .iw = p.iw};
  conv.oc = p.c;
  conv.oh = conv.ow = 1;
  conv.kh = p.ih;
  conv.kw = p.iw;
  conv.pad_value = static_cast<int8_t>(p.in_zero_point);
  NPU_RETURN_IF_ERROR(CheckExtents(conv));
  NPU_RETURN_IF_ERROR(rk3588::CheckLimits(chip, conv));
  const double factor = p.in_scale / p.out_scale;
  if (!(p.in_scale > 0) || !(p.out_scale > 0) || !std::isfinite(factor) ||
      !IsInt8(p.in_zero_point) || !IsInt8(p.out_zero_point)) {
    return Invalid("quantization of MEAN out of range");
  }
  conv.weights.assign(size_t{p.c} * p.ih * p.iw, 1);
  RequantChannel channel;
  SetSums(std::span(conv.weights).first(size_t{p.ih} * p.iw), p.in_zero_point, 0, &channel);
  channel.multiplier =
      arith::MeanMultiplier(arith::QuantizeMultiplier(factor), int64_t{p.ih} * p.iw);
  RequantProblem problem{.out_zero_point = p.out_zero_point};
  problem.channels.assign(p.c, channel);
  return EncodePlanned(chip, problem, std::move(conv));
}

}  // namespace npu::encode
