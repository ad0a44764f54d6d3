// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/conv_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace npu::oracle {
namespace {

// Calls tap(oc, x index or -1, w index) for every product of output (oc, y, xo).
template <typename Tap>
void ForEachTap(const ConvShape& s, int oc, int y, int xo, Tap tap) {
  for (int ky = 0; ky < s.kh; ++ky) {
    for (int kx = 0; kx < s.kw; ++kx) {
      const int iy = y * s.sh + ky * s.dh - s.pad_top;
      const int ix = xo * s.sw + kx * s.dw - s.pad_left;
      const bool inside = iy >= 0 && iy < s.ih && ix >= 0 && ix < s.iw;
      const int first = s.depthwise ? oc : 0, last = s.depthwise ? oc : s.ic - 1;
      for (int ic = first; ic <= last; ++ic) {
        const int64_t xi = inside ? (int64_t{iy} * s.iw + ix) * s.ic + ic : -1;
        int64_t wi = (int64_t{oc} * s.kh + ky) * s.kw + kx;
        if (!s.depthwise) wi = wi * s.ic + ic;
        tap(xi, wi);
      }
    }
  }
}

template <typename Sum>
std::vector<int64_t> ForEachOutput(const ConvShape& s, Sum sum) {
  std::vector<int64_t> out;
  for (int y = 0; y < s.oh; ++y) {
    for (int x = 0; x < s.ow; ++x) {
      for (int oc = 0; oc < s.oc; ++oc) out.push_back(sum(oc, y, x));
    }
  }
  return out;
}

int64_t Saturate32(int64_t v) {
  return std::clamp<int64_t>(v, -(int64_t{1} << 31), (int64_t{1} << 31) - 1);
}

// floor(p / 2^s)
int64_t FloorShift(int64_t p, int s) {
  const int64_t d = int64_t{1} << s;
  return p >= 0 ? p / d : -((-p + d - 1) / d);
}

}  // namespace

std::vector<int64_t> SiliconSums(const ConvShape& s, const std::vector<int8_t>& x,
                                 const std::vector<int8_t>& w, int pad, int w0) {
  return ForEachOutput(s, [&](int oc, int y, int xo) {
    int64_t sum = 0, window = 0;
    ForEachTap(s, oc, y, xo, [&](int64_t xi, int64_t wi) {
      const int64_t value = xi < 0 ? pad : x[static_cast<size_t>(xi)];
      sum += value * w[static_cast<size_t>(wi)];
      window += value;
    });
    return sum - w0 * window;
  });
}

int64_t RoundHalfEven(int64_t p, int s) {
  if (s == 0) return p;
  if (s > 61) return 0;  // |p| < 2^60 here
  const int64_t floor = FloorShift(p, s);
  const int64_t rest = p - floor * (int64_t{1} << s);
  const int64_t half = int64_t{1} << (s - 1);
  if (rest > half) return floor + 1;
  if (rest == half) return floor % 2 == 0 ? floor : floor + 1;
  return floor;
}

int8_t SiliconOutput(const SiliconPost& post, int channel, int64_t sum) {
  const auto c = static_cast<size_t>(channel);
  int64_t v = sum + post.addend[c];
  if (!post.multiplier.empty()) v = RoundHalfEven(v * post.multiplier[c], post.bs_shift);
  v = Saturate32(v);
  if (post.relu) v = std::max<int64_t>(v, 0);
  if (post.relux) v = std::min<int64_t>(v, post.relux_limit);
  const int64_t y = RoundHalfEven(v * post.scale, post.shift) + post.offset;
  return static_cast<int8_t>(std::clamp<int64_t>(y, -128, 127));
}

std::vector<int64_t> ReferenceSums(const ConvShape& s, const std::vector<int8_t>& x,
                                   const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                                   int x0, int w0) {
  return ForEachOutput(s, [&](int oc, int y, int xo) {
    int64_t sum = bias.empty() ? 0 : bias[static_cast<size_t>(oc)];
    ForEachTap(s, oc, y, xo, [&](int64_t xi, int64_t wi) {
      if (xi >= 0) {
        sum += int64_t{x[static_cast<size_t>(xi)] - x0} * (w[static_cast<size_t>(wi)] - w0);
      }
    });
    return sum;
  });
}

Multiplier QuantizeMultiplier(double real) {
  if (real == 0.0) return {};
  int e = 0;
  const double f = std::frexp(real, &e);
  auto m = static_cast<int64_t>(std::round(f * 2147483648.0));
  if (m == int64_t{1} << 31) {
    m /= 2;
    ++e;
  }
  if (e < -31) return {};
  return {m, e};
}

Multiplier MeanMultiplier(double real, int64_t n) {
  const Multiplier q = QuantizeMultiplier(real);
  int k = 0;
  while ((int64_t{2} << k) <= n) ++k;
  k = std::min({k, 32, 31 + q.e});
  return {static_cast<int64_t>((static_cast<__int128>(q.m) << k) / n), q.e - k};
}

int64_t RequantizeDouble(int64_t acc, Multiplier m) {
  if (m.m == 0) return 0;
  const int left = std::max(m.e, 0), right = std::max(-m.e, 0);
  const auto x = static_cast<int32_t>(static_cast<uint32_t>(acc) << left);
  const int64_t high = FloorShift(x * m.m + (int64_t{1} << 30), 31);
  const int64_t divisor = int64_t{1} << right;
  const int64_t magnitude = (2 * std::abs(high) + divisor) / (2 * divisor);
  return high < 0 ? -magnitude : magnitude;
}

int64_t RequantizeSingle(int64_t acc, Multiplier m) {
  if (m.m == 0) return 0;
  const __int128 divisor = static_cast<__int128>(1) << (31 - m.e);
  const __int128 magnitude =
      (2 * static_cast<__int128>(std::abs(acc)) * m.m + divisor) / (2 * divisor);
  const auto y = static_cast<int64_t>(magnitude);
  return Saturate32(acc < 0 ? -y : y);
}

int64_t AveragePoolUint8(int64_t sum, int64_t n) { return (sum + 128 * n + n / 2) / n - 128; }

int64_t AveragePool(int64_t sum, int64_t n) {
  return sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n;
}

}  // namespace npu::oracle
