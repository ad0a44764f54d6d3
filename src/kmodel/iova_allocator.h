// SPDX-License-Identifier: Apache-2.0
// The address allocator of one open file, as the kernel's range allocator behaves
// (kernel-interfaces A.4): aperture 0 to 4 GiB, page-granular starts, best fit by hole size at the
// low end of the hole, nodes as long as requested (unrounded). Address 0 is given out like any
// other. Written independently of device::AddressAllocator, which guesses what this one does.
#ifndef SRC_KMODEL_IOVA_ALLOCATOR_H_
#define SRC_KMODEL_IOVA_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>

namespace npu::kmodel {

// Not thread-safe.
class IovaAllocator {
 public:
  static constexpr uint64_t kAperture = uint64_t{1} << 32;

  explicit IovaAllocator(uint64_t page_bytes) : page_bytes_(page_bytes) {}

  // Start of `bytes` (> 0) free addresses; nullopt: no hole is large enough (ENOSPC).
  std::optional<uint32_t> Allocate(uint64_t bytes);
  // The same at a random page of a random hole that is large enough (strict mode shuffle).
  std::optional<uint32_t> AllocateAnywhere(uint64_t bytes, std::mt19937_64* random);
  void Free(uint32_t begin) { nodes_.erase(begin); }

 private:
  template <typename F>
  void EachHole(uint64_t bytes, F&& f) const;

  const uint64_t page_bytes_;
  std::map<uint64_t, uint64_t> nodes_;  // begin -> end
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_IOVA_ALLOCATOR_H_
