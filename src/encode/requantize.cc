// SPDX-License-Identifier: Apache-2.0
// The proof. For one channel let V be the sum without zero points, b the bias, M the multiplier the
// reference realises (m * 2^(e-31), exact in a double, or a double itself), z the output zero
// point.
//
//   reference:  r(V) = (V + b) * M            integer y_ref  = clamp(round(r) + z)
//   chip:       q(V) = (V + b') * k           integer y_chip = clamp(round(q) + z)
//   with k = scale / 2^shift (per tensor) or C / 2^s * scale / 2^shift (per channel).
//
// Terms of the bound, in counts:
//   |r - round(r)| <= 0.5 + 0.5 * 2^e   DOUBLE with e < 0: the product is rounded to an integer in
//                                       units of 2^e counts, then to a count (e >= 0: only 0.5)
//                  <= 0.5               FULLY_CONNECTED
//   |q - round(q)| <= 0.5 + 0.5 * g     OUT_CVT; per channel also the shift of BS, whose unit is
//                                       g = scale / 2^shift counts
//   |q - r| = |D(V)|, D(V) = V * (k - M) + b' * k - b * M, linear in V: its maximum over an
//   interval
//             lies at an end.
// Two integers closer than 2 as reals differ by at most 1, so the sum must be below 2. Clamping
// does not increase a difference, and where both sides saturate at the same end it is 0: only the V
// are considered for which one of the sides is not certainly saturated.
#include "src/encode/requantize.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "src/arith/silicon.h"
#include "src/encode/reason.h"

namespace npu::encode {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
// Largest BS multiplier; it belongs to the channel with the largest scale.
constexpr double kLargestMultiplier = 32767.0;
// No program known to us uses an output shift above this, although the field holds 63: the planner
// moves the excess into the BS shift. ASSUMPTION out_cvt_shift_above_31 (docs/hardware).
constexpr int kPreferredOutShift = 31;
// Covers the rounding of the double arithmetic of the proof itself.
constexpr double kSlack = 1e-6;

bool FitsInt32(int64_t v) { return FitsIn<int32_t>(v); }

// OUT_CVT's factor.
struct Gain {
  int16_t scale = 1;
  int shift = 0;
  double value() const { return std::ldexp(scale, -shift); }
};

std::optional<Gain> GainFor(double factor, arith::ScaleRule rule) {
  const std::optional<arith::ScaleShift> s = arith::ScaleFromReal(static_cast<float>(factor), rule);
  if (!s) return std::nullopt;
  return Gain{s->scale, s->shift};
}

// The reference of one channel.
struct Reference {
  double gain = 0.0;      // M
  double rounding = 0.0;  // largest |round(r) - r|
};

Reference ReferenceOf(const RequantChannel& c, ReferenceRounding rounding) {
  if (rounding == ReferenceRounding::kReal) return {c.real, 0.5};
  const arith::QuantizedMultiplier& m = c.multiplier;
  if (m.multiplier == 0) return {};
  Reference r{std::ldexp(m.multiplier, m.exponent - 31), 0.5};
  if (m.exponent < 0) r.rounding += std::ldexp(0.5, m.exponent);
  return r;
}

int32_t ReferenceOutput(const RequantProblem& p, const RequantChannel& c, int64_t sum) {
  const auto narrow = static_cast<int32_t>(sum);
  const int64_t scaled = p.reference == ReferenceRounding::kReal
                             ? arith::MultiplyByReal(narrow, c.real)
                             : arith::MultiplyByQuantizedMultiplier(narrow, c.multiplier);
  return static_cast<int32_t>(
      std::clamp<int64_t>(scaled + p.out_zero_point, p.clamp_lo, p.clamp_hi));
}

// Whether no sum of the channel wraps in the reference's 32-bit arithmetic.
bool ReferenceStaysInRange(const RequantChannel& c, ReferenceRounding rounding) {
  const int left = rounding == ReferenceRounding::kDouble ? std::max(c.multiplier.exponent, 0) : 0;
  const int64_t limit = kInt32Max >> left;
  return c.v_max + c.bias <= limit && c.v_min + c.bias >= -limit;
}

// One channel on the chip. `step` is the unit of v in counts, `gain` = multiplier * 2^-s * step.
struct ChipChannel {
  double gain = 0.0;
  double step = 0.0;  // 0 without BS multiply: no rounding there
  int64_t bias = 0;   // b'
  int64_t multiplier = 1;
  bool zero_weights = false;
};

// Largest |y_chip - y_ref| + the roundings, over the V that can be told apart; 0 if none can.
double BoundOf(const RequantProblem& p, const RequantChannel& c, const Reference& ref,
               const ChipChannel& chip) {
  const double chip_rounding = 0.5 + 0.5 * chip.step;
  const double lo = p.clamp_lo - p.out_zero_point, hi = p.clamp_hi - p.out_zero_point;
  double begin = static_cast<double>(c.v_min), end = static_cast<double>(c.v_max);
  if (!chip.zero_weights) {
    const double bias = c.bias, chip_bias = static_cast<double>(chip.bias);
    end = std::min(end, std::max((hi + ref.rounding) / ref.gain - bias,
                                 (hi + chip_rounding) / chip.gain - chip_bias));
    begin = std::max(begin, std::min((lo - ref.rounding) / ref.gain - bias,
                                     (lo - chip_rounding) / chip.gain - chip_bias));
    if (begin > end) return 0.0;
  }
  const auto difference = [&](double v) {
    const double on_chip = (chip.zero_weights ? 0.0 : v) + static_cast<double>(chip.bias);
    return std::fabs(on_chip * chip.gain - (v + c.bias) * ref.gain);
  };
  return std::max(difference(begin), difference(end)) + chip_rounding + ref.rounding + kSlack;
}

// Integer v whose requantization is nearest to `counts`.
int64_t OperandFor(double counts, double gain) {
  const double v = std::nearbyint(counts / gain);
  const double limit = static_cast<double>(kInt32Max);
  return static_cast<int64_t>(std::clamp(v, -limit, limit));
}

class Planner {
 public:
  explicit Planner(const RequantProblem& p) : p_(p) {}

