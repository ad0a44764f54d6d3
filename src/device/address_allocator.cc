// SPDX-License-Identifier: Apache-2.0
#include "src/device/address_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/checked.h"

namespace npu::device {

AddressAllocator::AddressAllocator(uint64_t space_bytes, uint32_t page_bytes)
    : space_bytes_(space_bytes), page_bytes_(page_bytes) {
  taken_[0] = std::min<uint64_t>(page_bytes, space_bytes);
}

template <typename F>
void AddressAllocator::EachHole(F&& f) const {
  uint64_t begin = 0;
  for (const auto& [taken_begin, taken_end] : taken_) {
    if (begin < taken_begin) f(begin, taken_begin);
    begin = RoundUp<uint64_t>(taken_end, page_bytes_);
  }
  if (begin < space_bytes_) f(begin, space_bytes_);
}

uint64_t AddressAllocator::largest_hole() const {
  uint64_t largest = 0;
  EachHole([&](uint64_t begin, uint64_t end) { largest = std::max(largest, end - begin); });
  return largest;
}

Result<uint32_t> AddressAllocator::Allocate(uint64_t bytes) {
  if (bytes == 0) return Status(ErrorCode::kInvalidArgument, "a buffer of 0 bytes was asked for");
  uint64_t best = 0, best_size = 0;
  EachHole([&](uint64_t begin, uint64_t end) {
    const uint64_t size = end - begin;
    if (size >= bytes && (best_size == 0 || size < best_size)) {
      best = begin;
      best_size = size;
    }
  });
  if (best_size == 0) {
    return Status(
        ErrorCode::kOutOfMemory,
        fmt::format("out of NPU address space: {} bytes asked for, the largest hole of the "
                    "{} MiB has {} bytes; use a smaller model or fewer sessions",
                    bytes, space_bytes_ >> 20, largest_hole()));
  }
  taken_[best] = best + bytes;
  return static_cast<uint32_t>(best);
}

bool AddressAllocator::Free(uint32_t address) { return address != 0 && taken_.erase(address) == 1; }

}  // namespace npu::device
