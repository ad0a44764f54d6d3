// SPDX-License-Identifier: Apache-2.0
// The range allocator of one open device, as the mainline kernel's behaves: page-granular starts,
// best fit by hole size, at the low end of the hole, node length as requested. A guard page at 0 is
// taken from the start (kernel-interfaces A.4).
#ifndef SRC_DEVICE_ADDRESS_ALLOCATOR_H_
#define SRC_DEVICE_ADDRESS_ALLOCATOR_H_

#include <cstdint>
#include <map>

#include "npu/status.h"

namespace npu::device {

// Not thread-safe.
class AddressAllocator {
 public:
  // [0, space_bytes) in pages of page_bytes (a power of two); the first page is never handed out.
  AddressAllocator(uint64_t space_bytes, uint32_t page_bytes);

  // Address of `bytes` (> 0) free bytes. kOutOfMemory names the largest hole.
  Result<uint32_t> Allocate(uint64_t bytes);
  // Gives back what Allocate returned. False if nothing starts there.
  bool Free(uint32_t address);

  uint64_t largest_hole() const;

 private:
  // Calls f(begin, end) for every hole in ascending order; begin is on a page boundary.
  template <typename F>
  void EachHole(F&& f) const;

  uint64_t space_bytes_;
  uint32_t page_bytes_;
  std::map<uint64_t, uint64_t> taken_;  // begin -> end, disjoint
};

}  // namespace npu::device

#endif  // SRC_DEVICE_ADDRESS_ALLOCATOR_H_
