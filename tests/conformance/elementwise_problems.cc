// SPDX-License-Identifier: Apache-2.0
// Random elementwise operations and maximum pools: encoded, run on both paths of the simulator,
// compared bit for bit with the oracle of silicon arithmetic and within the proven bound of
// TFLite's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/chip/profile.h"
#include "src/encode/elementwise.h"
#include "tests/conformance/bench.h"
#include "tests/oracle/elementwise_oracle.h"

namespace npu::conformance {
namespace {

using arith::ElementwiseOp;
using Bytes = std::vector<int8_t>;

constexpr uint32_t kSeed = 20261130;

class Source {
 public:
  explicit Source(uint32_t seed) : random_(seed) {}
  int Int(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool OneIn(int n) { return Int(1, n) == 1; }
  double Real(double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(random_);
  }
  Bytes Tensor(size_t count) {
    Bytes bytes(count);
    for (int8_t& b : bytes) b = static_cast<int8_t>(Int(-128, 127));
    return bytes;
  }

 private:
  std::mt19937 random_;
};

// [h][w][c] to groups of 16 channels, and back (rk3588-conv-matmul 3.1).
size_t CubeAt(int pixels, int pixel, int c) {
  return static_cast<size_t>((c / 16 * pixels + pixel) * 16 + c % 16);
}
std::vector<std::byte> Cube(const Bytes& x, int pixels, int channels, uint64_t bytes) {
  std::vector<std::byte> cube(bytes, kPoison);
  for (int pixel = 0; pixel < pixels; ++pixel) {
    for (int c = 0; c < channels; ++c) {
      cube[CubeAt(pixels, pixel, c)] =
          static_cast<std::byte>(x[static_cast<size_t>(pixel * channels + c)]);
    }
  }
  return cube;
}

enum class Kind { kAdd, kSubtract, kRelu, kRelu6, kQuantize, kMaximum, kMinimum };
constexpr const char* kNames[] = {"ADD", "SUB", "RELU", "RELU6", "QUANTIZE", "MAXIMUM", "MINIMUM"};

struct Problem {
  Kind kind = Kind::kAdd;
  int c = 1, h = 1, w = 1;
  oracle::Quant a, b, out;
  int lo = -128, hi = 127;

