// SPDX-License-Identifier: Apache-2.0
// The DPU's write DMA.
#ifndef SRC_SIM_WRITER_H_
#define SRC_SIM_WRITER_H_

#include <cstdint>
#include <span>

#include "src/sim/config.h"
#include "src/sim/memory.h"

namespace npu::sim {

// Address of the first atom of row y in surface j of block `block`: rk3588-conv-matmul 3.7.
int64_t OutputRowAddress(const DpuConfig& d, int block, int surface, int y);

// Writes one row of one block from elements [width][group] (output bits). Only SIZE_E + 1 surfaces
// are written. False on an unmapped address, which goes to *fault; rows before it stay written.
bool WriteRow(const DpuConfig& d, int block, int y, std::span<const uint32_t> elements,
              AddressSpace* memory, int64_t* fault);

}  // namespace npu::sim

#endif  // SRC_SIM_WRITER_H_
