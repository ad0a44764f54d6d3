// SPDX-License-Identifier: Apache-2.0
// Where a fast task reads its elementwise operand and writes its output: host pointers of every
// surface, proven mapped and free of overlaps that would make the order of rows matter.
#ifndef SRC_SIM_FAST_OUTPUTS_H_
#define SRC_SIM_FAST_OUTPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/sim/config.h"
#include "src/sim/memory.h"

namespace npu::sim::fast {

struct Surfaces {
  std::vector<std::byte*> output;         // [block][output surface of the block]; null: not written
  size_t per_block = 0;                   // output surfaces of one block, written or not
  int64_t line_pitch = 0;                 // bytes from row to row of an output surface
  std::vector<const std::byte*> operand;  // [atom of 16 channels]; empty without an operand
  int64_t operand_pitch = 0;              // bytes from row to row of an operand surface
  std::vector<const std::byte*> main;     // the same of a flying task's main input
  int64_t main_pitch = 0;
};

// False if anything is unmapped, split over regions or overlaps in a way the clear path's order of
// rows would show.
bool LocateSurfaces(const DpuConfig& d, const RdmaConfig& r, const AddressSpace& memory,
                    Surfaces* surfaces);

}  // namespace npu::sim::fast

#endif  // SRC_SIM_FAST_OUTPUTS_H_
