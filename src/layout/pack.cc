// SPDX-License-Identifier: Apache-2.0
#include "src/layout/pack.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace npu::layout {
namespace {

constexpr uint64_t kSignBits = 0x8080808080808080u;
// Pixels handled together: their NHWC rows stay in the first-level cache while every group is cut
// from them.
constexpr uint64_t kBlock = 32;

// Sixteen bytes as two words: compilers turn these copies into single vector loads and stores.
struct Atom {
  uint64_t lo = 0, hi = 0;
};

Atom Load(const std::byte* from) {
  Atom a;
  std::memcpy(&a, from, sizeof a);
  return a;
}

void Store(const Atom& a, std::byte* to) { std::memcpy(to, &a, sizeof a); }

Atom Flip(Atom a, uint64_t sign) { return {a.lo ^ sign, a.hi ^ sign}; }

// Ones in the first `lanes` bytes of an atom.
Atom LaneMask(uint32_t lanes) {
  std::array<std::byte, kAtomBytes> bytes{};
  std::fill_n(bytes.begin(), lanes, std::byte{0xFF});
  return Load(bytes.data());
}

// Loads `lanes` bytes; reads a whole atom when `available` allows it.
Atom LoadTail(const std::byte* from, uint32_t lanes, uint64_t available, const Atom& mask) {
  if (available >= kAtomBytes) {
    const Atom a = Load(from);
    return {a.lo & mask.lo, a.hi & mask.hi};
  }
  std::array<std::byte, kAtomBytes> bytes{};
  std::memcpy(bytes.data(), from, lanes);
  return Load(bytes.data());
}

}  // namespace

void PackInt8(const std::byte* nhwc, const CubeShape& cube, bool flip_sign_bit, std::byte* out) {
  const uint64_t pixels = uint64_t{cube.height} * cube.width;
  const uint64_t channels = cube.channels;
  const uint32_t full_groups = cube.channels / kAtomBytes;
  const uint32_t tail = cube.channels % kAtomBytes;
  const uint64_t total = pixels * channels;
  const uint64_t sign = flip_sign_bit ? kSignBits : 0;
  const Atom mask = LaneMask(tail);
  const Atom tail_sign = {mask.lo & sign, mask.hi & sign};
  for (uint64_t begin = 0; begin < pixels; begin += kBlock) {
    const uint64_t end = std::min(begin + kBlock, pixels);
    for (uint32_t g = 0; g < full_groups; ++g) {
      std::byte* surface = out + g * cube.surface_bytes();
      for (uint64_t p = begin; p < end; ++p) {
        Store(Flip(Load(nhwc + p * channels + g * kAtomBytes), sign), surface + p * kAtomBytes);
      }
    }
    if (tail == 0) continue;
    std::byte* surface = out + full_groups * cube.surface_bytes();
    for (uint64_t p = begin; p < end; ++p) {
      const uint64_t at = p * channels + uint64_t{full_groups} * kAtomBytes;
      const Atom a = LoadTail(nhwc + at, tail, total - at, mask);
      Store({a.lo ^ tail_sign.lo, a.hi ^ tail_sign.hi}, surface + p * kAtomBytes);
    }
  }
}

void UnpackInt8(const std::byte* cube_bytes, const CubeShape& cube, bool flip_sign_bit,
                std::byte* nhwc) {
  const uint64_t pixels = uint64_t{cube.height} * cube.width;
  const uint64_t channels = cube.channels;
  const uint32_t full_groups = cube.channels / kAtomBytes;
  const uint32_t tail = cube.channels % kAtomBytes;
  const uint64_t total = pixels * channels;
  const uint64_t sign = flip_sign_bit ? kSignBits : 0;
  for (uint64_t p = 0; p < pixels; ++p) {
    std::byte* row = nhwc + p * channels;
    const std::byte* atom = cube_bytes + p * kAtomBytes;
    for (uint32_t g = 0; g < full_groups; ++g) {
      Store(Flip(Load(atom + g * cube.surface_bytes()), sign), row + g * kAtomBytes);
    }
    if (tail == 0) continue;
    const Atom last = Flip(Load(atom + full_groups * cube.surface_bytes()), sign);
    // A whole-atom store spills into the next pixel, which is written after this one.
    const uint64_t at = p * channels + uint64_t{full_groups} * kAtomBytes;
    if (total - at >= kAtomBytes) {
      Store(last, nhwc + at);
    } else {
      std::memcpy(nhwc + at, &last, tail);
    }
  }
}

void FlipSignBits(const std::byte* from, size_t bytes, std::byte* to) {
  for (size_t i = 0; i < bytes; ++i) to[i] = from[i] ^ std::byte{0x80};
}

void UnpackInt32(const std::byte* cube_bytes, const CubeShape& cube, int32_t* nhwc) {
  const uint64_t pixels = uint64_t{cube.height} * cube.width;
  const uint32_t c2 = kAtomBytes / sizeof(int32_t);
  for (uint64_t p = 0; p < pixels; ++p) {
    int32_t* row = nhwc + p * cube.channels;
    for (uint32_t c = 0; c < cube.channels; c += c2) {
      const std::byte* atom = cube_bytes + (c / c2) * cube.surface_bytes() + p * kAtomBytes;
      std::memcpy(row + c, atom, sizeof(int32_t) * std::min(c2, cube.channels - c));
    }
  }
}

}  // namespace npu::layout
