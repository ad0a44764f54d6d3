// SPDX-License-Identifier: Apache-2.0
// Float arithmetic of the CORE and the DPU: fp16 products, fp32 stages, one rounding an operation
// (rk3588-conv-matmul 7, rk3588-dpu-ppu 3 and 4).
#ifndef SRC_SIM_REAL_H_
#define SRC_SIM_REAL_H_

#include <cstdint>

#include "src/sim/config.h"
#include "src/sim/rdma.h"

namespace npu::sim {

// Sum of n <= 32 products of fp16 values, formed exactly and rounded once to fp32: what the CORE
// adds to its accumulator for one group of input channels. Infinities and NaN as in IEEE 754.
float GroupSum(const float* x, const float* w, int n);

// One element from accumulator to output bits: fp16 in the low half, or fp32.
uint32_t DpuElementReal(const DpuConfig& d, const ChannelOperands& operands, float accumulator,
                        float ew_operand);

}  // namespace npu::sim

#endif  // SRC_SIM_REAL_H_
