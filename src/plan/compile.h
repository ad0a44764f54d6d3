// SPDX-License-Identifier: Apache-2.0
#ifndef SRC_PLAN_COMPILE_H_
#define SRC_PLAN_COMPILE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/ir/graph.h"
#include "src/plan/program.h"

namespace npu::plan {

// How convolutions return to 8 bits. kChip: on the NPU, each layer proven to be at most one count
// from BUILTIN_REF given the same input. kExact: raw int32 sums and host requantization, identical.
enum class Requant : uint8_t { kChip, kExact };

struct CompileOptions {
  std::string chip = "rk3588";
  Requant requant = Requant::kChip;
  // Told after each node how many of how many are done; may be empty.
  std::function<void(size_t done, size_t total)> progress = {};
  // The device completes tasks of the pooling unit alone (kernel-interfaces A.12: a stock kernel
  // may not).
  bool ppu_tasks = false;
};

// Whether a node can run in a partition, and why not.
struct Verdict {
  bool supported = false;
  bool on_npu = false;  // some of its work runs on the NPU
  std::string reason;   // stable id, "conv.dilation"
  std::string text;     // for people
};

// The verdict of each node of `graph` by itself: the same rules Compile applies, so a graph made of
// supported nodes compiles. Pure: the same answer at every call.
std::vector<Verdict> Examine(const ir::Graph& graph, const CompileOptions& options);

// Compiles a verified graph whose nodes are all supported. Copies the constants it needs.
Result<std::unique_ptr<CompiledProgram>> Compile(const ir::Graph& graph,
                                                 const CompileOptions& options);

}  // namespace npu::plan

#endif  // SRC_PLAN_COMPILE_H_
