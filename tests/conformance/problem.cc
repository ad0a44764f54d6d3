// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/problem.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace npu::conformance {
namespace {

struct KindName {
  Kind kind;
  std::string_view name;
};
constexpr std::array kKinds = {KindName{Kind::kConv, "conv"}, KindName{Kind::kDepthwise, "dw"},
                               KindName{Kind::kFullyConnected, "fc"},
                               KindName{Kind::kAveragePool, "avgpool"},
                               KindName{Kind::kMean, "mean"}};

struct Field {
  std::string_view name;
  int Problem::*member;
};
constexpr std::array kFields = {
    Field{"ic", &Problem::ic},   Field{"oc", &Problem::oc},         Field{"ih", &Problem::ih},
    Field{"iw", &Problem::iw},   Field{"kh", &Problem::kh},         Field{"kw", &Problem::kw},
    Field{"sh", &Problem::sh},   Field{"sw", &Problem::sw},         Field{"dh", &Problem::dh},
    Field{"dw", &Problem::dw},   Field{"pt", &Problem::pt},         Field{"pb", &Problem::pb},
    Field{"pl", &Problem::pl},   Field{"pr", &Problem::pr},         Field{"zi", &Problem::zi},
    Field{"zo", &Problem::zo},   Field{"zw", &Problem::zw},         Field{"up", &Problem::up},
    Field{"pc", &Problem::pc},   Field{"spread", &Problem::spread}, Field{"gain", &Problem::gain},
    Field{"act", &Problem::act}, Field{"bias", &Problem::bias},     Field{"dead", &Problem::dead},
    Field{"raw", &Problem::raw}, Field{"banks", &Problem::banks},   Field{"seed", &Problem::seed}};

bool IsDepthwise(Kind k) {
  return k == Kind::kDepthwise || k == Kind::kAveragePool || k == Kind::kMean;
}

int OutputExtent(int in, int before, int after, int k, int s, int d) {
  return (in + before + after - ((k - 1) * d + 1)) / s + 1;
}

int Uniform(std::mt19937& random, int lo, int hi) {
  return std::uniform_int_distribution<int>(lo, hi)(random);
}

// Small values often, large ones sometimes.
int Skewed(std::mt19937& random, int lo, int hi) {
  return std::min(Uniform(random, lo, hi), Uniform(random, lo, hi));
}

bool OneIn(std::mt19937& random, int n) { return Uniform(random, 1, n) == 1; }

void RandomGeometry(std::mt19937& random, Problem* p) {
  constexpr std::array kKernels = {1, 1, 1, 2, 3, 3, 3, 3, 4, 5, 7, 11};
  p->kh = kKernels[static_cast<size_t>(Uniform(random, 0, 11))];
  p->kw = OneIn(random, 3) ? kKernels[static_cast<size_t>(Uniform(random, 0, 11))] : p->kh;
  p->sh = OneIn(random, 2) ? 1 : Uniform(random, 1, 4);
  p->sw = OneIn(random, 3) ? Uniform(random, 1, 4) : p->sh;
  if (OneIn(random, 4)) p->dh = Uniform(random, 1, 3);
  if (OneIn(random, 4)) p->dw = Uniform(random, 1, 3);
  p->ih = OneIn(random, 8) ? Uniform(random, 1, 3) : Skewed(random, 1, 26);
  p->iw = OneIn(random, 8) ? Uniform(random, 1, 3) : Skewed(random, 1, 26);
  const int eh = (p->kh - 1) * p->dh, ew = (p->kw - 1) * p->dw;
  p->pt = std::min(15, Uniform(random, 0, eh));
  p->pb = Uniform(random, 0, eh);
  p->pl = std::min(15, Uniform(random, 0, ew));
  p->pr = Uniform(random, 0, ew);
}

// Planes that exceed a small buffer by rows, with halo and padding: bands read in place.
void RandomBands(std::mt19937& random, Problem* p) {
  constexpr std::array kKernels = {1, 2, 3, 3, 5};
  p->banks = Uniform(random, 3, 4);
  p->ic = Uniform(random, 17, 96);
  p->oc = Uniform(random, 1, 48);
  p->ih = Uniform(random, 20, 60);
  p->iw = Uniform(random, 20, 48);
  p->kh = kKernels[static_cast<size_t>(Uniform(random, 0, 4))];
  p->kw = kKernels[static_cast<size_t>(Uniform(random, 0, 4))];
  p->sh = Uniform(random, 1, 3);
  p->sw = Uniform(random, 1, 3);
  p->dh = OneIn(random, 4) ? 2 : 1;
  p->dw = 1;
  p->pt = Uniform(random, 0, (p->kh - 1) * p->dh);
  p->pb = Uniform(random, 0, (p->kh - 1) * p->dh);
  p->pl = Uniform(random, 0, p->kw - 1);
  p->pr = Uniform(random, 0, p->kw - 1);
}

void RandomQuantization(std::mt19937& random, Problem* p) {
  p->zi = OneIn(random, 4) ? -128 : Uniform(random, -128, 127);
  p->zo = OneIn(random, 3) ? -128 : Uniform(random, -128, 127);
  p->zw = OneIn(random, 2) ? Uniform(random, -128, 127) : 0;
  p->up = p->kind == Kind::kAveragePool && OneIn(random, 2) ? 1 : 0;
  p->pc = OneIn(random, 2) ? 1 : 0;
  constexpr std::array kSpreads = {1, 3, 30, 300, 10000};
  if (p->pc != 0) p->spread = kSpreads[static_cast<size_t>(Uniform(random, 0, 4))];
  p->gain = OneIn(random, 6) ? Uniform(random, -34, 9) : Uniform(random, -2, 3);
  p->act = Uniform(random, 0, 2);
  p->bias = OneIn(random, 10) ? 2 : Uniform(random, 0, 1);
  p->dead = OneIn(random, 8) ? 1 : 0;
  p->raw = p->kind == Kind::kConv && OneIn(random, 8) ? 1 : 0;
}

double Unit(std::mt19937& random) {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random);
}

