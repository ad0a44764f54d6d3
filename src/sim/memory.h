// SPDX-License-Identifier: Apache-2.0
// The 4 GiB of device addresses (IOVA) of one open device: a sorted list of mapped regions.
#ifndef SRC_SIM_MEMORY_H_
#define SRC_SIM_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npu/status.h"

namespace npu::sim {

// Addresses are taken as int64_t so that the sums of the address models need no wrap-around: one
// outside [0, 2^32) is simply unmapped. Regions are borrowed, never owned. Not thread-safe while
// Map/Unmap run; reads and writes of disjoint bytes may run in parallel.
class AddressSpace {
 public:
  static constexpr int64_t kEnd = int64_t{1} << 32;

  // Errors: kInvalidArgument for an empty region, one that passes 4 GiB, or one that overlaps.
  Status Map(uint32_t iova, std::span<std::byte> bytes);
  // Error kNotFound if no region starts there.
  Status Unmap(uint32_t iova);
  void Clear() { regions_.clear(); }

  // Host pointer of [iova, iova + size) if it lies in one region, else nullptr. size >= 1.
  std::byte* Translate(int64_t iova, int64_t size) const;
  bool IsMapped(int64_t iova, int64_t size) const;

  // Copy across adjacent regions. False (nothing copied) if any byte is unmapped.
  bool Read(int64_t iova, std::span<std::byte> out) const;
  bool Write(int64_t iova, std::span<const std::byte> in);

 private:
  struct Region {
    int64_t begin = 0;
    std::span<std::byte> bytes;
    int64_t end() const { return begin + static_cast<int64_t>(bytes.size()); }
  };
  const Region* Find(int64_t iova) const;

  std::vector<Region> regions_;  // sorted by begin, disjoint
};

}  // namespace npu::sim

#endif  // SRC_SIM_MEMORY_H_
