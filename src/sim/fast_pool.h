// SPDX-License-Identifier: Apache-2.0
// int8 pools by rows: windows are reduced over rows first, then over columns, in loops over whole
// atoms that compilers turn into vector code. Same bytes as the clear path, or declined.
#ifndef SRC_SIM_FAST_POOL_H_
#define SRC_SIM_FAST_POOL_H_

#include "src/base/worker_pool.h"
#include "src/sim/config.h"
#include "src/sim/memory.h"

namespace npu::sim {

// False, nothing touched: fp16, anything unmapped or split over regions, input and output that
// overlap, output surfaces that do. `pool` is borrowed and may be null.
bool RunPoolFast(const PoolConfig& p, AddressSpace* memory, WorkerPool* pool);

}  // namespace npu::sim

#endif  // SRC_SIM_FAST_POOL_H_
