// SPDX-License-Identifier: Apache-2.0
#include "src/host/simd.h"

#include <algorithm>

#include "src/arith/tflite.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/simd.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void DotTileSimd(const int16_t* HWY_RESTRICT patches, const int16_t* HWY_RESTRICT weights,
                 size_t depth, size_t channels, int32_t* HWY_RESTRICT sums) {
  // At most kDotDepth lanes, so that `depth` is always whole vectors.
  const hn::CappedTag<int16_t, kDotDepth> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  using V = hn::Vec<decltype(d32)>;
  const size_t lanes = hn::Lanes(d16);
  for (size_t o = 0; o < channels; o += kDotChannels) {
    const int16_t* w0 = weights + o * depth;
    const int16_t* w1 = w0 + depth;
    V a00 = hn::Zero(d32), a01 = a00, a10 = a00, a11 = a00, a20 = a00, a21 = a00, a30 = a00,
      a31 = a00;
    V b00 = a00, b01 = a00, b10 = a00, b11 = a00, b20 = a00, b21 = a00, b30 = a00, b31 = a00;
    for (size_t k = 0; k < depth; k += lanes) {
      const auto wa = hn::LoadU(d16, w0 + k);
      const auto wb = hn::LoadU(d16, w1 + k);
      const auto p0 = hn::LoadU(d16, patches + k);
      a00 = hn::ReorderWidenMulAccumulate(d32, p0, wa, a00, b00);
      a01 = hn::ReorderWidenMulAccumulate(d32, p0, wb, a01, b01);
      const auto p1 = hn::LoadU(d16, patches + depth + k);
      a10 = hn::ReorderWidenMulAccumulate(d32, p1, wa, a10, b10);
      a11 = hn::ReorderWidenMulAccumulate(d32, p1, wb, a11, b11);
      const auto p2 = hn::LoadU(d16, patches + 2 * depth + k);
      a20 = hn::ReorderWidenMulAccumulate(d32, p2, wa, a20, b20);
      a21 = hn::ReorderWidenMulAccumulate(d32, p2, wb, a21, b21);
      const auto p3 = hn::LoadU(d16, patches + 3 * depth + k);
      a30 = hn::ReorderWidenMulAccumulate(d32, p3, wa, a30, b30);
      a31 = hn::ReorderWidenMulAccumulate(d32, p3, wb, a31, b31);
    }
    int32_t* to = sums + o;
    to[0] = hn::ReduceSum(d32, hn::Add(a00, b00));
    to[1] = hn::ReduceSum(d32, hn::Add(a01, b01));
    to += channels;
    to[0] = hn::ReduceSum(d32, hn::Add(a10, b10));
    to[1] = hn::ReduceSum(d32, hn::Add(a11, b11));
    to += channels;
    to[0] = hn::ReduceSum(d32, hn::Add(a20, b20));
    to[1] = hn::ReduceSum(d32, hn::Add(a21, b21));
    to += channels;
    to[0] = hn::ReduceSum(d32, hn::Add(a30, b30));
    to[1] = hn::ReduceSum(d32, hn::Add(a31, b31));
  }
}

// kWide: the products need 32 bits.
template <bool kWide>
HWY_INLINE void DepthwiseTaps(const DepthwiseTap* HWY_RESTRICT taps, size_t tap_count, int16_t zero,
                              size_t channels, int32_t* HWY_RESTRICT sums) {
  const hn::CappedTag<int16_t, 16> d16;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const size_t lanes = hn::Lanes(d16);
  const auto offset = hn::Set(d16, zero);
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto low = hn::Zero(d32);
    auto high = hn::Zero(d32);
    for (size_t t = 0; t < tap_count; ++t) {
      const auto x = hn::Sub(hn::PromoteTo(d16, hn::LoadU(d8, taps[t].input + c)), offset);
      const auto w = hn::LoadU(d16, taps[t].weights + c);
      if constexpr (kWide) {
        low = hn::MulAdd(hn::PromoteLowerTo(d32, x), hn::PromoteLowerTo(d32, w), low);
        high = hn::MulAdd(hn::PromoteUpperTo(d32, x), hn::PromoteUpperTo(d32, w), high);
      } else {
        const auto product = hn::Mul(x, w);
        low = hn::Add(low, hn::PromoteLowerTo(d32, product));
        high = hn::Add(high, hn::PromoteUpperTo(d32, product));
      }
    }
    hn::StoreU(low, d32, sums + c);
    hn::StoreU(high, d32, sums + c + lanes / 2);
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    for (size_t t = 0; t < tap_count; ++t) {
      sum += (taps[t].input[c] - zero) * taps[t].weights[c];
    }
    sums[c] = sum;
  }
}

