// SPDX-License-Identifier: Apache-2.0
// The CORE: multiply-accumulate and the window sums that CPEND uses.
#ifndef SRC_SIM_CORE_H_
#define SRC_SIM_CORE_H_

#include <cstdint>
#include <vector>

#include "src/sim/cna.h"
#include "src/sim/config.h"

namespace npu::sim {

// One output row of one block of channels, [ow][channels].
struct AccumulatorRow {
  int channels = 0;
  std::vector<int32_t> acc;         // after CLIP_TRUNCATE
  std::vector<int64_t> window_sum;  // sum of the window's inputs; own channel only for depthwise
};

// Row `oh`, output channels [first, first + count) with first a multiple of the block and count at
// most one block. Channels without a kernel accumulate 0. `residue` is added to every accumulator.
// Source: rk3588-conv-matmul 6.1, 6.3, 6.4.
void AccumulateRow(const ConvConfig& c, const FeatureCube& features, const WeightCube& weights,
                   int oh, int first, int count, int64_t residue, AccumulatorRow* row);

// The same of an fp16 task, [ow][count]: per aligned group of 32 input channels and tap an exact
// sum rounded to fp32, added in the order of the weight stream. Source: rk3588-conv-matmul 7.
void AccumulateRealRow(const ConvConfig& c, const FeatureCube& features, const WeightCube& weights,
                       int oh, int first, int count, std::vector<float>* acc);

}  // namespace npu::sim

#endif  // SRC_SIM_CORE_H_
