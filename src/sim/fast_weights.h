// SPDX-License-Identifier: Apache-2.0
// Weights in the form the fast kernels read, kept from task to task: a repacked stream is used
// again when the bytes in memory are still the ones it was made from.
#ifndef SRC_SIM_FAST_WEIGHTS_H_
#define SRC_SIM_FAST_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "src/sim/cna.h"
#include "src/sim/config.h"
#include "src/sim/fast_features.h"
#include "src/sim/memory.h"

namespace npu::sim::fast {

// Four adjacent input channels of one kernel position. Quads whose weights are all zero (padding
// channels) are left out: they contribute nothing.
struct Quad {
  int surface = 0, kh = 0, kw = 0, quarter = 0;
};

struct PackedWeights {
  // What it was made from.
  int units = 0, kernels = 0, ic = 0, kh = 0, kw = 0;
  bool depthwise = false;
  std::vector<std::byte> stream;

  std::vector<Quad> quads;  // direct: the taps of every unit
  // Direct: per unit of 32 kernels as DirectRow::weights; depthwise: per unit of 16 channels as
  // DepthwiseRow::weights, taps in (kh, kw) order padded to a multiple of 4 with zero weights.
  AlignedBytes data;
  size_t unit_bytes = 0;
  std::vector<int32_t> init;  // -128 * sum of the weights, of each kernel of each unit

  const int8_t* Unit(size_t unit) const {
    return reinterpret_cast<const int8_t*>(data.data() + unit * unit_bytes);
  }
};

// The same weights as the clear path holds them.
void Unpack(const PackedWeights& packed, WeightCube* cube);

class WeightCache {
 public:
  // The task's weights for `units` units (32 output channels, depthwise 16). Null if the stream is
  // not mapped in one piece.
  std::shared_ptr<const PackedWeights> Get(const ConvConfig& c, int units,
                                           const AddressSpace& memory);

 private:
  std::map<int64_t, std::shared_ptr<const PackedWeights>> entries_;  // by address
  size_t bytes_ = 0;
};

}  // namespace npu::sim::fast

#endif  // SRC_SIM_FAST_WEIGHTS_H_