  Result<RequantPlan> Run() {
    NPU_RETURN_IF_ERROR(Classify());
    NPU_RETURN_IF_ERROR(PlanActivation());
    if (moving_.empty()) {
      plan_.scale = 1 << 14;
      plan_.shift = 14;
      NPU_RETURN_IF_ERROR(PlanPerTensor({plan_.scale, 14}));
    } else if (SameMultipliers()) {
      NPU_RETURN_IF_ERROR(ChoosePerTensor());
    } else {
      NPU_RETURN_IF_ERROR(PlanPerChannel());
    }
    plan_.offset = p_.out_zero_point;
    NPU_RETURN_IF_ERROR(PlanReluxLimit());
    return std::move(plan_);
  }

 private:
  size_t channels() const { return p_.channels.size(); }

  Status NotProven(size_t channel, const std::string& why) const {
    return Unsupported(reason::kRequantBound, "requantization of output channel " +
                                                  std::to_string(channel) +
                                                  " on the NPU cannot be proven to stay within "
                                                  "one count of the reference: " +
                                                  why);
  }

  // Separates channels with one possible output (dead weights, zero or denormal scale, always
  // saturated) from those that move with the input.
  Status Classify() {
    constant_.assign(channels(), std::nullopt);
    references_.resize(channels());
    for (size_t c = 0; c < channels(); ++c) {
      const RequantChannel& ch = p_.channels[c];
      references_[c] = ReferenceOf(ch, p_.reference);
      if (!ReferenceStaysInRange(ch, p_.reference)) {
        return NotProven(c, "the reference's own 32-bit arithmetic can wrap");
      }
      const int32_t low = ReferenceOutput(p_, ch, ch.v_min + ch.bias);
      const int32_t high = ReferenceOutput(p_, ch, ch.v_max + ch.bias);
      if (low == high) {
        constant_[c] = low;
      } else {
        moving_.push_back(c);
      }
    }
    return OkStatus();
  }

  // Which of the clamps the output type does not imply. Below zero point is ReLU, above is ReLUx,
  // which limits to [0, limit] (conv-matmul 6.8).
  Status PlanActivation() {
    const int32_t z = p_.out_zero_point;
    const bool low = p_.clamp_lo > -128, high = p_.clamp_hi < 127;
    const bool at_zero = p_.clamp_lo == z || (!low && z == -128);
    if ((low || high) && !at_zero) {
      return Unsupported(reason::kActivation,
                         "a fused activation whose lower limit is not zero cannot be formed on "
                         "the NPU");
    }
    plan_.relu = low || high;
    plan_.relux = high;
    return OkStatus();
  }

  bool SameMultipliers() const {
    return std::all_of(moving_.begin(), moving_.end(), [&](size_t c) {
      return p_.channels[c].multiplier == p_.channels[moving_[0]].multiplier;
    });
  }

