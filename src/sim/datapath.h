// SPDX-License-Identifier: Apache-2.0
// One decoded task through CORE, DPU and the writer. The clear path is the definition; a fast path
// computes the same bytes from the same structs.
#ifndef SRC_SIM_DATAPATH_H_
#define SRC_SIM_DATAPATH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "src/sim/cna.h"
#include "src/sim/config.h"
#include "src/sim/memory.h"
#include "src/sim/rdma.h"

namespace npu::sim {

// Everything a task computes from. `conv`, `features` and `weights` are null for a flying task.
struct Datapath {
  const ConvConfig* conv = nullptr;
  const FeatureCube* features = nullptr;
  const WeightCube* weights = nullptr;
  const DpuConfig* dpu = nullptr;
  const RdmaConfig* rdma = nullptr;
  const std::vector<ChannelOperands>* operands = nullptr;  // whole blocks of channels
};

struct MemoryFault {
  int64_t address = 0;
  bool write = false;
};

struct DatapathResult {
  std::optional<MemoryFault> fault;  // rows before it are in memory
  int32_t last_accumulator = 0;      // of the last channel of the last pixel
};

// Computes one task element by element, written to be read; the fast path is tested against it.
DatapathResult RunClear(const Datapath& path, AddressSpace* memory);
// The same for DpuConfig::real; last_accumulator means nothing.
DatapathResult RunClearReal(const Datapath& path, AddressSpace* memory);

}  // namespace npu::sim

#endif  // SRC_SIM_DATAPATH_H_
