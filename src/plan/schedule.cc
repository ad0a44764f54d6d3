// SPDX-License-Identifier: Apache-2.0
#include "src/plan/schedule.h"

#include <algorithm>

namespace npu::plan {
namespace {

// For each node, how many of its inputs are produced by other nodes, and who waits for it.
struct Dependencies {
  std::vector<int32_t> pending;
  std::vector<std::vector<int32_t>> waiting;
};

Dependencies FindDependencies(const ir::Graph& graph) {
  Dependencies deps;
  deps.pending.resize(graph.nodes.size());
  deps.waiting.resize(graph.nodes.size());
  std::vector<int32_t> producer(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ir::ValueId in : graph.nodes[n].inputs) {
      if (in == ir::kNoValue || producer[static_cast<size_t>(in)] < 0) continue;
      deps.waiting[static_cast<size_t>(producer[static_cast<size_t>(in)])].push_back(
          static_cast<int32_t>(n));
      ++deps.pending[n];
    }
    for (ir::ValueId out : graph.nodes[n].outputs) {
      producer[static_cast<size_t>(out)] = static_cast<int32_t>(n);
    }
  }
  return deps;
}

}  // namespace

std::vector<int32_t> ScheduleNodes(const ir::Graph& graph, const std::vector<bool>& on_npu) {
  Dependencies deps = FindDependencies(graph);
  std::vector<int32_t> ready;  // sorted by graph order
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (deps.pending[n] == 0) ready.push_back(static_cast<int32_t>(n));
  }
  std::vector<int32_t> order;
  order.reserve(graph.nodes.size());
  bool npu_turn = false;  // host steps first: they unlock longer NPU runs
  while (!ready.empty()) {
    auto next = std::find_if(ready.begin(), ready.end(),
                             [&](int32_t n) { return on_npu[static_cast<size_t>(n)] == npu_turn; });
    if (next == ready.end()) {
      npu_turn = !npu_turn;
      continue;
    }
    const int32_t node = *next;
    ready.erase(next);
    order.push_back(node);
    for (int32_t waiter : deps.waiting[static_cast<size_t>(node)]) {
      if (--deps.pending[static_cast<size_t>(waiter)] == 0) {
        ready.insert(std::lower_bound(ready.begin(), ready.end(), waiter), waiter);
      }
    }
  }
  return order;
}

}  // namespace npu::plan