  // Per tensor: nearest 15-bit scale or the drivers' (always high), whichever proves less.
  Status ChoosePerTensor() {
    const double factor = references_[moving_[0]].gain;
    std::optional<RequantPlan> best;
    Status failure =
        NotProven(moving_[0], "the multiplier is outside the output converter's range");
    const RequantPlan empty = plan_;
    for (const auto rule : {arith::ScaleRule::kNearest, arith::ScaleRule::kDriver}) {
      const std::optional<Gain> gain = GainFor(factor, rule);
      if (!gain) continue;
      plan_ = empty;
      const Status status = PlanPerTensor(*gain);
      if (!status.ok()) {
        failure = status;
      } else if (!best || plan_.bound.worst_counts < best->bound.worst_counts) {
        best = plan_;
      }
    }
    if (!best) return failure;
    plan_ = *std::move(best);
    return OkStatus();
  }

  Status PlanPerTensor(const Gain& gain) {
    plan_.scale = gain.scale;
    plan_.shift = static_cast<uint32_t>(gain.shift);
    std::vector<ChipChannel> chip(channels());
    for (size_t c = 0; c < channels(); ++c) {
      chip[c] = {.gain = gain.value(), .bias = p_.channels[c].bias};
      if (constant_[c]) MakeConstant(c, gain.value(), &chip[c]);
    }
    return Finish(chip, 0);
  }

  // A channel that ignores its input: v = bias gives the wanted output.
  void MakeConstant(size_t c, double unit, ChipChannel* chip) const {
    chip->zero_weights = true;
    chip->gain = unit;
    chip->bias = OperandFor(*constant_[c] - p_.out_zero_point, unit);
  }

  Status PlanPerChannel() {
    double largest = 0.0;
    for (const size_t c : moving_) largest = std::max(largest, references_[c].gain);
    // OUT_CVT's gain at s = 0; s moves factors of two between the two shifts.
    const std::optional<Gain> base =
        GainFor(largest / kLargestMultiplier, arith::ScaleRule::kNearest);
    if (!base) return NotProven(moving_[0], "the multipliers are outside the converter's range");
    std::vector<ChipChannel> chip(channels());
    for (const size_t c : moving_) chip[c] = MovingChannel(c, base->value());
    const int s = std::max(ShiftForRange(chip), base->shift - kPreferredOutShift);
    if (s > 63 || s > base->shift) {
      return NotProven(moving_[0], "the intermediate value does not fit 32 bits");
    }
    const Gain gain{base->scale, base->shift - s};
    if (gain.shift > 63) return NotProven(moving_[0], "the output shift exceeds 63");
    for (const size_t c : moving_) chip[c].step = gain.value();
    for (size_t c = 0; c < channels(); ++c) {
      if (constant_[c]) ConstantChannel(c, s, gain.value(), &chip[c]);
    }
    plan_.scale = gain.scale;
    plan_.shift = static_cast<uint32_t>(gain.shift);
    plan_.bs_shift = static_cast<uint32_t>(s);
    plan_.multiplier.resize(channels());
    for (size_t c = 0; c < channels(); ++c) {
      plan_.multiplier[c] = static_cast<int16_t>(chip[c].multiplier);
    }
    return Finish(chip, s);
  }

  // C and b' of a channel, `unit` being OUT_CVT's gain with s = 0. The bias is scaled so that the
  // coarse C does not scale it wrongly (conv-matmul 6.7, weak channels).
  ChipChannel MovingChannel(size_t c, double unit) const {
    const RequantChannel& ch = p_.channels[c];
    const double ideal = references_[c].gain / unit;
    ChipChannel chip;
    chip.multiplier =
        static_cast<int64_t>(std::clamp(std::nearbyint(ideal), 1.0, kLargestMultiplier));
    chip.gain = static_cast<double>(chip.multiplier) * unit;
    chip.zero_weights = ideal < 0.5;
    const double wanted = ch.bias * references_[c].gain;
    chip.bias = OperandFor(wanted, chip.gain);
    if (BoundOf(p_, ch, references_[c], chip) < 2.0) return chip;
    // Error zero in the middle of the possible sums instead of at the bias alone.
    const double middle = 0.5 * static_cast<double>(ch.v_min + ch.v_max);
    ChipChannel centred = chip;
    const double slope = (chip.zero_weights ? 0.0 : chip.gain) - references_[c].gain;
    centred.bias = OperandFor(wanted - middle * slope, chip.gain);
    return BoundOf(p_, ch, references_[c], centred) < BoundOf(p_, ch, references_[c], chip)
               ? centred
               : chip;
  }

