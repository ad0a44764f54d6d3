// SPDX-License-Identifier: Apache-2.0
#include "src/sim/small_planes.h"

#include <algorithm>

namespace npu::sim {
namespace {

constexpr int kSmallest = 4;  // rows and columns that are read back well
constexpr int64_t kAtom = 16;

uint64_t Digest(const AddressSpace& memory, int64_t begin, int64_t bytes) {
  std::vector<std::byte> data(static_cast<size_t>(bytes));
  if (!memory.Read(begin, data)) return 0;
  uint64_t digest = 0xCBF29CE484222325u;  // FNV-1a
  for (const std::byte b : data) {
    digest = (digest ^ std::to_integer<uint64_t>(b)) * 0x100000001B3u;
  }
  return digest;
}

}  // namespace

void SmallPlanes::NoteOutput(const PoolConfig& p, const AddressSpace& memory) {
  const int64_t bytes = int64_t{p.oh} * p.ow * kAtom;
  for (int s = 0; s < p.surfaces(); ++s) {
    const int64_t begin = p.dst_base + s * p.dst_surf_stride;
    std::erase_if(planes_, [&](const Plane& old) {
      return begin < old.begin + old.bytes && old.begin < begin + bytes;
    });
    if (p.oh >= kSmallest && p.ow >= kSmallest) continue;
    if (planes_.size() == kMostPlanes) planes_.erase(planes_.begin());
    planes_.push_back({begin, bytes, Digest(memory, begin, bytes)});
  }
}

bool SmallPlanes::IsMisread(const PoolConfig& p, const AddressSpace& memory) const {
  const int64_t bytes = (p.ih - 1) * p.src_line_stride + p.iw * kAtom;
  return std::any_of(planes_.begin(), planes_.end(), [&](const Plane& plane) {
    for (int s = 0; s < p.surfaces(); ++s) {
      const int64_t begin = p.src_base + s * p.src_surf_stride;
      if (plane.begin >= begin + bytes || begin >= plane.begin + plane.bytes) continue;
      return Digest(memory, plane.begin, plane.bytes) == plane.digest;
    }
    return false;
  });
}

}  // namespace npu::sim
