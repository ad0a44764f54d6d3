// SPDX-License-Identifier: Apache-2.0
// Flying int8 tasks (elementwise operations of one or two tensors in memory) by rows on the DPU's
// vector kernel. Same bytes as the clear path, or declined.
#ifndef SRC_SIM_FAST_ELEMENTWISE_H_
#define SRC_SIM_FAST_ELEMENTWISE_H_

#include <span>

#include "src/base/worker_pool.h"
#include "src/sim/config.h"
#include "src/sim/memory.h"
#include "src/sim/rdma.h"

namespace npu::sim {

// False, nothing touched: stages or address patterns the kernel does not express, and any access
// that could fault. `operands`: one entry a channel, whole atoms. `pool` may be null.
bool RunElementwiseFast(const DpuConfig& dpu, const RdmaConfig& rdma,
                        std::span<const ChannelOperands> operands, AddressSpace* memory,
                        WorkerPool* pool);

}  // namespace npu::sim

#endif  // SRC_SIM_FAST_ELEMENTWISE_H_