  // Smallest s that keeps every v inside int32.
  int ShiftForRange(const std::vector<ChipChannel>& chip) const {
    int64_t largest = 0;
    for (const size_t c : moving_) {
      const RequantChannel& ch = p_.channels[c];
      const int64_t low = (chip[c].zero_weights ? 0 : ch.v_min) + chip[c].bias;
      const int64_t high = (chip[c].zero_weights ? 0 : ch.v_max) + chip[c].bias;
      largest = std::max({largest, -low * chip[c].multiplier, high * chip[c].multiplier});
    }
    int s = 0;
    while ((largest >> s) >= kInt32Max) ++s;
    return s;
  }

  // The finest multiplier that still reaches the output: 2^s gives v = bias exactly.
  void ConstantChannel(size_t c, int s, double step, ChipChannel* chip) const {
    const int fraction = std::min(s, 14);
    chip->multiplier = int64_t{1} << fraction;
    MakeConstant(c, std::ldexp(step, fraction - s), chip);
    chip->step = s > fraction ? step : 0.0;
  }

  // Addends, range checks and the bound over all channels.
  Status Finish(const std::vector<ChipChannel>& chip, int s) {
    plan_.addend.resize(channels());
    plan_.zero_weights.assign(channels(), false);
    double worst = 0.0;
    for (size_t c = 0; c < channels(); ++c) {
      const RequantChannel& ch = p_.channels[c];
      const bool zero = chip[c].zero_weights;
      const int64_t addend = chip[c].bias - (zero ? 0 : ch.fold);
      const int64_t low = (zero ? 0 : ch.v_min) + chip[c].bias;
      const int64_t high = (zero ? 0 : ch.v_max) + chip[c].bias;
      if (!FitsInt32(addend) || !FitsInt32(low) || !FitsInt32(high)) {
        return NotProven(c, "its bias does not fit the NPU's 32-bit operand");
      }
      plan_.addend[c] = static_cast<int32_t>(addend);
      plan_.zero_weights[c] = zero;
      double bound = 0.0;
      if (constant_[c]) {
        bound = std::abs(ConstantOutput(chip[c], s) - *constant_[c]);
      } else {
        bound = BoundOf(p_, ch, references_[c], chip[c]);
      }
      if (bound >= 2.0) {
        char text[96];
        std::snprintf(text, sizeof text, "the bound is %.3f (multiplier %.6g)", bound,
                      references_[c].gain);
        return NotProven(c, text);
      }
      worst = std::max(worst, bound);
    }
    plan_.bound = {worst, worst > 0.0 ? 1 : 0};
    return OkStatus();
  }

  int32_t ConstantOutput(const ChipChannel& chip, int s) const {
    int64_t v = chip.bias;
    if (!plan_.multiplier.empty()) {
      v = arith::BsMultiply(v, static_cast<int16_t>(chip.multiplier), s, s);
    }
    if (plan_.relu) v = std::max<int64_t>(v, 0);
    const arith::Converter converter{.scale = plan_.scale,
                                     .shift = static_cast<uint8_t>(plan_.shift),
                                     .offset = p_.out_zero_point};
    return static_cast<int32_t>(
        std::clamp<int64_t>(arith::Convert(v, converter), p_.clamp_lo, p_.clamp_hi));
  }

  // Largest v whose requantized value is at most clamp_hi; min-then-requantize then equals
  // requantize-then-min, because requantization is monotone (conv-matmul 6.8).
  Status PlanReluxLimit() {
    if (!plan_.relux) return OkStatus();
    const arith::Converter converter{.scale = plan_.scale,
                                     .shift = static_cast<uint8_t>(plan_.shift),
                                     .offset = p_.out_zero_point};
    const double gain = std::ldexp(plan_.scale, -static_cast<int>(plan_.shift));
    const double estimate = (p_.clamp_hi - p_.out_zero_point + 0.5) / gain;
    if (estimate >= static_cast<double>(kInt32Max)) {
      plan_.relux = false;  // no value that large exists: the limit cannot be reached
      return OkStatus();
    }
    int64_t v = static_cast<int64_t>(estimate) + 1;
    while (v > 0 && arith::Convert(v, converter) > p_.clamp_hi) --v;
    if (arith::Convert(v, converter) != p_.clamp_hi) {
      return Unsupported(reason::kActivation,
                         "the upper limit of the fused activation falls between two values of "
                         "the NPU's intermediate");
    }
    plan_.relux_limit = static_cast<int32_t>(v);
    return OkStatus();
  }

  const RequantProblem& p_;
  RequantPlan plan_;
  std::vector<std::optional<int32_t>> constant_;
  std::vector<Reference> references_;
  std::vector<size_t> moving_;
};

}  // namespace

Result<RequantPlan> PlanRequantization(const RequantProblem& problem) {
  return Planner(problem).Run();
}

}  // namespace npu::encode
