// SPDX-License-Identifier: Apache-2.0
// The fast path: whole convolution, depthwise and matmul tasks with int8, int32 or fp32 output, by
// vector kernels on several threads. The clear path defines the result; this one computes the same
// bytes or declines the task before touching anything.
#ifndef SRC_SIM_FAST_PATH_H_
#define SRC_SIM_FAST_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "src/base/worker_pool.h"
#include "src/sim/cna.h"
#include "src/sim/config.h"
#include "src/sim/fast_features.h"
#include "src/sim/fast_weights.h"
#include "src/sim/memory.h"
#include "src/sim/rdma.h"

namespace npu::sim {

class FastPath {
 public:
  // `pool` is borrowed and may be null (one thread).
  explicit FastPath(WorkerPool* pool) : pool_(pool) {}

  // The whole task: operands from memory, result to memory. Declined (nullopt, nothing touched):
  // reuse bits, flying tasks, stages or address patterns the kernels do not express, and any access
  // that could fault. Done: the accumulator of the last channel of the last pixel, and *cbuf says
  // what a later task may reuse.
  std::optional<int32_t> Run(const ConvConfig& conv, const DpuConfig& dpu, const RdmaConfig& rdma,
                             AddressSpace* memory, Cbuf* cbuf);

  // Fills in the operands of the last task run here, where *cbuf has only their description. To be
  // called before the clear path runs a task with reuse bits.
  void Materialize(Cbuf* cbuf) const;

 private:
  WorkerPool* pool_;
  fast::PackedFeatures features_;
  fast::WeightCache weights_;
  std::shared_ptr<const fast::PackedWeights> last_weights_;  // of the last task run here
};

}  // namespace npu::sim

#endif  // SRC_SIM_FAST_PATH_H_
