// SPDX-License-Identifier: Apache-2.0
// Ways to hang the NPU that can be read from the launched blocks alone, whatever the data type.
#ifndef SRC_SIM_HAZARDS_H_
#define SRC_SIM_HAZARDS_H_

#include "src/sim/memory.h"
#include "src/sim/simulator.h"
#include "src/sim/task_view.h"

namespace npu::sim {

// Every stream between the launched blocks needs a producer and a consumer; a launch without one of
// them never completes (registers-rk3588 8, rk3588-conv-matmul 14 rule 1). Reports "stream.*".
void CheckStreams(const Assumptions& assume, TaskView* view);

// Base addresses of the streams in use are multiples of an atom, except packed pixels
// (rk3588-dpu-ppu 16.5). Reports "memory.unaligned".
void CheckAlignment(TaskView* view);

// The first byte the DPU (or PPU) would write must be mapped: whatever the task computes, it faults
// there.
void CheckDestination(const AddressSpace& memory, TaskView* view);

}  // namespace npu::sim

#endif  // SRC_SIM_HAZARDS_H_
