// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/elementwise_oracle.h"

#include <algorithm>
#include <cstdlib>

#include "tests/oracle/conv_oracle.h"

namespace npu::oracle {
namespace {

int64_t Saturate32(int64_t v) {
  return std::clamp<int64_t>(v, -(int64_t{1} << 31), (int64_t{1} << 31) - 1);
}

int64_t RoundHalfAway(int64_t p, int s) {
  const int64_t d = int64_t{1} << s;
  const int64_t magnitude = (2 * std::abs(p) + d) / (2 * d);
  return p < 0 ? -magnitude : magnitude;
}

}  // namespace

int SiliconElement(const ElementwiseStages& s, int a, int b) {
  int64_t w = Saturate32((a + s.a_addend) * s.a_multiplier);
  const int64_t e = Saturate32(RoundHalfEven((b + s.b_addend) * s.b_multiplier, s.b_shift));
  if (s.op == '+') w = Saturate32(w + e);
  if (s.op == '-') w = Saturate32(w - e);
  if (s.op == '>') w = std::max(w, e);
  if (s.op == '<') w = std::min(w, e);
  if (s.relu || s.relux) w = std::max<int64_t>(w, 0);
  if (s.relux) w = std::min(w, s.limit);
  const int64_t rounded =
      s.half_away ? RoundHalfAway(w * s.scale, s.shift) : RoundHalfEven(w * s.scale, s.shift);
  return static_cast<int>(std::clamp<int64_t>(rounded + s.offset, -128, 127));
}

int ReferenceAdd(int a, int b, bool subtract, Quant qa, Quant qb, Quant out, int lo, int hi) {
  const double t = 2.0 * static_cast<double>(std::max(qa.s, qb.s));
  const Multiplier ma = QuantizeMultiplier(static_cast<double>(qa.s) / t);
  const Multiplier mb = QuantizeMultiplier(static_cast<double>(qb.s) / t);
  const Multiplier mo = QuantizeMultiplier(t / static_cast<double>(1048576.0F * out.s));
  const int64_t va = RequantizeDouble(int64_t{a - qa.z} * 1048576, ma);
  const int64_t vb = RequantizeDouble(int64_t{b - qb.z} * 1048576, mb);
  const int64_t y = RequantizeDouble(subtract ? va - vb : va + vb, mo) + out.z;
  return static_cast<int>(std::clamp<int64_t>(y, lo, hi));
}

int ReferenceRescale(int q, Quant in, Quant out, bool in_float, int lo, int hi) {
  const double ratio =
      in_float ? static_cast<double>(in.s / out.s) : static_cast<double>(in.s) / out.s;
  const int64_t y = RequantizeDouble(q - in.z, QuantizeMultiplier(ratio)) + out.z;
  return static_cast<int>(std::clamp<int64_t>(y, lo, hi));
}

std::vector<int> MaxPool(const PoolShape& s, const std::vector<int8_t>& x) {
  std::vector<int> out;
  for (int y = 0; y < s.oh; ++y) {
    for (int xo = 0; xo < s.ow; ++xo) {
      for (int c = 0; c < s.c; ++c) {
        int best = -128;
        for (int ky = 0; ky < s.kh; ++ky) {
          for (int kx = 0; kx < s.kw; ++kx) {
            const int iy = y * s.sh + ky - s.pad_top, ix = xo * s.sw + kx - s.pad_left;
            if (iy < 0 || iy >= s.ih || ix < 0 || ix >= s.iw) continue;
            best = std::max<int>(best, x[static_cast<size_t>((iy * s.iw + ix) * s.c + c)]);
          }
        }
        out.push_back(best);
      }
    }
  }
  return out;
}

}  // namespace npu::oracle
