// SPDX-License-Identifier: Apache-2.0
#include "src/host/dot.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/dot.cc"
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

}  // namespace npu::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::host {

HWY_EXPORT(DotTileSimd);

void DotTile(const int16_t* patches, const int16_t* weights, size_t depth, size_t channels,
             int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(DotTileSimd)(patches, weights, depth, channels, sums);
}

}  // namespace npu::host
#endif  // HWY_ONCE
