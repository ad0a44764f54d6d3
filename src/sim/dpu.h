// SPDX-License-Identifier: Apache-2.0
// The DPU's stages as pure functions of one element: CPEND, BS, BN, EW, OUT_CVT
// (rk3588-conv-matmul 6.3 to 6.6, rk3588-dpu-ppu 4).
#ifndef SRC_SIM_DPU_H_
#define SRC_SIM_DPU_H_

#include <cstdint>

#include "src/sim/config.h"
#include "src/sim/rdma.h"

namespace npu::sim {

// ALU, then MUL, then ReLU; the value stays wide until the multiplier's saturation.
int32_t BsStage(const ScaleStage& stage, int32_t add, int16_t mul, int64_t value);
// MUL, then ALU, then ReLU.
int32_t BnStage(const ScaleStage& stage, int32_t value);
// The operand through its converter, then the operation, then ReLU.
int32_t EwElement(const EwStage& stage, int32_t value, int8_t operand);

// One element from accumulator to output bits (int8 in the low byte, int32, or fp32 bits).
uint32_t DpuElement(const DpuConfig& d, const ChannelOperands& operands, int32_t accumulator,
                    int64_t window_sum, int8_t ew_operand);

}  // namespace npu::sim

#endif  // SRC_SIM_DPU_H_
