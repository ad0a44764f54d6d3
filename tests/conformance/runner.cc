// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/checked.h"
#include "src/chip/profile.h"
#include "src/encode/conv.h"
#include "tests/conformance/bench.h"

namespace npu::conformance {
namespace {

// The cube layouts, written here once more from rk3588-conv-matmul 3.1 and 3.7.
std::vector<std::byte> PackInput(const Problem& p, const std::vector<int8_t>& x,
                                 const layout::CubeShape& shape) {
  std::vector<std::byte> bytes(shape.bytes(), kPoison);
  std::byte* const cube = bytes.data();
  const int pixels = p.ih * p.iw;
  for (int c = 0; c < p.ic; ++c) {
    for (int pixel = 0; pixel < pixels; ++pixel) {
      cube[(c / 16) * pixels * 16 + pixel * 16 + c % 16] =
          static_cast<std::byte>(x[static_cast<size_t>(pixel * p.ic + c)]);
    }
  }
  return bytes;
}

int64_t OutputElement(const std::byte* cube, const oracle::ConvShape& s, int bytes, int c,
                      int pixel) {
  const int c2 = 16 / bytes;
  const std::byte* at = cube + (c / c2) * s.oh * s.ow * 16 + pixel * 16 + c % c2 * bytes;
  if (bytes == 1) return static_cast<int8_t>(*at);
  int32_t v = 0;
  std::memcpy(&v, at, sizeof v);
  return v;
}

// The problem as the encoder takes it. Depthwise weights change order.
Result<encode::EncodedOp> Encode(const Problem& p, const Data& data) {
  chip::Profile chip = *chip::FindChip("rk3588");
  chip.cbuf.banks = static_cast<uint32_t>(p.banks);
  chip.cbuf.data_banks_max = chip.cbuf.banks - 1;
  const oracle::ConvShape s = ShapeOf(p);
  const auto u = [](int v) { return static_cast<uint32_t>(v); };
  if (p.kind == Kind::kAveragePool) {
    return encode::EncodeAveragePool(chip, {.c = u(s.ic),
                                            .ih = u(s.ih),
                                            .iw = u(s.iw),
                                            .oh = u(s.oh),
                                            .ow = u(s.ow),
                                            .kh = u(s.kh),
                                            .kw = u(s.kw),
                                            .sh = u(s.sh),
                                            .sw = u(s.sw),
                                            .rebased_uint8 = p.up != 0});
  }
  if (p.kind == Kind::kMean) {
    return encode::EncodeMean(chip, {.c = u(s.ic),
                                     .ih = u(s.ih),
                                     .iw = u(s.iw),
                                     .in_scale = data.multipliers[0],
                                     .out_scale = 1.0,
                                     .in_zero_point = p.zi,
                                     .out_zero_point = p.zo});
  }
  std::vector<int8_t> weights = data.weights;
  const auto taps = static_cast<size_t>(s.kh * s.kw);
  if (s.depthwise) {
    for (size_t c = 0; c < static_cast<size_t>(s.oc); ++c) {
      for (size_t t = 0; t < taps; ++t) {
        weights[t * static_cast<size_t>(s.oc) + c] = data.weights[c * taps + t];
      }
    }
  }
  encode::ConvProblem problem{.depthwise = s.depthwise,
                              .ic = u(s.ic),
                              .ih = u(s.ih),
                              .iw = u(s.iw),
                              .oc = u(s.oc),
                              .oh = u(s.oh),
                              .ow = u(s.ow),
                              .kh = u(s.kh),
                              .kw = u(s.kw),
                              .sh = u(s.sh),
                              .sw = u(s.sw),
                              .dh = u(s.dh),
                              .dw = u(s.dw),
                              .pad_top = u(s.pad_top),
                              .pad_left = u(s.pad_left),
                              .weights = weights,
                              .weight_zero_point = p.zw,
                              .bias = data.bias,
                              .in_zero_point = p.zi,
                              .multipliers = data.multipliers,
                              .out_zero_point = p.zo,
                              .clamp_lo = data.clamp_lo,
                              .clamp_hi = data.clamp_hi,
                              .reference = p.kind == Kind::kFullyConnected
                                               ? encode::ReferenceRounding::kReal
                                               : encode::ReferenceRounding::kDouble,
                              .raw_int32 = p.raw != 0};
  return encode::EncodeConv(chip, problem);
}

// Expected outputs in [pixel][channel] order.
struct Expected {
  std::vector<int64_t> silicon;
  std::vector<int64_t> reference;  // empty for raw sums
};

std::vector<int64_t> ExpectedReference(const Problem& p, const Data& data) {
  const oracle::ConvShape s = ShapeOf(p);
  const bool pool = p.kind == Kind::kAveragePool;
  std::vector<int64_t> out =
      oracle::ReferenceSums(s, data.input, data.weights, data.bias, pool ? 0 : p.zi, p.zw);
  for (size_t i = 0; i < out.size(); ++i) {
    if (pool) {
      const int64_t n = int64_t{s.kh} * s.kw;
      out[i] = p.up != 0 ? oracle::AveragePoolUint8(out[i], n) : oracle::AveragePool(out[i], n);
      continue;
    }
    const size_t c = i % static_cast<size_t>(s.oc);
    const double real = data.multipliers[data.multipliers.size() == 1 ? 0 : c];
    const oracle::Multiplier m = p.kind == Kind::kMean
                                     ? oracle::MeanMultiplier(real, int64_t{s.kh} * s.kw)
                                     : oracle::QuantizeMultiplier(real);
    const int64_t y = p.kind == Kind::kFullyConnected ? oracle::RequantizeSingle(out[i], m)
                                                      : oracle::RequantizeDouble(out[i], m);
    out[i] = std::clamp<int64_t>(y + p.zo, data.clamp_lo, data.clamp_hi);
  }
  return out;
}

Expected ExpectedOutputs(const Problem& p, const Data& data, const encode::SiliconConv& c) {
  oracle::ConvShape s = ShapeOf(p);
  if (p.raw != 0) s.oc = static_cast<int>(c.oc);  // with the channel of window sums, if any
  Expected e;
  const int pad = p.kind == Kind::kAveragePool ? 0 : p.zi;
  // The weights the silicon multiplies: the encoder may have zeroed whole channels.
  e.silicon = oracle::SiliconSums(s, data.input, c.weights, pad, p.raw != 0 ? 0 : p.zw);
  if (p.raw != 0) return e;
  const oracle::SiliconPost post{.addend = c.addend,
                                 .multiplier = c.multiplier,
                                 .bs_shift = static_cast<int>(c.bs_shift),
                                 .relu = c.relu,
                                 .relux = c.relux,
                                 .relux_limit = c.relux_limit,
                                 .scale = c.out_scale,
                                 .shift = static_cast<int>(c.out_shift),
                                 .offset = c.out_offset};
  for (size_t i = 0; i < e.silicon.size(); ++i) {
    const int channel = static_cast<int>(i % static_cast<size_t>(s.oc));
    e.silicon[i] = oracle::SiliconOutput(post, channel, e.silicon[i]);
  }
  e.reference = ExpectedReference(p, data);
  return e;
}

// Raw sums must come from the model's own weights; otherwise only whole channels may be zeroed.
std::string CheckWeights(const Problem& p, const Data& data, const encode::SiliconConv& c) {
  const size_t kernel = data.weights.size() / static_cast<size_t>(p.oc);
  const size_t extra = p.raw != 0 && p.zw != 0 ? kernel : 0;
  if (c.weights.size() != data.weights.size() + extra) return "silicon weights of another size";
  if (!std::all_of(c.weights.end() - static_cast<std::ptrdiff_t>(extra), c.weights.end(),
                   [](int8_t w) { return w == 1; })) {
    return "the kernel of the window sums is not all ones";
  }
  for (size_t oc = 0; oc < static_cast<size_t>(p.oc); ++oc) {
    const auto begin = static_cast<std::ptrdiff_t>(oc * kernel);
    const auto end = begin + static_cast<std::ptrdiff_t>(kernel);
    const bool same = std::equal(c.weights.begin() + begin, c.weights.begin() + end,
                                 data.weights.begin() + begin);
    const bool zero = std::all_of(c.weights.begin() + begin, c.weights.begin() + end,
                                  [&](int8_t w) { return w == p.zw; });
    if (!same && (p.raw != 0 || !zero)) return "silicon weights of channel " + std::to_string(oc);
  }
  return {};
}

std::string Compare(const Problem& p, const Expected& expected, const encode::EncodedOp& op,
                    const std::byte* output, Outcome* outcome) {
  oracle::ConvShape s = ShapeOf(p);
  s.oc = static_cast<int>(op.output.channels);
  const int bytes = static_cast<int>(op.output.element_bytes);
  for (int pixel = 0; pixel < s.oh * s.ow; ++pixel) {
    for (int c = 0; c < s.oc; ++c) {
      const auto i = static_cast<size_t>(pixel * s.oc + c);
      const int64_t actual = OutputElement(output, s, bytes, c, pixel);
      const std::string where = " at row " + std::to_string(pixel / s.ow) + ", column " +
                                std::to_string(pixel % s.ow) + ", channel " + std::to_string(c);
      if (actual != expected.silicon[i]) {
        return std::to_string(actual) + " instead of " + std::to_string(expected.silicon[i]) +
               where;
      }
      ++outcome->elements;
      if (expected.reference.empty()) continue;
      const int64_t difference = std::abs(actual - expected.reference[i]);
      if (difference != 0) ++outcome->differences;
      if (difference > op.bound.counts) {
        return std::to_string(difference) + " counts from TFLite's " +
               std::to_string(expected.reference[i]) + ", bound " +
               std::to_string(op.bound.worst_counts) + where;
      }
    }
  }
  return {};
}

// Whether one group of kernels and the input rows of one output row exceed the banks: features
// count whole bytes plus one bank (conv-matmul 5.1, 5.3).
bool ExceedsBuffer(const Problem& p) {
  const oracle::ConvShape s = ShapeOf(p);
  constexpr int64_t kBank = 32768;
  const int64_t ic = (s.depthwise ? std::min(p.ic, 64) : p.ic) + 31;
  const int64_t lanes = ic / 32 * 32;
  const int64_t weights = (s.depthwise ? 1 : 32) * lanes * p.kh * p.kw;
  const int64_t rows = std::min((p.kh - 1) * p.dh + 1, p.ih);
  return (weights + kBank - 1) / kBank + (rows * p.iw * lanes + kBank - 1) / kBank + 1 > p.banks;
}

// Bytes of one kernel, or of one group of 64 (at least 32) depthwise channels.
int64_t KernelBytes(const Problem& p) {
  const bool depthwise = ShapeOf(p).depthwise;
  const int64_t lanes = int64_t{p.ic + 31} / 32 * 32;
  return int64_t{p.kh} * p.kw * (depthwise ? std::min<int64_t>(lanes, 64) : lanes);
}

// Whether the encoder may refuse this problem for that reason.
bool MayDecline(const Problem& p, std::string_view reason) {
  if (reason == "conv.requant_bound") {
    return p.spread > 1 || p.dead != 0 || p.bias == 2 || p.gain > 3;
  }
  if (reason == "conv.cbuf") return ExceedsBuffer(p);
  if (reason == "conv.kernel_bytes") return KernelBytes(p) > 32768;
  if (reason == "pool.window") return p.kh * p.kw > 92 || p.kh * p.kw < 2;
  return reason == "conv.activation" && p.act == 2;
}

}  // namespace

Outcome RunProblem(const Problem& problem) {
  Outcome outcome;
  const Data data = MakeData(problem);
  const Result<encode::EncodedOp> op = Encode(problem, data);
  if (!op.ok()) {
    const std::string reason(op.status().reason());
    if (op.status().code() == ErrorCode::kUnsupported && MayDecline(problem, reason)) {
      outcome.declined = reason;
    } else {
      outcome.failure = "not encoded: " + op.status().message() + " [" + reason + "]";
    }
    return outcome;
  }
  outcome.tasks = static_cast<int>(op->tasks.size());
  outcome.worst_bound = op->bound.worst_counts;
  outcome.route = op->route;
  const auto& silicon = std::get<encode::SiliconConv>(op->silicon);
  outcome.failure = CheckWeights(problem, data, silicon);
  if (!outcome.failure.empty()) return outcome;
  Bench bench(*op, {PackInput(problem, data.input, op->input)});
  outcome.failure = bench.RunTasks();
  if (!outcome.failure.empty()) return outcome;
  const Expected expected = ExpectedOutputs(problem, data, silicon);
  outcome.failure = Compare(problem, expected, *op, bench.output(), &outcome);
  return outcome;
}

}  // namespace npu::conformance
