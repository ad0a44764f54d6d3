// SPDX-License-Identifier: Apache-2.0
// Remembers cubes of fewer than four rows or columns that the PPU wrote: a later pool misreads
// them, although the CPU reads them well (rk3588-dpu-ppu 11.3 erratum 1).
#ifndef SRC_SIM_SMALL_PLANES_H_
#define SRC_SIM_SMALL_PLANES_H_

#include <cstdint>
#include <vector>

#include "src/sim/config.h"
#include "src/sim/memory.h"

namespace npu::sim {

class SmallPlanes {
 public:
  void Clear() { planes_.clear(); }
  // To be called after a pool has written its output.
  void NoteOutput(const PoolConfig& p, const AddressSpace& memory);
  // Whether the pool reads a small cube that a pool wrote and nobody has changed since.
  bool IsMisread(const PoolConfig& p, const AddressSpace& memory) const;

 private:
  struct Plane {
    int64_t begin = 0, bytes = 0;
    uint64_t digest = 0;
  };
  static constexpr size_t kMostPlanes = 64;  // the oldest are forgotten
  std::vector<Plane> planes_;
};

}  // namespace npu::sim

#endif  // SRC_SIM_SMALL_PLANES_H_