// A multiplier with which typical sums of `taps` products fill the output range.
double TypicalMultiplier(const Problem& p, int64_t taps) {
  return 64.0 / (std::sqrt(static_cast<double>(taps)) * 74.0 * 74.0) * std::ldexp(1.0, p.gain);
}

void MakeMultipliers(const Problem& p, std::mt19937& random, int64_t taps, Data* data) {
  const double base = TypicalMultiplier(p, taps) * (0.5 + Unit(random));
  data->multipliers.assign(p.pc != 0 ? static_cast<size_t>(p.oc) : 1, base);
  for (double& m : data->multipliers) m *= std::pow(static_cast<double>(p.spread), -Unit(random));
  if (p.dead == 0 || p.pc == 0) return;
  constexpr std::array kOdd = {0.0, 1e-42, 1e-12, 3e-10, 1e3};
  for (size_t c = 0; c < data->multipliers.size(); ++c) {
    if (!OneIn(random, 5)) continue;
    data->multipliers[c] = kOdd[static_cast<size_t>(Uniform(random, 0, 4))];
    // A huge scale belongs to a channel whose weights vanished in training.
    const auto kernel = static_cast<std::ptrdiff_t>(data->weights.size()) / p.oc;
    if (data->multipliers[c] > 1.0 || OneIn(random, 2)) {
      std::fill_n(data->weights.begin() + static_cast<std::ptrdiff_t>(c) * kernel, kernel,
                  static_cast<int8_t>(p.zw));
    }
  }
}

void MakeBias(const Problem& p, std::mt19937& random, Data* data) {
  if (p.bias == 0) return;
  for (int c = 0; c < p.oc; ++c) {
    const double m = data->multipliers[p.pc != 0 ? static_cast<size_t>(c) : 0];
    double b = (Unit(random) * 200.0 - 100.0) / std::max(m, 1e-300);
    if (p.bias == 2 && OneIn(random, 4)) b = std::ldexp(OneIn(random, 2) ? 1.0 : -1.0, 30);
    data->bias.push_back(static_cast<int32_t>(std::clamp(b, -1.07e9, 1.07e9)));
  }
}

}  // namespace

