// SPDX-License-Identifier: Apache-2.0
// Finds the constants of an elementwise operation and proves its bound by trying every input.
//
// The chip computes round(((a - za) * Ma + (b - zb) * Mb) * S / 2^k) + zo in exact integers: only
// the three 15-bit constants are approximate. For gains ra and rb any S gives Ma = ra * 2^k / S and
// Mb = rb * 2^k / S up to half a unit each, so among the 2^14 values of S some make both nearly
// integral. The best few are compared with the reference on all inputs.
#include "src/encode/elementwise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/arith/rounding.h"
#include "src/chip/profile.h"
#include "src/encode/reason.h"
#include "src/encode/rk3588/elementwise_task.h"

namespace npu::encode {
namespace {

using arith::ElementwiseOp;
using arith::ElementwiseStages;

constexpr int kInt8Min = -128, kInt8Max = 127;
constexpr size_t kCodes = 256;
constexpr int kLargestMultiplier = 32767;
// ASSUMPTION out_cvt_shift_above_31: stay at or below.
constexpr int kLargestShift = 31;
constexpr size_t kTried = 16;

struct Candidate {
  int a = 1, b = 1, scale = 1, shift = 0;
  double error = 0.0;  // largest |chip - real| in counts
};

bool HasOperand(ElementwiseOp op) { return op != ElementwiseOp::kNone; }
bool IsExtremum(ElementwiseOp op) {
  return op == ElementwiseOp::kMaximum || op == ElementwiseOp::kMinimum;
}

double LargestDistance(int32_t zero_point) {
  return std::max(kInt8Max - zero_point, zero_point - kInt8Min);
}

std::optional<Candidate> CandidateOf(const ElementwiseProblem& p, int scale) {
  const double largest = std::max(p.a_gain, HasOperand(p.op) ? p.b_gain : 0.0);
  // The largest shift with which the larger multiplier fits.
  const int shift = std::min(
      kLargestShift, static_cast<int>(std::floor(std::log2(kLargestMultiplier * scale / largest))));
  if (shift < 0) return std::nullopt;
  const double unit = std::ldexp(scale, -shift);
  const auto multiplier = [&](double gain) {
    return static_cast<int>(std::clamp(std::nearbyint(gain / unit), 1.0, 32767.0));
  };
  Candidate c{.a = multiplier(p.a_gain), .scale = scale, .shift = shift};
  c.error = std::fabs(c.a * unit - p.a_gain) * LargestDistance(p.a_zero_point);
  if (HasOperand(p.op)) {
    c.b = multiplier(p.b_gain);
    c.error += std::fabs(c.b * unit - p.b_gain) * LargestDistance(p.b_zero_point);
  }
  return c;
}

std::vector<Candidate> BestCandidates(const ElementwiseProblem& p) {
  std::vector<Candidate> all;
  for (int scale = 1 << 14; scale <= kLargestMultiplier; ++scale) {
    if (const auto c = CandidateOf(p, scale)) all.push_back(*c);
  }
  const size_t kept = std::min(kTried, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                    [](const Candidate& x, const Candidate& y) { return x.error < y.error; });
  all.resize(kept);
  return all;
}

ElementwiseStages StagesOf(const ElementwiseProblem& p, const Candidate& c) {
  ElementwiseStages s{.op = p.op};
  s.a_addend = -p.a_zero_point;
  s.a_multiplier = static_cast<int16_t>(c.a);
  s.b_addend = HasOperand(p.op) ? -p.b_zero_point : 0;
  s.b_multiplier = static_cast<int16_t>(c.b);
  s.out_scale = static_cast<int16_t>(c.scale);
  s.out_shift = static_cast<uint8_t>(c.shift);
  s.out_offset = p.out_zero_point;
  return s;
}

// A lower limit above the type's is formed by ReLU, so it must be the zero point; an upper one by
// the largest w that still gives it: requantization is monotone.
Status SetActivation(const ElementwiseProblem& p, ElementwiseStages* s) {
  const bool low = p.clamp_lo > kInt8Min, high = p.clamp_hi < kInt8Max;
  if (!low && !high) return OkStatus();
  const int32_t zero = IsExtremum(p.op) ? 0 : p.out_zero_point;
  if (p.clamp_lo != std::max(zero, kInt8Min) || p.clamp_hi < zero) {
    return Unsupported(reason::kElementwiseActivation,
                       "the NPU limits only to ranges that start at zero");
  }
  s->relu = low && !high;
  s->relux = high;
  if (!high) return OkStatus();
  const arith::Converter converter{.scale = s->out_scale,
                                   .shift = s->out_shift,
                                   .offset = s->out_offset,
                                   .rounding = s->out_rounding};
  int64_t below = 0, above = int64_t{1} << 30;  // output(below) <= clamp_hi < output(above)
  while (above - below > 1) {
    const int64_t middle = (below + above) / 2;
    (arith::Convert(middle, converter) <= p.clamp_hi ? below : above) = middle;
  }
  s->relux_limit = static_cast<int32_t>(below);
  return OkStatus();
}

struct Comparison {
  int largest = 0;       // difference in counts
  size_t different = 0;  // inputs
};

// Over all inputs; gives up when it can no longer beat `best`.
Comparison Compare(const ElementwiseProblem& p, const ElementwiseStages& s,
                   const Comparison& best) {
  std::vector<int32_t> operand;
  for (size_t b = 0; b < (HasOperand(p.op) ? kCodes : 1); ++b) {
    operand.push_back(arith::ElementwiseOperand(s, static_cast<int8_t>(b)));
  }
  Comparison result;
  const int8_t* want = p.reference.data();
  for (size_t a = 0; a < kCodes; ++a) {
    const int32_t v = arith::ElementwiseMain(s, static_cast<int8_t>(a));
    for (const int32_t e : operand) {
      const int difference = std::abs(arith::ElementwiseOutput(s, v, e) - *want++);
      if (difference == 0) continue;
      ++result.different;
      result.largest = std::max(result.largest, difference);
    }
    if (result.different >= best.different) return result;
  }
  return result;
}

Status CheckProblem(const ElementwiseProblem& p) {
  const auto is_int8 = [](int32_t v) { return v >= kInt8Min && v <= kInt8Max; };
  const auto is_gain = [](double g) { return std::isfinite(g) && g > 0.0; };
  const size_t inputs = HasOperand(p.op) ? kCodes * kCodes : kCodes;
  constexpr uint32_t kMaxExtent = 1u << 20;
  const bool extents =
      p.c > 0 && p.h > 0 && p.w > 0 && p.c <= kMaxExtent && p.h <= kMaxExtent && p.w <= kMaxExtent;
  if (extents && is_int8(p.a_zero_point) && is_int8(p.b_zero_point) && is_int8(p.out_zero_point) &&
      is_int8(p.clamp_lo) && is_int8(p.clamp_hi) && p.clamp_lo <= p.clamp_hi && is_gain(p.a_gain) &&
      is_gain(p.b_gain) && p.reference.size() == inputs) {
    return OkStatus();
  }
  return Status(ErrorCode::kInvalidArgument, "elementwise problem: an argument is out of range");
}

struct Plan {
  ElementwiseStages stages;
  Comparison comparison;
};

void Try(const ElementwiseProblem& p, ElementwiseStages stages, Plan* best) {
  if (!SetActivation(p, &stages).ok()) return;
  const Comparison comparison = Compare(p, stages, best->comparison);
  if (comparison.different < best->comparison.different) *best = {stages, comparison};
}

Result<Plan> FindPlan(const ElementwiseProblem& p) {
  Plan best;
  best.comparison = {.largest = 256, .different = p.reference.size() + 1};
  ElementwiseStages probe;
  NPU_RETURN_IF_ERROR(SetActivation(p, &probe));
  if (IsExtremum(p.op)) {
    Try(p, {.op = p.op}, &best);  // stored integers are compared: nothing is converted
    return best;
  }
  for (const Candidate& c : BestCandidates(p)) {
    ElementwiseStages stages = StagesOf(p, c);
    Try(p, stages, &best);
    // Where exact ties occur, TFLite rounds them away from zero.
    stages.out_rounding = arith::Rounding::kHalfAway;
    if (best.comparison.different > 0) Try(p, stages, &best);
    if (best.comparison.different == 0) break;
  }
  return best;
}

}  // namespace

Result<EncodedOp> EncodeElementwise(const chip::Profile& chip, const ElementwiseProblem& problem) {
  NPU_RETURN_IF_ERROR(CheckProblem(problem));
  EncodedOp op;
  op.input = {.channels = problem.c, .height = problem.h, .width = problem.w};
  op.input.allocated_channels = RoundUp(problem.c, op.input.c2());
  if (op.input.bytes() >= chip.memory.address_space_bytes / 4) {
    return Unsupported(reason::kElementwiseSize, "the tensors do not fit the NPU's address space");
  }
  op.output = op.input;
  if (HasOperand(problem.op)) op.input_b = op.input;
  NPU_ASSIGN_OR_RETURN(const Plan plan, FindPlan(problem));
  if (plan.comparison.largest > 1) {
    return Unsupported(reason::kElementwiseBound,
                       "no constants keep every input within one count of the reference");
  }
  op.bound = {static_cast<double>(plan.comparison.largest), plan.comparison.largest};
  op.silicon = SiliconElementwise{problem.c, problem.h, problem.w, plan.stages};
  op.route = "npu-elementwise";
  const uint64_t atoms = op.input.bytes() / layout::kAtomBytes;
  for (const rk3588::AtomRectangle& cut : rk3588::CutAtoms(atoms)) {
    NPU_ASSIGN_OR_RETURN(TaskProgram task,
                         rk3588::BuildElementwiseTask({.rows = cut.rows,
                                                       .columns = cut.columns,
                                                       .offset = cut.first * layout::kAtomBytes,
                                                       .stages = plan.stages}));
    task.terms =
        cost::TermsOf(cost::ElementwiseExtents{.pixels = uint64_t{cut.rows} * cut.columns,
                                               .channels = layout::kAtomBytes,
                                               .inputs = HasOperand(problem.op) ? 2u : 1u});
    op.tasks.push_back(std::move(task));
  }
  return op;
}

}  // namespace npu::encode
