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
#include "src/sim/simulator.h"

namespace npu::conformance {
namespace {

constexpr uint32_t kGuard = 4096;
constexpr std::byte kGuardByte{0xC3};
constexpr std::byte kPoison{0xA5};

// A buffer between two guard zones.
struct Region {
  uint32_t iova = 0;  // of the payload
  std::vector<std::byte> bytes;
  std::vector<std::byte> before;  // copy of read-only contents

  std::byte* payload() { return bytes.data() + kGuard; }
  size_t size() const { return bytes.size() - 2 * kGuard; }
};

Region MakeRegion(uint32_t iova, size_t size) {
  Region r{.iova = iova, .bytes = {}, .before = {}};
  r.bytes.assign(RoundUp(size, size_t{4096}) + 2 * kGuard, kGuardByte);
  std::fill_n(r.payload(), size, kPoison);
  return r;
}

std::string CheckGuards(const Region& r, size_t size, const char* name) {
  for (size_t i = 0; i < r.bytes.size(); ++i) {
    if (i >= kGuard && i < kGuard + size) continue;
    if (r.bytes[i] != kGuardByte) {
      return std::string("guard zone of the ") + name + " written at offset " +
             std::to_string(static_cast<int64_t>(i) - static_cast<int64_t>(kGuard));
    }
  }
  return {};
}

// The cube layouts, written here once more from rk3588-conv-matmul 3.1 and 3.7.
void PackInput(const Problem& p, const std::vector<int8_t>& x, std::byte* cube) {
  const int pixels = p.ih * p.iw;
  for (int c = 0; c < p.ic; ++c) {
    for (int pixel = 0; pixel < pixels; ++pixel) {
      cube[(c / 16) * pixels * 16 + pixel * 16 + c % 16] =
          static_cast<std::byte>(x[static_cast<size_t>(pixel * p.ic + c)]);
    }
  }
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

// Buffers of one operation in a simulated address space.
class Bench {
 public:
  Bench(const Problem& p, const Data& data, const encode::EncodedOp& op) : op_(op) {
    Add(encode::Slot::kInput, op.input.bytes(), {});
    PackInput(p, data.input, regions_.at(encode::Slot::kInput).payload());
    Add(encode::Slot::kOutput, op.output.bytes(), {});
    Add(encode::Slot::kWeights, op.weights.size(), op.weights);
    if (!op.operands.empty()) Add(encode::Slot::kOperands, op.operands.size(), op.operands);
  }

  // Both paths of the simulator, which must leave the same bytes everywhere.
  std::string RunTasks() {
    std::vector<Region> lists;
    for (const encode::TaskProgram& task : op_.tasks) lists.push_back(MakeList(task));
    for (auto& [slot, r] : regions_) r.before = r.bytes;
    std::string failure = RunPath(sim::Path::kFast, &lists);
    if (!failure.empty()) return "fast path, " + failure;
    std::map<encode::Slot, std::vector<std::byte>> fast;
    for (auto& [slot, r] : regions_) fast[slot] = std::exchange(r.bytes, r.before);
    failure = RunPath(sim::Path::kClear, &lists);
    if (!failure.empty()) return failure;
    for (auto& [slot, r] : regions_) {
      if (r.bytes != fast[slot]) return "the fast path differs from the clear one";
    }
    return CheckMemory();
  }

  const std::byte* output() { return regions_.at(encode::Slot::kOutput).payload(); }

 private:
  std::string RunPath(sim::Path path, std::vector<Region>* lists) {
    sim::AddressSpace memory;
    for (auto& [slot, r] : regions_) {
      if (!memory.Map(r.iova - kGuard, r.bytes).ok()) return "cannot map a buffer";
    }
    for (Region& r : *lists) {
      if (!memory.Map(r.iova - kGuard, r.bytes).ok()) return "cannot map a list";
    }
    sim::SimOptions options;
    options.path = path;
    sim::Simulator simulator(options);
    for (size_t i = 0; i < lists->size(); ++i) {
      const sim::KickResult result = simulator.RunKick(
          memory,
          {.regcmd = (*lists)[i].iova, .count = static_cast<uint32_t>(op_.tasks[i].words.size())});
      const std::string where = "task " + std::to_string(i) + ": ";
      for (const sim::Diagnostic& d : result.diagnostics) {
        if (!IsRightHere(d)) return where + sim::ToString(d);
      }
      if (result.outcome != sim::Outcome::kComplete) return where + result.reason;
    }
    return {};
  }

  void Add(encode::Slot slot, size_t size, const std::vector<std::byte>& contents) {
    Region r = MakeRegion(next_, size);
    std::copy(contents.begin(), contents.end(), r.payload());
    next_ += static_cast<uint32_t>(r.bytes.size()) + 4096;
    sizes_[slot] = size;
    regions_.emplace(slot, std::move(r));
  }

  Region MakeList(const encode::TaskProgram& task) {
    std::vector<uint64_t> words = task.words;
    for (const encode::Relocation& r : task.relocations) {
      words[r.word] |= uint64_t{regions_.at(r.slot).iova + r.offset} << 16;
    }
    Region list = MakeRegion(next_, words.size() * 8);
    std::memcpy(list.payload(), words.data(), words.size() * 8);
    next_ += static_cast<uint32_t>(list.bytes.size()) + 4096;
    return list;
  }

  // The simulator cannot know the plane's height; on one of exactly four rows a band of fewer rows
  // rightly has surface stride 0.
  bool IsRightHere(const sim::Diagnostic& d) const {
    return d.id == "cna.surface_stride_clamped" && op_.input.height == 4;
  }

  std::string CheckMemory() {
    constexpr const char* kNames[] = {"input", "output", "weights", "operands"};
    for (auto& [slot, r] : regions_) {
      const char* name = kNames[static_cast<size_t>(slot)];
      if (slot != encode::Slot::kOutput && r.bytes != r.before) {
        return std::string(name) + " changed";
      }
      std::string guards = CheckGuards(r, sizes_.at(slot), name);
      if (!guards.empty()) return guards;
    }
    return {};
  }

  const encode::EncodedOp& op_;
  std::map<encode::Slot, Region> regions_;
  std::map<encode::Slot, size_t> sizes_;
  uint32_t next_ = 0x0A000000 + kGuard;
};

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
  Bench bench(problem, data, *op);
  outcome.failure = bench.RunTasks();
  if (!outcome.failure.empty()) return outcome;
  const Expected expected = ExpectedOutputs(problem, data, silicon);
  outcome.failure = Compare(problem, expected, *op, bench.output(), &outcome);
  return outcome;
}

}  // namespace npu::conformance
