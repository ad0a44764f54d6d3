// SPDX-License-Identifier: Apache-2.0
#include "src/plan/summary.h"

#include <vector>

namespace npu::plan {
namespace {

uint32_t TasksOf(const NpuStep& step) {
  size_t tasks = 0;
  for (const NpuOp& op : step.ops) tasks += op.op->tasks.size();
  return static_cast<uint32_t>(tasks);
}

}  // namespace

ProgramSummary Summarize(const CompiledProgram& program) {
  ProgramSummary summary;
  std::vector<bool> npu_nodes(program.graph.nodes.size(), false);
  std::map<std::string, uint32_t> pending;  // host operations since the last submit
  bool submitted = false;
  for (const Step& step : program.steps) {
    if (const auto* npu = std::get_if<NpuStep>(&step)) {
      const uint32_t tasks = TasksOf(*npu);
      summary.chained_kicks += npu->chainable ? 1 : tasks;
      for (const NpuOp& op : npu->ops) npu_nodes[static_cast<size_t>(op.node)] = true;
      if (submitted) {
        for (const auto& [name, count] : pending) summary.splits[name] += count;
      }
      pending.clear();
      submitted = true;
    } else if (const auto* host = std::get_if<HostStep>(&step)) {
      ++summary.host_steps;
      const auto node = static_cast<size_t>(host->node);
      std::string name(ir::OpName(program.graph.nodes[node].params));
      if (npu_nodes[node]) name += " requantize";
      ++pending[name];
    } else {
      ++summary.layout_steps;
    }
  }
  return summary;
}

}  // namespace npu::plan
