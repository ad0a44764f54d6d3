// SPDX-License-Identifier: Apache-2.0
// Vector kernels of the fast path: inner loops of int8 convolution and the DPU's stages on rows of
// sums. Plain pointers and sizes; the instruction set is chosen at run time. Every kernel is exact:
// unsigned-by-signed dot products in int32 and stage arithmetic in float64 whose products stay
// below 2^53 (checked by the caller).
#ifndef SRC_SIM_FAST_KERNELS_H_
#define SRC_SIM_FAST_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace npu::sim::fast {

constexpr size_t kAtom = 16;         // channels of one feature atom
constexpr size_t kKernelGroup = 32;  // output channels computed together
constexpr size_t kRowSlack = 256;    // bytes a kernel may read behind the last atom of its input
constexpr size_t kPixelSlack = 16;   // pixels a kernel may write behind the last one

// Output channels whose weights are interleaved: the repacked weights of one kernel group are
// [32 / block][tap][block kernels][4 channels], where a tap is one kernel position and four
// adjacent input channels. Divides 32.
size_t ChannelBlock();

// Direct convolution of one output row and one kernel group.
struct DirectRow {
  const uint8_t* input = nullptr;   // atom of output pixel 0, tap offset 0; bytes are x ^ 80h
  std::span<const int64_t> taps;    // byte offset of each quad of input channels from there
  const int8_t* weights = nullptr;  // of this group, order as above, 64-byte aligned
  const int32_t* init = nullptr;    // 32 start values: -128 * sum of the kernel's weights
  int32_t* sums = nullptr;          // [pixel][32], kPixelSlack more pixels may be written
  size_t pixels = 0;                // consecutive pixels are 16 bytes apart in the input
};
void ConvolveDirect(const DirectRow& row);

// Depthwise convolution of one output row and one atom of 16 channels.
struct DepthwiseRow {
  const uint8_t* input = nullptr;   // as above
  std::span<const int64_t> taps;    // of each (kh, kw), a multiple of 4 (padded with any offset)
  const int8_t* weights = nullptr;  // [tap / 4][16 channels][4 taps], 64-byte aligned
  const int32_t* init = nullptr;    // 16 start values
  int32_t* sums = nullptr;          // [pixel][16], kPixelSlack more pixels may be written
  size_t pixels = 0;
};
void ConvolveDepthwise(const DepthwiseRow& row);

// One multiply-and-add stage with constants in float64, ended by clamp(v, low, high).
// BS: round((v + add) * scale); BN: saturate(round(v * scale)) + add.
struct StageConstants {
  std::array<double, kAtom> add{};
  std::array<double, kAtom> scale{};  // multiplier * 2^-shift, 1 without multiply
  double low = 0.0, high = 0.0;
  bool negative_only = false;  // PReLU: values >= 0 skip the multiplication
};

enum class RowOutput : uint8_t { kInt8, kInt32, kFp32 };
enum class RowAlu : uint8_t { kNone, kAdd, kSub, kMax, kMin };

// The DPU on one row of 16 channels. Nothing saturates but where the silicon does.
struct PostRow {
  const int32_t* sums = nullptr;  // [pixel][sums_pitch], 16 used
  size_t sums_pitch = kAtom;
  size_t pixels = 0;
  StageConstants bs;
  bool bs_multiplies = false;
  // CPEND: v += factor[c] * window[pixel][c or 0].
  bool cpend = false;
  std::array<double, kAtom> cpend_factor{};
  const int32_t* window = nullptr;
  size_t window_pitch = 0;  // ints a pixel
  bool window_per_channel = false;
  bool bn_active = false;
  StageConstants bn;
  // EW with a signed 8-bit operand, one atom a pixel; converted to
  // round((e + pre) * scale) + post when converting.
  RowAlu ew = RowAlu::kNone;
  const int8_t* operand = nullptr;
  size_t operand_pitch = kAtom;  // bytes a pixel
  bool operand_converts = false;
  double operand_pre = 0.0, operand_scale = 1.0, operand_post = 0.0;
  bool operand_ties_away = false;
  double ew_low = 0.0, ew_high = 0.0;
  // OUT_CVT: round((v + pre) * scale) + post, then saturation (none for kFp32).
  double out_pre = 0.0, out_scale = 1.0, out_post = 0.0;
  bool out_ties_away = false;
  RowOutput type = RowOutput::kInt8;
  // 16 bytes a pixel: 16 channels at out[0] (int8), or 4 channels at each of out[0..3]; null
  // surfaces are not written.
  std::array<std::byte*, 4> out{};
  size_t out_pitch = kAtom;  // bytes a pixel
};
void PostProcess(const PostRow& row);

}  // namespace npu::sim::fast

#endif  // SRC_SIM_FAST_KERNELS_H_
