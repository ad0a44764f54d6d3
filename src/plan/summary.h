// SPDX-License-Identifier: Apache-2.0
// Counts of a program for reports: what it consists of and what keeps it from being one submit.
#ifndef SRC_PLAN_SUMMARY_H_
#define SRC_PLAN_SUMMARY_H_

#include <cstdint>
#include <map>
#include <string>

#include "src/plan/program.h"

namespace npu::plan {

struct ProgramSummary {
  uint32_t host_steps = 0;     // kernels, requantizations included
  uint32_t layout_steps = 0;   // packs and unpacks
  uint32_t chained_kicks = 0;  // on a device that chains
  // Operations the host computes between two submits, by name: "LEAKY_RELU" -> 28; "CONV_2D
  // requantize" is the host's share of an exact convolution.
  std::map<std::string, uint32_t> splits;
};

// Walks the steps once; every count is 0 for a program without them.
ProgramSummary Summarize(const CompiledProgram& program);

}  // namespace npu::plan

#endif  // SRC_PLAN_SUMMARY_H_
