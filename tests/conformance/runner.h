// SPDX-License-Identifier: Apache-2.0
// Encodes a problem, runs it on the simulator and compares with the oracles.
#ifndef TESTS_CONFORMANCE_RUNNER_H_
#define TESTS_CONFORMANCE_RUNNER_H_

#include <string>

#include "tests/conformance/problem.h"

namespace npu::conformance {

struct Outcome {
  std::string failure;   // empty: everything as it must be
  std::string declined;  // reason id when the encoder refused (and may)
  int tasks = 0;
  int64_t elements = 0;      // compared outputs
  int64_t differences = 0;   // outputs that differ from the TFLite reference, by at most the bound
  double worst_bound = 0.0;  // proven
  std::string route;
};

Outcome RunProblem(const Problem& problem);

}  // namespace npu::conformance

#endif  // TESTS_CONFORMANCE_RUNNER_H_
