// SPDX-License-Identifier: Apache-2.0
// Pass 4: one memory plan for the whole program. Slots whose lives do not overlap share bytes.
#ifndef SRC_PLAN_MEMORY_H_
#define SRC_PLAN_MEMORY_H_

#include <cstdint>
#include <vector>

#include "npu/status.h"
#include "src/plan/program.h"

namespace npu::plan {

// Something that needs `bytes` from time `first` to time `last`, both included.
struct Interval {
  uint64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

// Offsets (multiples of `alignment`) for intervals such that overlapping ones do not share bytes:
// largest first, each at the lowest free offset. Returns the offsets; *total gets the size.
std::vector<uint64_t> PlanOffsets(const std::vector<Interval>& intervals, uint64_t alignment,
                                  uint64_t* total);

// Gives every slot its place and sets the sizes of the program's memories. kOutOfMemory when the
// NPU's 4 GiB address space cannot hold them.
Status PlanMemory(CompiledProgram* program);

}  // namespace npu::plan

#endif  // SRC_PLAN_MEMORY_H_
