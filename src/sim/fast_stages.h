// SPDX-License-Identifier: Apache-2.0
// The DPU's configuration as constants of the fast kernels.
#ifndef SRC_SIM_FAST_STAGES_H_
#define SRC_SIM_FAST_STAGES_H_

#include <span>

#include "src/sim/config.h"
#include "src/sim/fast_kernels.h"
#include "src/sim/rdma.h"

namespace npu::sim::fast {

// Whether PostRow can express these stages exactly: one shift for both signs, ALUs that add or
// subtract, ties to even or away.
bool CanExpress(const DpuConfig& d);

// Stages of the 16 channels whose operands are given; the row's pointers and pitches are left open.
PostRow MakeStages(const DpuConfig& d, std::span<const ChannelOperands> operands);

}  // namespace npu::sim::fast

#endif  // SRC_SIM_FAST_STAGES_H_