std::string ToString(const Problem& problem) {
  std::string line;
  for (const KindName& k : kKinds) {
    if (k.kind == problem.kind) line = k.name;
  }
  for (const Field& f : kFields) {
    line.append(1, ' ').append(f.name).append(std::to_string(problem.*f.member));
  }
  return line.append(" i8");
}

std::optional<Problem> Parse(std::string_view line) {
  Problem p;
  bool first = true;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty() || word == "i8") continue;
    const size_t digits = word.find_first_of("-0123456789");
    if (first) {
      const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                     [&](const KindName& k) { return k.name == word; });
      if (kind == kKinds.end()) return std::nullopt;
      p.kind = kind->kind;
      first = false;
      continue;
    }
    const auto field = std::find_if(kFields.begin(), kFields.end(), [&](const Field& f) {
      return f.name == word.substr(0, digits);
    });
    if (field == kFields.end() || digits == std::string_view::npos) return std::nullopt;
    const std::string_view number = word.substr(digits);
    const auto [rest, error] =
        std::from_chars(number.data(), number.data() + number.size(), p.*field->member);
    if (error != std::errc{} || rest != number.data() + number.size()) return std::nullopt;
  }
  return p;
}

oracle::ConvShape ShapeOf(const Problem& p) {
  return {.depthwise = IsDepthwise(p.kind),
          .ic = p.ic,
          .ih = p.ih,
          .iw = p.iw,
          .oc = p.oc,
          .oh = OutputExtent(p.ih, p.pt, p.pb, p.kh, p.sh, p.dh),
          .ow = OutputExtent(p.iw, p.pl, p.pr, p.kw, p.sw, p.dw),
          .kh = p.kh,
          .kw = p.kw,
          .sh = p.sh,
          .sw = p.sw,
          .dh = p.dh,
          .dw = p.dw,
          .pad_top = p.pt,
          .pad_left = p.pl};
}

bool IsValid(const Problem& p) {
  const int eh = (p.kh - 1) * p.dh + 1, ew = (p.kw - 1) * p.dw + 1;
  if (p.ih + p.pt + p.pb < eh || p.iw + p.pl + p.pr < ew) return false;
  if (p.pt >= eh || p.pl >= ew) return false;
  const oracle::ConvShape s = ShapeOf(p);
  if ((s.oh - 1) * p.sh - p.pt >= p.ih || (s.ow - 1) * p.sw - p.pl >= p.iw) return false;
  if (IsDepthwise(p.kind) && (p.ic != p.oc || p.raw != 0)) return false;
  if (p.kind == Kind::kMean && (p.kh != p.ih || p.kw != p.iw)) return false;
  if (p.kind == Kind::kAveragePool || p.kind == Kind::kMean) {
    if (p.pt + p.pb + p.pl + p.pr + p.zw != 0 || p.dh != 1 || p.dw != 1) return false;
  }
  return true;
}

