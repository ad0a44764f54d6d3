// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_features.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "src/base/checked.h"
#include "src/sim/fast_kernels.h"

namespace npu::sim::fast {
namespace {

// Snapshots beyond this go the clear path's way: no real task comes near (CBUF holds 384 KiB).
constexpr int64_t kMostBytes = int64_t{1} << 28;

using Atom = std::array<uint8_t, kAtom>;

void CopyFlipped(const uint8_t* from, uint8_t* to, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to[i] = from[i] ^ 0x80u;
}

Atom PadAtom(const ConvConfig& c, int surface) {
  Atom atom;
  for (int i = 0; i < static_cast<int>(kAtom); ++i) {
    atom[static_cast<size_t>(i)] =
        static_cast<uint8_t>(c.pad_of(surface * static_cast<int>(kAtom) + i)) ^ 0x80u;
  }
  return atom;
}

// The packed-pixel converter (config.h), then the flip.
uint8_t ConvertPixel(const PixelConverter& converter, uint8_t raw) {
  if (!converter.enabled) return raw ^ 0x80u;
  const int32_t pixel = converter.is_signed ? static_cast<int8_t>(raw) : int32_t{raw};
  const auto value = Saturate<int8_t>(int64_t{pixel} * converter.factor + converter.offset);
  return static_cast<uint8_t>(value) ^ 0x80u;
}

void Run(WorkerPool* pool, size_t count, const std::function<void(size_t)>& fn) {
  if (pool != nullptr) {
    pool->ParallelFor(count, fn);
  } else {
    for (size_t i = 0; i < count; ++i) fn(i);
  }
}

}  // namespace

uint8_t* AlignedBytes::Resize(size_t size) {
  constexpr size_t kAlignment = 64;
  if (storage_.size() < size + kAlignment) {
    storage_.resize(size + kAlignment);
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (RoundUp<uintptr_t>(address, kAlignment) - address);
  }
  return data_;
}

bool PackedFeatures::Locate(const ConvConfig& c, const AddressSpace& memory) {
  const int channels = c.pixel_channels > 0 ? c.pixel_channels : static_cast<int>(kAtom);
  const int surfaces = c.pixel_channels > 0 ? 1 : surfaces_;
  const int64_t line_bytes = int64_t{c.iw} * channels;
  lines_.assign(static_cast<size_t>(surfaces) * static_cast<size_t>(c.ih), nullptr);
  size_t i = 0;
  for (int surface = 0; surface < surfaces; ++surface) {
    for (int y = 0; y < c.ih; ++y) {
      const int64_t address = c.pixel_channels > 0
                                  ? c.feature_base + y * c.line_stride * c.pixel_channels
                                  : FeatureAddress(c, surface, y, 0);
      lines_[i] = memory.Translate(address, line_bytes);
      if (lines_[i++] == nullptr) return false;
    }
  }
  return true;
}

void PackedFeatures::PackRow(const ConvConfig& c, int surface, int row) {
  uint8_t* to = bytes_.data() + surface * surface_pitch_ + row * row_pitch_;
  const Atom pad = PadAtom(c, surface);
  const auto fill = [&](int from_column, int to_column) {
    for (int column = from_column; column < to_column; ++column) {
      std::memcpy(to + ColumnOffset(column), pad.data(), kAtom);
    }
  };
  const int y = row - pad_top_;
  if (y < 0 || y >= ih_) {
    fill(0, stride_ * phase_columns_);
    return;
  }
  fill(0, pad_left_);
  fill(pad_left_ + iw_, stride_ * phase_columns_);
  if (c.pixel_channels > 0) {
    const size_t channels = surface == 0 ? static_cast<size_t>(c.pixel_channels) : 0;
    const std::byte* from = lines_[static_cast<size_t>(y)];
    for (int x = 0; x < iw_; ++x) {
      uint8_t* atom = to + ColumnOffset(pad_left_ + x);
      std::memset(atom, 0x80, kAtom);
      for (size_t i = 0; i < channels; ++i) {
        atom[i] = ConvertPixel(c.pixel_converter,
                               static_cast<uint8_t>(from[static_cast<size_t>(x) * channels + i]));
      }
    }
    return;
  }
  const auto* from = reinterpret_cast<const uint8_t*>(
      lines_[static_cast<size_t>(surface) * static_cast<size_t>(ih_) + static_cast<size_t>(y)]);
  if (stride_ == 1) {
    CopyFlipped(from, to + ColumnOffset(pad_left_), static_cast<size_t>(iw_) * kAtom);
    return;
  }
  for (int x = 0; x < iw_; ++x) {
    CopyFlipped(from + static_cast<size_t>(x) * kAtom, to + ColumnOffset(pad_left_ + x), kAtom);
  }
}

bool PackedFeatures::Pack(const ConvConfig& c, const AddressSpace& memory, WorkerPool* pool) {
  ic_ = c.ic;
  ih_ = c.ih;
  iw_ = c.iw;
  pad_top_ = c.pad_top;
  pad_left_ = c.pad_left;
  stride_ = c.sx;
  surfaces_ = CeilDiv(c.ic, static_cast<int>(kAtom));
  // Everything the windows touch, and every input pixel (a later task may reuse them).
  const int64_t rows = std::max<int64_t>(int64_t{c.oh - 1} * c.sy + int64_t{c.kh - 1} * c.dy + 1,
                                         int64_t{c.pad_top} + c.ih);
  const int64_t columns = std::max<int64_t>(int64_t{c.ow - 1} * c.sx + int64_t{c.kw - 1} * c.dx + 1,
                                            int64_t{c.pad_left} + c.iw);
  const int64_t phase_columns = CeilDiv<int64_t>(columns, c.sx);
  const std::optional<int64_t> plane = CheckedMul<int64_t>(rows, phase_columns * c.sx * 16);
  if (!plane || *plane > kMostBytes || *plane * surfaces_ > kMostBytes) return false;
  rows_ = static_cast<int>(rows);
  columns_ = static_cast<int>(columns);
  phase_columns_ = static_cast<int>(phase_columns);
  row_pitch_ = phase_columns * c.sx * 16;
  surface_pitch_ = *plane;
  if (!Locate(c, memory)) return false;
  bytes_.Resize(static_cast<size_t>(surface_pitch_ * surfaces_) + kRowSlack);
  // A dozen rows a call keep the cost of handing out work small.
  constexpr int kRowsPerCall = 12;
  const auto calls_per_surface = static_cast<size_t>(CeilDiv(rows_, kRowsPerCall));
  Run(pool, calls_per_surface * static_cast<size_t>(surfaces_), [&](size_t call) {
    const int surface = static_cast<int>(call / calls_per_surface);
    const int first = static_cast<int>(call % calls_per_surface) * kRowsPerCall;
    for (int row = first; row < std::min(first + kRowsPerCall, rows_); ++row) {
      PackRow(c, surface, row);
    }
  });
  return true;
}

void PackedFeatures::Unpack(FeatureCube* cube) const {
  cube->height = ih_;
  cube->width = iw_;
  cube->channels = ic_;
  cube->pitch = surfaces_ * static_cast<int>(kAtom);
  cube->data.assign(
      static_cast<size_t>(ih_) * static_cast<size_t>(iw_) * static_cast<size_t>(cube->pitch), 0);
  int8_t* to = cube->data.data();
  for (int y = 0; y < ih_; ++y) {
    for (int x = 0; x < iw_; ++x) {
      for (int surface = 0; surface < surfaces_; ++surface) {
        const uint8_t* atom = bytes_.data() + surface * surface_pitch_ +
                              (pad_top_ + y) * row_pitch_ + ColumnOffset(pad_left_ + x);
        for (size_t i = 0; i < kAtom; ++i) *to++ = static_cast<int8_t>(atom[i] ^ 0x80u);
      }
    }
  }
}

void PackedFeatures::ChannelSums(std::vector<int32_t>* sums) const {
  const size_t positions = static_cast<size_t>(surface_pitch_) / kAtom;
  sums->assign(positions, 0);
  for (int surface = 0; surface < surfaces_; ++surface) {
    const int channels = std::min(ic_ - surface * static_cast<int>(kAtom), static_cast<int>(kAtom));
    const uint8_t* atom = bytes_.data() + surface * surface_pitch_;
    for (size_t i = 0; i < positions; ++i, atom += kAtom) {
      int32_t sum = -128 * channels;
      for (int channel = 0; channel < channels; ++channel) sum += atom[channel];
      (*sums)[i] += sum;
    }
  }
}

}  // namespace npu::sim::fast