  bool pairs() const {
    return kind != Kind::kRelu && kind != Kind::kRelu6 && kind != Kind::kQuantize;
  }
  std::string Text() const {
    return std::string(kNames[static_cast<size_t>(kind)]) + " " + std::to_string(c) + "x" +
           std::to_string(h) + "x" + std::to_string(w) + " a " + std::to_string(a.s) + "/" +
           std::to_string(a.z) + " b " + std::to_string(b.s) + "/" + std::to_string(b.z) + " out " +
           std::to_string(out.s) + "/" + std::to_string(out.z) + " clamp " + std::to_string(lo) +
           ".." + std::to_string(hi);
  }
};

oracle::Quant RandomQuant(Source& source, double largest) {
  const double scale = largest * std::exp2(source.Real(-3.0, 0.0));
  return {static_cast<float>(scale), source.OneIn(3) ? -128 : source.Int(-128, 127)};
}

Problem RandomProblem(Source& source) {
  Problem p;
  p.kind = static_cast<Kind>(source.Int(0, 6));
  if (source.OneIn(2)) p.kind = source.OneIn(4) ? Kind::kSubtract : Kind::kAdd;
  p.c = source.Int(1, 70);
  p.h = source.Int(1, 12);
  p.w = source.OneIn(20) ? source.Int(200, 400) : source.Int(1, 12);
  p.a = RandomQuant(source, 0.1);
  p.b = source.OneIn(5) ? p.a : RandomQuant(source, 0.1);
  p.out = source.OneIn(6) ? p.a : RandomQuant(source, 0.4);
  if (p.kind == Kind::kMaximum || p.kind == Kind::kMinimum) p.b = p.out = p.a;
  const bool relu =
      p.kind == Kind::kRelu || p.kind == Kind::kRelu6 || (p.kind == Kind::kAdd && source.OneIn(2));
  if (relu) p.lo = p.out.z;
  if (p.kind == Kind::kRelu6 || (relu && p.kind == Kind::kAdd && source.OneIn(2))) {
    p.hi = std::min(127, p.out.z + static_cast<int>(std::round(6.0F / p.out.s)));
  }
  return p;
}

int Reference(const Problem& p, int a, int b) {
  switch (p.kind) {
    case Kind::kAdd:
    case Kind::kSubtract:
      return oracle::ReferenceAdd(a, b, p.kind == Kind::kSubtract, p.a, p.b, p.out, p.lo, p.hi);
    case Kind::kMaximum:
      return std::max(a, b);
    case Kind::kMinimum:
      return std::min(a, b);
    default:
      return oracle::ReferenceRescale(a, p.a, p.out, p.kind != Kind::kQuantize, p.lo, p.hi);
  }
}

ElementwiseOp OpOf(Kind kind) {
  switch (kind) {
    case Kind::kAdd:
      return ElementwiseOp::kAdd;
    case Kind::kSubtract:
      return ElementwiseOp::kSubtract;
    case Kind::kMaximum:
      return ElementwiseOp::kMaximum;
    case Kind::kMinimum:
      return ElementwiseOp::kMinimum;
    default:
      return ElementwiseOp::kNone;
  }
}

Bytes Table(const Problem& p) {
  Bytes table;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < (p.pairs() ? 256 : 1); ++b) {
      table.push_back(
          static_cast<int8_t>(Reference(p, static_cast<int8_t>(a), static_cast<int8_t>(b))));
    }
  }
  return table;
}

Result<encode::EncodedOp> Encode(const Problem& p) {
  const Bytes table = Table(p);
  const auto u = [](int v) { return static_cast<uint32_t>(v); };
  return encode::EncodeElementwise(*chip::FindChip("rk3588"),
                                   {.op = OpOf(p.kind),
                                    .c = u(p.c),
                                    .h = u(p.h),
                                    .w = u(p.w),
                                    .a_gain = static_cast<double>(p.a.s) / p.out.s,
                                    .b_gain = static_cast<double>(p.b.s) / p.out.s,
                                    .a_zero_point = p.a.z,
                                    .b_zero_point = p.b.z,
                                    .out_zero_point = p.out.z,
                                    .clamp_lo = p.lo,
                                    .clamp_hi = p.hi,
                                    .reference = table});
}

oracle::ElementwiseStages StagesOf(const arith::ElementwiseStages& s) {
  constexpr char kOps[] = {0, '+', '-', '>', '<'};
  return {.op = kOps[static_cast<size_t>(s.op)],
          .a_addend = s.a_addend,
          .a_multiplier = s.a_multiplier,
          .b_addend = s.b_addend,
          .b_multiplier = s.b_multiplier,
          .b_shift = s.b_shift,
          .relu = s.relu,
          .relux = s.relux,
          .limit = s.relux_limit,
          .scale = s.out_scale,
          .shift = s.out_shift,
          .offset = s.out_offset,
          .half_away = s.out_rounding == arith::Rounding::kHalfAway};
}

struct Totals {
  int run = 0, exact = 0, tiled = 0;
  int64_t elements = 0, differences = 0;
  std::map<std::string, int> by_operation, declined;
};

// Empty, or what went wrong.
std::string RunElementwise(const Problem& p, Source& source, Totals* totals) {
  const Result<encode::EncodedOp> op = Encode(p);
  if (!op.ok()) {
    ++totals->declined[std::string(op.status().reason())];
    // The only clamps a zero-based activation cannot form: a range that does not hold the zero.
    const bool may = op.status().reason() == "elementwise.bound" && !p.pairs();
    return may ? std::string() : "declined: " + op.status().message();
  }
  const auto count = static_cast<size_t>(p.c * p.h * p.w);
  const Bytes a = source.Tensor(count), b = source.Tensor(count);
  const int pixels = p.h * p.w;
  Bench bench(*op,
              {Cube(a, pixels, p.c, op->input.bytes()), Cube(b, pixels, p.c, op->input.bytes())});
  const std::string failure = bench.RunTasks();
  if (!failure.empty()) return failure;
  const auto stages = StagesOf(std::get<encode::SiliconElementwise>(op->silicon).stages);
  ++totals->run;
  ++totals->by_operation[kNames[static_cast<size_t>(p.kind)]];
  totals->exact += op->bound.counts == 0 ? 1 : 0;
  totals->tiled += op->tasks.size() > 1 ? 1 : 0;
  for (size_t i = 0; i < count; ++i) {
    const int pixel = static_cast<int>(i) / p.c, c = static_cast<int>(i) % p.c;
    const int got = static_cast<int8_t>(bench.output()[CubeAt(pixels, pixel, c)]);
    const int silicon = oracle::SiliconElement(stages, a[i], b[i]);
    const int difference = std::abs(got - Reference(p, a[i], b[i]));
    ++totals->elements;
    totals->differences += difference;
    if (got != silicon || difference > op->bound.counts) {
      return "element " + std::to_string(i) + " of " + std::to_string(a[i]) + " and " +
             std::to_string(b[i]) + ": " + std::to_string(got) + ", silicon " +
             std::to_string(silicon) + ", TFLite " + std::to_string(Reference(p, a[i], b[i]));
    }
  }
  return {};
}

TEST(Conformance, RandomElementwise) {
  Source source(kSeed);
  Totals totals;
  for (int i = 0; i < 400; ++i) {
    const Problem p = RandomProblem(source);
    EXPECT_EQ(RunElementwise(p, source, &totals), "") << p.Text();
  }
  std::printf(
      "elementwise: %d operations, %d equal to TFLite for every input, %lld elements, "
      "%lld differ by one count\n",
      totals.run, totals.exact, static_cast<long long>(totals.elements),
      static_cast<long long>(totals.differences));
  for (const auto& [name, n] : totals.by_operation) std::printf("  %s: %d\n", name.c_str(), n);
  for (const auto& [why, n] : totals.declined) std::printf("  declined %s: %d\n", why.c_str(), n);
  EXPECT_EQ(totals.by_operation.size(), 7U);
  EXPECT_GT(totals.exact, totals.run / 2);
}

// More atoms than one rectangle takes: the remainder is a task of its own.
TEST(Conformance, ElementwiseTiles) {
  Source source(kSeed);
  Totals totals;
  Problem p;
  p.c = 16;
  p.w = 4217;  // a prime number of atoms
  p.a = {0.05F, 3};
  p.b = {0.02F, -7};
  p.out = {0.08F, 10};
  EXPECT_EQ(RunElementwise(p, source, &totals), "");
  EXPECT_EQ(totals.tiled, 1);
}

oracle::PoolShape RandomPool(Source& source) {
  oracle::PoolShape s;
  s.c = source.Int(1, 70);
  s.ih = source.Int(4, 20);
  s.iw = source.Int(4, 20);
  s.kh = source.Int(1, std::min(7, s.ih));
  s.kw = source.OneIn(3) ? source.Int(1, std::min(7, s.iw)) : std::min(s.kh, s.iw);
  s.sh = source.Int(1, 3);
  s.sw = source.OneIn(3) ? source.Int(1, 3) : s.sh;
  const bool same = source.OneIn(2);
  const auto extent = [&](int in, int k, int stride, int* pad) {
    if (!same) return (in - k) / stride + 1;
    const int out = (in + stride - 1) / stride;
    *pad = std::max((out - 1) * stride + k - in, 0) / 2;
    return out;
  };
  s.oh = extent(s.ih, s.kh, s.sh, &s.pad_top);
  s.ow = extent(s.iw, s.kw, s.sw, &s.pad_left);
  return s;
}

std::string RunPool(const oracle::PoolShape& s, Source& source) {
  const auto u = [](int v) { return static_cast<uint32_t>(v); };
  const auto op = encode::EncodeMaxPool(*chip::FindChip("rk3588"), {.c = u(s.c),
                                                                    .ih = u(s.ih),
                                                                    .iw = u(s.iw),
                                                                    .oh = u(s.oh),
                                                                    .ow = u(s.ow),
                                                                    .kh = u(s.kh),
                                                                    .kw = u(s.kw),
                                                                    .sh = u(s.sh),
                                                                    .sw = u(s.sw),
                                                                    .pad_top = u(s.pad_top),
                                                                    .pad_left = u(s.pad_left)});
  if (!op.ok()) return op.status().message();
  const Bytes x = source.Tensor(static_cast<size_t>(s.c * s.ih * s.iw));
  Bench bench(*op, {Cube(x, s.ih * s.iw, s.c, op->input.bytes())});
  const std::string failure = bench.RunTasks();
  if (!failure.empty()) return failure;
  const std::vector<int> want = oracle::MaxPool(s, x);
  for (size_t i = 0; i < want.size(); ++i) {
    const int pixel = static_cast<int>(i) / s.c, c = static_cast<int>(i) % s.c;
    const int got = static_cast<int8_t>(bench.output()[CubeAt(s.oh * s.ow, pixel, c)]);
    if (got != want[i]) {
      return "pixel " + std::to_string(pixel) + " channel " + std::to_string(c) + ": " +
             std::to_string(got) + " instead of " + std::to_string(want[i]);
    }
  }
  return {};
}

TEST(Conformance, RandomMaxPools) {
  Source source(kSeed);
  for (int i = 0; i < 200; ++i) {
    const oracle::PoolShape s = RandomPool(source);
    EXPECT_EQ(RunPool(s, source), "")
        << s.c << "x" << s.ih << "x" << s.iw << " window " << s.kh << "x" << s.kw << " stride "
        << s.sh << "x" << s.sw << " pad " << s.pad_top << " " << s.pad_left << " to " << s.oh << "x"
        << s.ow;
  }
  std::printf("maximum pools: 200, all equal to TFLite\n");
}

// More outputs than one task writes: bands in place, with halo and padding.
TEST(Conformance, MaxPoolBands) {
  Source source(kSeed);
  oracle::PoolShape s{.c = 20, .ih = 101, .iw = 120, .oh = 101, .ow = 120, .kh = 3, .kw = 3};
  s.pad_top = s.pad_left = 1;
  EXPECT_EQ(RunPool(s, source), "");
}

}  // namespace
}  // namespace npu::conformance