Problem Random(std::mt19937& random, int64_t max_macs) {
  while (true) {
    Problem p;
    const int kind = Uniform(random, 0, 19);
    p.kind = kind < 11   ? Kind::kConv
             : kind < 16 ? Kind::kDepthwise
             : kind < 18 ? Kind::kFullyConnected
             : kind < 19 ? Kind::kAveragePool
                         : Kind::kMean;
    p.seed = Uniform(random, 1, 1 << 30);
    p.ic = OneIn(random, 6) ? Uniform(random, 1, 4) : Skewed(random, 1, 200);
    p.oc = Skewed(random, 1, 200);
    if (OneIn(random, 3)) p.banks = Uniform(random, 3, 12);
    RandomGeometry(random, &p);
    const bool bands = kind < 16 && OneIn(random, 4);
    if (bands) RandomBands(random, &p);
    RandomQuantization(random, &p);
    if (IsDepthwise(p.kind)) p.oc = p.ic;
    if (p.kind == Kind::kFullyConnected) {
      p = {.kind = p.kind,
           .ic = Skewed(random, 1, 2000),
           .oc = Skewed(random, 1, 600),
           .ih = p.ih,
           .zi = p.zi,
           .zo = p.zo,
           .zw = p.zw,
           .pc = p.pc,
           .spread = p.spread,
           .gain = p.gain,
           .act = p.act,
           .bias = p.bias,
           .dead = p.dead,
           .banks = p.banks,
           .seed = p.seed};
      if (OneIn(random, 2)) p.ih = 1;
    }
    if (p.kind == Kind::kAveragePool || p.kind == Kind::kMean) {
      p.pt = p.pb = p.pl = p.pr = p.pc = p.act = p.bias = p.dead = p.zw = 0;
      p.dh = p.dw = p.spread = 1;
    }
    if (p.kind == Kind::kMean) {
      p.kh = p.ih;
      p.kw = p.iw;
      p.sh = p.sw = 1;
    }
    if (!IsValid(p)) continue;
    const oracle::ConvShape s = ShapeOf(p);
    const auto lanes = [](int c) { return int64_t{(c + 31) / 32 * 32}; };
    const int64_t macs = lanes(s.oc) * s.oh * s.ow * s.kh * s.kw * (s.depthwise ? 1 : lanes(s.ic));
    if (macs <= (bands ? 2 * max_macs : max_macs)) return p;
  }
}

std::vector<Problem> Smaller(const Problem& problem) {
  std::vector<Problem> out;
  for (const Field& f : kFields) {
    if (f.name == "seed") continue;
    const int v = problem.*f.member;
    const bool banks = f.name == "banks";
    for (const int target : {banks ? 12 : 0, 1, v / 2, v - (v > 0 ? 1 : -1)}) {
      // Strictly simpler, so that minimising ends.
      if (banks ? target <= v : std::abs(target) >= std::abs(v)) continue;
      Problem p = problem;
      p.*f.member = target;
      if (IsDepthwise(p.kind) && f.name == "ic") p.oc = p.ic;
      if (p.kind == Kind::kMean) {
        p.kh = p.ih;
        p.kw = p.iw;
      }
      const bool positive = p.ic > 0 && p.oc > 0 && p.ih > 0 && p.iw > 0 && p.kh > 0 && p.kw > 0 &&
                            p.sh > 0 && p.sw > 0 && p.dh > 0 && p.dw > 0 && p.spread > 0;
      if (positive && IsValid(p) && p != problem) out.push_back(p);
    }
  }
  return out;
}

Data MakeData(const Problem& p) {
  std::mt19937 random(static_cast<uint32_t>(p.seed));
  const bool unit = p.kind == Kind::kAveragePool || p.kind == Kind::kMean;
  const int64_t taps = int64_t{p.kh} * p.kw * (IsDepthwise(p.kind) ? 1 : p.ic);
  Data data;
  data.input.resize(static_cast<size_t>(p.ih) * static_cast<size_t>(p.iw) *
                    static_cast<size_t>(p.ic));
  for (int8_t& v : data.input) v = static_cast<int8_t>(Uniform(random, -128, 127));
  data.weights.resize(static_cast<size_t>(taps * p.oc));
  for (int8_t& v : data.weights) {
    v = unit ? int8_t{1} : static_cast<int8_t>(Uniform(random, -127, 127));
  }
  if (unit) {
    // MEAN: in_scale / out_scale; the average pool has none.
    data.multipliers = {std::ldexp(0.5 + Unit(random), std::clamp(p.gain, -20, 6))};
    return data;
  }
  MakeMultipliers(p, random, taps, &data);
  MakeBias(p, random, &data);
  if (p.act != 0) data.clamp_lo = p.zo;
  if (p.act == 2) data.clamp_hi = std::min(127, p.zo + Uniform(random, 1, 255));
  return data;
}

}  // namespace npu::conformance