void DepthwiseSpanSimd(const DepthwiseTap* taps, size_t tap_count, int16_t zero, size_t channels,
                       int32_t* sums) {
  DepthwiseTaps<false>(taps, tap_count, zero, channels, sums);
}

void DepthwiseSpanWideSimd(const DepthwiseTap* taps, size_t tap_count, int16_t zero,
                           size_t channels, int32_t* sums) {
  DepthwiseTaps<true>(taps, tap_count, zero, channels, sums);
}

void RequantizeDoubleSimd(const int32_t* HWY_RESTRICT values, const RequantizeArrays& arrays,
                          size_t count, int32_t zero_point, int32_t low, int32_t high,
                          int8_t* HWY_RESTRICT out) {
  const hn::CappedTag<int32_t, 8> d32;
  const hn::RepartitionToWide<decltype(d32)> d64;
  const hn::Rebind<int8_t, decltype(d32)> d8;
  const size_t lanes = hn::Lanes(d32);
  const auto zero = hn::Zero(d32);
  const auto one = hn::Set(d32, 1);
  const auto rounding = hn::Set(d64, int64_t{1} << 30);
  // Clamped before the zero point is added: the sum cannot overflow.
  const auto floor = hn::Set(d32, low - zero_point);
  const auto ceiling = hn::Set(d32, high - zero_point);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto x = hn::Add(hn::LoadU(d32, values + i), hn::LoadU(d32, arrays.bias + i));
    x = hn::Shl(x, hn::LoadU(d32, arrays.left + i));
    const auto m = hn::LoadU(d32, arrays.multiplier + i);
    // floor((x * m + 2^30) / 2^31): the upper half of twice the sum, from even and odd lanes.
    const auto even = hn::ShiftLeft<1>(hn::Add(hn::MulEven(x, m), rounding));
    const auto odd = hn::ShiftLeft<1>(hn::Add(hn::MulOdd(x, m), rounding));
    const auto h = hn::OddEven(hn::BitCast(d32, odd), hn::DupOdd(hn::BitCast(d32, even)));
    // h / 2^right, ties away from zero, by remainder.
    const auto right = hn::LoadU(d32, arrays.right + i);
    const auto mask = hn::Sub(hn::Shl(one, right), one);
    const auto negative = hn::IfThenElseZero(hn::Lt(h, zero), one);
    const auto threshold = hn::Add(hn::ShiftRight<1>(mask), negative);
    const auto up = hn::IfThenElseZero(hn::Gt(hn::And(h, mask), threshold), one);
    auto y = hn::Add(hn::Shr(h, right), up);
    y = hn::Add(hn::Min(hn::Max(y, floor), ceiling), hn::Set(d32, zero_point));
    hn::StoreU(hn::DemoteTo(d8, y), d8, out + i);
  }
  for (; i < count; ++i) {
    const auto sum = static_cast<int32_t>(static_cast<uint32_t>(values[i]) +
                                          static_cast<uint32_t>(arrays.bias[i]));
    const arith::QuantizedMultiplier m{arrays.multiplier[i], arrays.left[i] - arrays.right[i]};
    const int64_t y = int64_t{arith::MultiplyByQuantizedMultiplier(sum, m)} + zero_point;
    out[i] = static_cast<int8_t>(std::clamp<int64_t>(y, low, high));
  }
}

}  // namespace npu::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::host {

HWY_EXPORT(DotTileSimd);
HWY_EXPORT(DepthwiseSpanSimd);
HWY_EXPORT(DepthwiseSpanWideSimd);
HWY_EXPORT(RequantizeDoubleSimd);

void DotTile(const int16_t* patches, const int16_t* weights, size_t depth, size_t channels,
             int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(DotTileSimd)(patches, weights, depth, channels, sums);
}

void DepthwiseSpan(const DepthwiseTap* taps, size_t tap_count, int16_t zero, size_t channels,
                   int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(DepthwiseSpanSimd)(taps, tap_count, zero, channels, sums);
}

void DepthwiseSpanWide(const DepthwiseTap* taps, size_t tap_count, int16_t zero, size_t channels,
                       int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(DepthwiseSpanWideSimd)(taps, tap_count, zero, channels, sums);
}

void RequantizeDouble(const int32_t* values, const RequantizeArrays& arrays, size_t count,
                      int32_t zero_point, int32_t low, int32_t high, int8_t* out) {
  HWY_DYNAMIC_DISPATCH(RequantizeDoubleSimd)
  (values, arrays, count, zero_point, low, high, out);
}

}  // namespace npu::host
#endif  // HWY_ONCE
