// SPDX-License-Identifier: Apache-2.0
// Runs one launch: checks, decode, load, compute.
#ifndef SRC_SIM_TASK_H_
#define SRC_SIM_TASK_H_

#include "src/sim/cna.h"
#include "src/sim/fast_path.h"
#include "src/sim/memory.h"
#include "src/sim/simulator.h"
#include "src/sim/small_planes.h"
#include "src/sim/task_view.h"

namespace npu::sim {

// Where the task stands in its kick and job, and what the task before left in the core.
struct TaskContext {
  bool first_of_job = true;  // no earlier task of the job ran
  uint32_t index_in_kick = 0;
  uint32_t tasks_in_kick = 1;
  Cbuf* cbuf = nullptr;
  int32_t* last_accumulator = nullptr;
  FastPath* fast = nullptr;  // null: the clear path runs everything
  SmallPlanes* small_planes = nullptr;
  bool* warned_of_chaining = nullptr;  // in this kick: one such warning is enough
};

// The view's verdict says what became of it; the report is filled when it ran.
TaskReport RunTask(const SimOptions& options, const TaskContext& context, AddressSpace* memory,
                   TaskView* view);

}  // namespace npu::sim

#endif  // SRC_SIM_TASK_H_
