// SPDX-License-Identifier: Apache-2.0
// Reads the cases that dump_cases.py wrote.
#ifndef TESTS_MODELS_CASE_READER_H_
#define TESTS_MODELS_CASE_READER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/ir/graph.h"

namespace npu::test {

// One node with its tensors. `data` has the bytes of each value: constants, the run-time inputs,
// and for outputs what TFLite computed.
struct OpCase {
  std::string name;
  std::string op;  // TFLite's name
  // Why the case is not one of ours: the operation or an option we do not know. Empty otherwise.
  std::string excluded;
  ir::Graph graph;
  std::vector<std::vector<std::byte>> data;
};

// Empty when the folder holds no cases. Aborts the test on a malformed file.
std::vector<OpCase> ReadCases(const std::string& folder);

}  // namespace npu::test

#endif  // TESTS_MODELS_CASE_READER_H_
