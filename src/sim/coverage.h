// SPDX-License-Identifier: Apache-2.0
// What the model does not cover. Each gate names a feature; a task that needs one is not computed.
#ifndef SRC_SIM_COVERAGE_H_
#define SRC_SIM_COVERAGE_H_

#include "src/sim/task_view.h"

namespace npu::sim {

// The DPU is launched (CheckStreams). Reports "unimplemented.*" for the launched blocks. Fields
// that the specification asks a simulator to ignore (registers-rk3588 10, rk3588-conv-matmul 14
// rule 8) raise nothing.
void CheckCoverage(TaskView* view);

}  // namespace npu::sim

#endif  // SRC_SIM_COVERAGE_H_
