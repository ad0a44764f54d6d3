// SPDX-License-Identifier: Apache-2.0
// Tables of findings: one changed field of a program that is otherwise clean raises each.
#ifndef TESTS_UNIT_SIM_ROWS_H_
#define TESTS_UNIT_SIM_ROWS_H_

#include <functional>

#include "tests/unit/sim/program.h"

namespace npu::sim {

struct Row {
  const char* base;  // name of the program
  const char* id;    // of the finding
  Outcome outcome;
  std::function<void(Program&)> change;
};

template <typename Reg, typename F>
std::function<void(Program&)> Edit(F change) {
  return [change](Program& p) { p.Edit<Reg>(change); };
}

// Pools end with an interrupt the kernel sees.
SimOptions CompletingPools();

// The changed program ends as the row says, with its finding, and wrote nothing before it stopped.
void CheckRow(const Row& row, Program program);
// The unchanged program completes without findings.
void CheckClean(const char* name, const Program& program);

}  // namespace npu::sim

#endif  // TESTS_UNIT_SIM_ROWS_H_
