// SPDX-License-Identifier: Apache-2.0
// Random small tasks: decoded configurations and a memory image they fit in.
#ifndef TESTS_UNIT_SIM_FAST_RANDOM_TASK_H_
#define TESTS_UNIT_SIM_FAST_RANDOM_TASK_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "src/sim/config.h"

namespace npu::sim {

// Where the parts of a task lie in its memory image.
constexpr int64_t kFeaturesAt = 0x10000;
constexpr int64_t kWeightsAt = 0x80000;
constexpr int64_t kOperandsAt = 0x100000;
constexpr int64_t kAddendAt = 0x110000;  // EW operand cube
constexpr int64_t kOutputAt = 0x180000;
constexpr size_t kMemoryBytes = 0x300000;

struct RandomTask {
  ConvConfig conv;
  DpuConfig dpu;
  RdmaConfig rdma;
  std::vector<std::byte> memory;

  std::string Describe() const;
};

// The same task for the same seed; every seed is a task the fast path must take.
RandomTask MakeRandomTask(uint32_t seed);
// A flying int8 task of one or two tensors; `conv` means nothing.
RandomTask MakeRandomElementwise(uint32_t seed);

}  // namespace npu::sim

#endif  // TESTS_UNIT_SIM_FAST_RANDOM_TASK_H_
