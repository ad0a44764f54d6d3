// SPDX-License-Identifier: Apache-2.0
// The pooling unit: PPU_RDMA reads a cube, PPU reduces windows and writes a cube of the same
// channels (rk3588-dpu-ppu 11). The clear path is the definition.
#ifndef SRC_SIM_PPU_H_
#define SRC_SIM_PPU_H_

#include <cstdint>
#include <optional>
#include <span>

#include "src/sim/config.h"
#include "src/sim/datapath.h"
#include "src/sim/memory.h"

namespace npu::sim {

// One element of a pool. `window` holds the values under it in raster order, padding included.
int8_t PoolInt8(const PoolConfig& p, std::span<const int8_t> window);
uint16_t PoolHalf(const PoolConfig& p, std::span<const uint16_t> window);

// The whole task. A fault leaves the rows before it in memory.
std::optional<MemoryFault> RunPoolClear(const PoolConfig& p, AddressSpace* memory);

}  // namespace npu::sim

#endif  // SRC_SIM_PPU_H_
