// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_kernels.h"

#include <cstring>

// AVX3_DL has the byte dot product; what SPR and ZEN4 add is of no use here. SVE's sizeless types
// cannot be held in structs; such chips run NEON. Each target left out is seconds of compilation.
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3 | HWY_AVX3_SPR | HWY_AVX3_ZEN4)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/sim/fast_kernels.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::sim::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DI32 = hn::CappedTag<int32_t, 16>;
using DU32 = hn::RebindToUnsigned<DI32>;
using DI8 = hn::Repartition<int8_t, DI32>;
using DU8 = hn::Repartition<uint8_t, DI32>;

// Two vectors of output channels times this many pixels stay in registers.
#if HWY_TARGET <= HWY_AVX3
constexpr int kTilePixels = 14;
#elif HWY_ARCH_ARM_A64
constexpr int kTilePixels = 12;
#else
constexpr int kTilePixels = 4;
#endif

size_t Block() { return 2 * hn::Lanes(DI32()); }

HWY_INLINE hn::VFromD<DU8> BroadcastQuad(const uint8_t* p) {
  uint32_t quad;
  std::memcpy(&quad, p, sizeof(quad));
  return hn::BitCast(DU8(), hn::Set(DU32(), quad));
}

#define NPU_FOR_PIXELS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13)

