// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/iova_allocator.h"

#include <utility>
#include <vector>

#include "src/base/checked.h"

namespace npu::kmodel {

// Calls f(first usable page, bytes from there) for every hole that holds `bytes`, ascending.
template <typename F>
void IovaAllocator::EachHole(uint64_t bytes, F&& f) const {
  uint64_t free_from = 0;
  const auto hole = [&](uint64_t end) {
    const uint64_t begin = RoundUp(free_from, page_bytes_);
    if (begin < end && end - begin >= bytes) f(begin, end - begin);
  };
  for (const auto& [begin, end] : nodes_) {
    hole(begin);
    free_from = end;
  }
  hole(kAperture);
}

std::optional<uint32_t> IovaAllocator::Allocate(uint64_t bytes) {
  std::optional<std::pair<uint64_t, uint64_t>> best;
  EachHole(bytes, [&](uint64_t begin, uint64_t size) {
    if (!best || size < best->second) best = {begin, size};
  });
  if (!best) return std::nullopt;
  nodes_[best->first] = best->first + bytes;
  return static_cast<uint32_t>(best->first);
}

std::optional<uint32_t> IovaAllocator::AllocateAnywhere(uint64_t bytes, std::mt19937_64* random) {
  std::vector<std::pair<uint64_t, uint64_t>> holes;
  EachHole(bytes, [&](uint64_t begin, uint64_t size) { holes.emplace_back(begin, size); });
  if (holes.empty()) return std::nullopt;
  const auto [begin, size] = holes[(*random)() % holes.size()];
  const uint64_t pages = (size - bytes) / page_bytes_ + 1;
  const uint64_t at = begin + (*random)() % pages * page_bytes_;
  nodes_[at] = at + bytes;
  return static_cast<uint32_t>(at);
}

}  // namespace npu::kmodel
