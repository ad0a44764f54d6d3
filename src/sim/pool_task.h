// SPDX-License-Identifier: Apache-2.0
// Runs one launch of the PPU: checks, decode, compute.
#ifndef SRC_SIM_POOL_TASK_H_
#define SRC_SIM_POOL_TASK_H_

#include "src/sim/memory.h"
#include "src/sim/simulator.h"
#include "src/sim/task.h"
#include "src/sim/task_view.h"

namespace npu::sim {

// As RunTask, for a launch mask with PPU or PPU_RDMA.
TaskReport RunPoolTask(const SimOptions& options, const TaskContext& context, AddressSpace* memory,
                       TaskView* view);

}  // namespace npu::sim

#endif  // SRC_SIM_POOL_TASK_H_