// kPixels consecutive output pixels, one block of channels; sums go to sums[pixel * 32].
template <int kPixels>
HWY_NOINLINE void DirectTile(const uint8_t* HWY_RESTRICT input, std::span<const int64_t> taps,
                             const int8_t* HWY_RESTRICT weights, const int32_t* HWY_RESTRICT init,
                             int32_t* HWY_RESTRICT sums) {
  const DI32 d;
  const DI8 d8;
  const size_t n = hn::Lanes(d);
  const auto init0 = hn::LoadU(d, init);
  const auto init1 = hn::LoadU(d, init + n);
#define NPU_DECLARE(i)                  \
  [[maybe_unused]] auto low##i = init0; \
  [[maybe_unused]] auto high##i = init1;
  NPU_FOR_PIXELS(NPU_DECLARE)
#undef NPU_DECLARE
  for (const int64_t tap : taps) {
    const uint8_t* HWY_RESTRICT quad = input + tap;
    const auto w0 = hn::Load(d8, weights);
    const auto w1 = hn::Load(d8, weights + 4 * n);
#define NPU_STEP(i)                                          \
  if constexpr (kPixels > i) {                               \
    const auto x = BroadcastQuad(quad + kAtom * i);          \
    low##i = hn::SumOfMulQuadAccumulate(d, x, w0, low##i);   \
    high##i = hn::SumOfMulQuadAccumulate(d, x, w1, high##i); \
  }
    NPU_FOR_PIXELS(NPU_STEP)
#undef NPU_STEP
    weights += 8 * n;
  }
#define NPU_STORE(i)                                     \
  if constexpr (kPixels > i) {                           \
    hn::StoreU(low##i, d, sums + kKernelGroup * i);      \
    hn::StoreU(high##i, d, sums + kKernelGroup * i + n); \
  }
  NPU_FOR_PIXELS(NPU_STORE)
#undef NPU_STORE
}

// Calls DirectTile<kPixels> for a number of pixels known at run time, 1..kMost.
template <int kMost>
HWY_INLINE void DirectTileOf(size_t pixels, const uint8_t* input, const DirectRow& row,
                             const int8_t* weights, const int32_t* init, int32_t* sums) {
  if constexpr (kMost > 1) {
    if (pixels < static_cast<size_t>(kMost)) {
      DirectTileOf<kMost - 1>(pixels, input, row, weights, init, sums);
      return;
    }
  }
  DirectTile<kMost>(input, row.taps, weights, init, sums);
}

void Direct(const DirectRow& row) {
  const size_t block = Block();
  const size_t tiles = (row.pixels + kTilePixels - 1) / kTilePixels;
  const int8_t* weights = row.weights;
  for (size_t channel = 0; channel < kKernelGroup; channel += block) {
    for (size_t tile = 0; tile < tiles; ++tile) {  // tiles of nearly equal size
      const size_t begin = row.pixels * tile / tiles;
      const size_t end = row.pixels * (tile + 1) / tiles;
      DirectTileOf<kTilePixels>(end - begin, row.input + kAtom * begin, row, weights,
                                row.init + channel, row.sums + kKernelGroup * begin + channel);
    }
    weights += row.taps.size() * block * 4;
  }
}

// A vector holds one atom (16 channels) of several pixels. Interleaving four taps byte by byte puts
// the four products of one channel side by side, as the dot product wants them.
void Depthwise(const DepthwiseRow& row) {
  const DI32 d;
  const DI8 d8;
  const DU8 du8;
  const hn::Repartition<uint16_t, DI32> du16;
  const size_t pixels_per_vector = hn::Lanes(du8) / kAtom;
  const auto init0 = hn::LoadDup128(d, row.init);
  const auto init1 = hn::LoadDup128(d, row.init + 4);
  const auto init2 = hn::LoadDup128(d, row.init + 8);
  const auto init3 = hn::LoadDup128(d, row.init + 12);
  HWY_ALIGN int32_t lanes[4 * 16];
  for (size_t p = 0; p < row.pixels; p += pixels_per_vector) {
    auto sum0 = init0, sum1 = init1, sum2 = init2, sum3 = init3;
    const uint8_t* HWY_RESTRICT pixel = row.input + kAtom * p;
    const int8_t* HWY_RESTRICT w = row.weights;
    for (size_t t = 0; t < row.taps.size(); t += 4, w += 64) {
      const auto x0 = hn::LoadU(du8, pixel + row.taps[t]);
      const auto x1 = hn::LoadU(du8, pixel + row.taps[t + 1]);
      const auto x2 = hn::LoadU(du8, pixel + row.taps[t + 2]);
      const auto x3 = hn::LoadU(du8, pixel + row.taps[t + 3]);
      const auto low01 = hn::BitCast(du16, hn::InterleaveLower(du8, x0, x1));
      const auto low23 = hn::BitCast(du16, hn::InterleaveLower(du8, x2, x3));
      const auto high01 = hn::BitCast(du16, hn::InterleaveUpper(du8, x0, x1));
      const auto high23 = hn::BitCast(du16, hn::InterleaveUpper(du8, x2, x3));
      const auto quads = [&](auto v) HWY_ATTR { return hn::BitCast(du8, v); };
      sum0 = hn::SumOfMulQuadAccumulate(d, quads(hn::InterleaveLower(du16, low01, low23)),
                                        hn::LoadDup128(d8, w), sum0);
      sum1 = hn::SumOfMulQuadAccumulate(d, quads(hn::InterleaveUpper(du16, low01, low23)),
                                        hn::LoadDup128(d8, w + 16), sum1);
      sum2 = hn::SumOfMulQuadAccumulate(d, quads(hn::InterleaveLower(du16, high01, high23)),
                                        hn::LoadDup128(d8, w + 32), sum2);
      sum3 = hn::SumOfMulQuadAccumulate(d, quads(hn::InterleaveUpper(du16, high01, high23)),
                                        hn::LoadDup128(d8, w + 48), sum3);
    }
    hn::Store(sum0, d, lanes);
    hn::Store(sum1, d, lanes + 16);
    hn::Store(sum2, d, lanes + 32);
    hn::Store(sum3, d, lanes + 48);
    for (size_t i = 0; i < pixels_per_vector; ++i) {
      for (size_t k = 0; k < 4; ++k) {
        std::memcpy(row.sums + kAtom * (p + i) + 4 * k, lanes + 16 * k + 4 * i, 16);
      }
    }
  }
}

using DF64 = hn::CappedTag<double, 8>;
using VF64 = hn::VFromD<DF64>;
using DI32Half = hn::Rebind<int32_t, DF64>;
using DI8Eighth = hn::Rebind<int8_t, DF64>;

constexpr double kInt32Min = -2147483648.0;
constexpr double kInt32Max = 2147483647.0;

HWY_INLINE VF64 Clamp(VF64 v, double low, double high) {
  const DF64 d;
  return hn::Min(hn::Max(v, hn::Set(d, low)), hn::Set(d, high));
}

// Nearest integer, ties away from zero; exact for every |v| < 2^52.
HWY_INLINE VF64 RoundAway(VF64 v) {
  const DF64 d;
  const VF64 whole = hn::Trunc(v);
  const VF64 fraction = hn::Abs(hn::Sub(v, whole));
  const VF64 step = hn::CopySign(hn::Set(d, 1.0), v);
  return hn::Add(whole, hn::IfThenElseZero(hn::Ge(fraction, hn::Set(d, 0.5)), step));
}

HWY_INLINE VF64 RoundBy(VF64 v, bool ties_away) { return ties_away ? RoundAway(v) : hn::Round(v); }

HWY_INLINE VF64 Multiply(VF64 v, VF64 scale, bool negative_only) {
  const VF64 scaled = hn::Round(hn::Mul(v, scale));
  return negative_only ? hn::IfThenElse(hn::Lt(v, hn::Zero(DF64())), scaled, v) : scaled;
}

HWY_INLINE VF64 Bn(const StageConstants& bn, VF64 v, size_t c) {
  const DF64 d;
  v = Multiply(v, hn::LoadU(d, bn.scale.data() + c), bn.negative_only);
  v = hn::Add(Clamp(v, kInt32Min, kInt32Max), hn::LoadU(d, bn.add.data() + c));
  return Clamp(v, bn.low, bn.high);
}

HWY_INLINE VF64 Ew(const PostRow& row, VF64 v, size_t pixel, size_t c) {
  const DF64 d;
  const auto bytes = hn::LoadU(DI8Eighth(), row.operand + row.operand_pitch * pixel + c);
  VF64 e = hn::PromoteTo(d, hn::PromoteTo(DI32Half(), bytes));
  if (row.operand_converts) {
    e = hn::Mul(hn::Add(e, hn::Set(d, row.operand_pre)), hn::Set(d, row.operand_scale));
    e = hn::Add(RoundBy(e, row.operand_ties_away), hn::Set(d, row.operand_post));
    e = Clamp(e, kInt32Min, kInt32Max);
  }
  switch (row.ew) {
    case RowAlu::kAdd:
      return hn::Add(v, e);
    case RowAlu::kSub:
      return hn::Sub(v, e);
    case RowAlu::kMax:
      return hn::Max(v, e);
    case RowAlu::kMin:
      return hn::Min(v, e);
    case RowAlu::kNone:
      break;
  }
  return v;
}

HWY_INLINE VF64 Cpend(const PostRow& row, VF64 v, size_t pixel, size_t c) {
  const DF64 d;
  const int32_t* window = row.window + pixel * row.window_pitch;
  const VF64 sum = row.window_per_channel ? hn::PromoteTo(d, hn::LoadU(DI32Half(), window + c))
                                          : hn::Set(d, static_cast<double>(window[0]));
  return hn::Add(v, hn::Mul(sum, hn::LoadU(d, row.cpend_factor.data() + c)));
}

// All stages for the channels from c; kGeneral: more than BS and OUT_CVT with ties to even.
template <bool kMultiply, bool kGeneral>
HWY_INLINE VF64 Stages(const PostRow& row, VF64 add, VF64 scale, size_t pixel, size_t c) {
  const DF64 d;
  VF64 v = hn::PromoteTo(d, hn::LoadU(DI32Half(), row.sums + pixel * row.sums_pitch + c));
  if constexpr (kGeneral) {
    if (row.cpend) v = Cpend(row, v, pixel, c);
  }
  v = hn::Add(v, add);
  if constexpr (kMultiply) v = Multiply(v, scale, kGeneral && row.bs.negative_only);
  v = Clamp(v, row.bs.low, row.bs.high);
  if constexpr (kGeneral) {
    if (row.bn_active) v = Bn(row.bn, v, c);
    if (row.ew != RowAlu::kNone) v = Ew(row, v, pixel, c);
    v = Clamp(v, row.ew_low, row.ew_high);
    v = hn::Mul(hn::Add(v, hn::Set(d, row.out_pre)), hn::Set(d, row.out_scale));
    return hn::Add(RoundBy(v, row.out_ties_away), hn::Set(d, row.out_post));
  }
  return hn::Add(hn::Round(hn::Mul(v, hn::Set(d, row.out_scale))), hn::Set(d, row.out_post));
}

// 4-byte outputs: channel c + i goes to surface (c + i) / 4.
HWY_INLINE void StoreWords(const PostRow& row, VF64 v, size_t pixel, size_t c) {
  const DF64 d;
  const DI32Half di;
  HWY_ALIGN int32_t lanes[8];
  if (row.type == RowOutput::kInt32) {
    hn::StoreU(hn::DemoteTo(di, Clamp(v, kInt32Min, kInt32Max)), di, lanes);
  } else {
    const hn::Rebind<float, DF64> df;
    hn::StoreU(hn::BitCast(di, hn::DemoteTo(df, v)), di, lanes);
  }
  const size_t n = hn::Lanes(d);
  const size_t piece = n < 4 ? n : 4;
  for (size_t i = 0; i < n; i += piece) {
    const size_t channel = c + i;
    std::byte* surface = row.out[channel / 4];
    if (surface == nullptr) continue;
    std::memcpy(surface + row.out_pitch * pixel + 4 * (channel % 4), lanes + i, 4 * piece);
  }
}

// Two vectors of channels a step. Both demotions saturate.
template <bool kMultiply, bool kGeneral>
HWY_NOINLINE void PostRowOf(const PostRow& row) {
  const DF64 d;
  const DI32Half di;
  const hn::Twice<DI32Half> di_both;
  const hn::Rebind<int8_t, hn::Twice<DI32Half>> d8;
  const size_t n = hn::Lanes(d);
  for (size_t c = 0; c < kAtom; c += 2 * n) {
    const auto add0 = hn::LoadU(d, row.bs.add.data() + c);
    const auto add1 = hn::LoadU(d, row.bs.add.data() + c + n);
    const auto scale0 = hn::LoadU(d, row.bs.scale.data() + c);
    const auto scale1 = hn::LoadU(d, row.bs.scale.data() + c + n);
    for (size_t pixel = 0; pixel < row.pixels; ++pixel) {
      const VF64 v0 = Stages<kMultiply, kGeneral>(row, add0, scale0, pixel, c);
      const VF64 v1 = Stages<kMultiply, kGeneral>(row, add1, scale1, pixel, c + n);
      if (row.type == RowOutput::kInt8) {
        const auto ints = hn::Combine(di_both, hn::DemoteTo(di, v1), hn::DemoteTo(di, v0));
        hn::StoreU(hn::DemoteTo(d8, ints), d8,
                   reinterpret_cast<int8_t*>(row.out[0] + row.out_pitch * pixel + c));
      } else {
        StoreWords(row, v0, pixel, c);
        StoreWords(row, v1, pixel, c + n);
      }
    }
  }
}

void Post(const PostRow& row) {
  const bool general = row.cpend || row.bn_active || row.ew != RowAlu::kNone ||
                       row.ew_low != kInt32Min || row.ew_high != kInt32Max ||
                       row.bs.negative_only || row.out_ties_away || row.out_pre != 0.0;
  if (general) {
    row.bs_multiplies ? PostRowOf<true, true>(row) : PostRowOf<false, true>(row);
  } else {
    row.bs_multiplies ? PostRowOf<true, false>(row) : PostRowOf<false, false>(row);
  }
}

#undef NPU_FOR_PIXELS

}  // namespace npu::sim::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::sim::fast {

HWY_EXPORT(Block);
HWY_EXPORT(Direct);
HWY_EXPORT(Depthwise);
HWY_EXPORT(Post);

size_t ChannelBlock() { return HWY_DYNAMIC_DISPATCH(Block)(); }
void ConvolveDirect(const DirectRow& row) { HWY_DYNAMIC_DISPATCH(Direct)(row); }
void ConvolveDepthwise(const DepthwiseRow& row) { HWY_DYNAMIC_DISPATCH(Depthwise)(row); }
void PostProcess(const PostRow& row) { HWY_DYNAMIC_DISPATCH(Post)(row); }

}  // namespace npu::sim::fast
#endif  // HWY_ONCE
