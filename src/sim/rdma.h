// SPDX-License-Identifier: Apache-2.0
// DPU_RDMA: per-channel operands of BS and CPEND, and the cubes read by MRDMA and ERDMA.
#ifndef SRC_SIM_RDMA_H_
#define SRC_SIM_RDMA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/sim/config.h"
#include "src/sim/memory.h"

namespace npu::sim {

// Operands of one output channel, from registers or memory.
struct ChannelOperands {
  int32_t bs_add = 0;
  int16_t bs_mul = 0;
  int16_t ow_op = 0;
  float bs_add_real = 0.0f, bs_mul_real = 0.0f;  // of float tasks: fp32 and fp16 operands
};

// One entry a channel of the DPU's cube, rounded up to whole blocks. False on an unmapped address,
// which goes to *fault. Record layouts: rk3588-conv-matmul 3.8.
bool FetchChannelOperands(const DpuConfig& d, const RdmaConfig& r, const AddressSpace& memory,
                          std::vector<ChannelOperands>* operands, int64_t* fault);

// Address of the first atom of row y, surface s, of the EW operand and of the flying main input
// (rk3588-dpu-ppu 5).
int64_t EwRowAddress(const RdmaConfig& r, int surface, int y);
int64_t MainRowAddress(const RdmaConfig& r, int surface, int y);

}  // namespace npu::sim

#endif  // SRC_SIM_RDMA_H_
