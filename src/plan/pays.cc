// SPDX-License-Identifier: Apache-2.0
#include "src/plan/pays.h"

#include <algorithm>
#include <cstdint>

#include "src/cost/model.h"
#include "src/ops/op_def.h"
#include "src/plan/schedule.h"

namespace npu::plan {
namespace {

// What one core of the host does of an int8 elementwise operation (performance-facts 4.3 gives
// 0.7 to 2 GB/s for comparable byte work).
constexpr double kHostElementsPerUs = 1000.0;

bool IsMovable(const RoutedNode& node) {
  return node.npu != nullptr && node.kernel == nullptr && node.npu->macs == 0;
}

// Submits of the schedule: runs of NPU nodes, ended also by a host requantization.
int CountSubmits(const ir::Graph& graph, const std::vector<RoutedNode>& routed,
                 const std::vector<bool>& on_npu) {
  int submits = 0;
  bool open = false;
  for (const int32_t n : ScheduleNodes(graph, on_npu)) {
    const auto i = static_cast<size_t>(n);
    if (on_npu[i] && !open) ++submits;
    open = on_npu[i] && routed[i].kernel == nullptr;
  }
  return submits;
}

// Groups of movable nodes that feed each other: for each node the smallest index of its group.
std::vector<size_t> GroupsOf(const ir::Graph& graph, const std::vector<RoutedNode>& routed) {
  std::vector<size_t> group(routed.size());
  std::vector<int32_t> producer(graph.values.size(), -1);
  for (size_t n = 0; n < routed.size(); ++n) {
    group[n] = n;
    const ir::Node& node = graph.nodes[n];
    for (const ir::ValueId out : node.outputs) {
      producer[static_cast<size_t>(out)] = static_cast<int32_t>(n);
    }
    if (!IsMovable(routed[n])) continue;
    for (const ir::ValueId in : node.inputs) {
      const int32_t from = in == ir::kNoValue ? -1 : producer[static_cast<size_t>(in)];
      if (from < 0 || !IsMovable(routed[static_cast<size_t>(from)])) continue;
      const size_t joined = group[static_cast<size_t>(from)], mine = group[n];
      const size_t least = std::min(joined, mine);
      for (size_t k = 0; k <= n; ++k) {
        if (group[k] == joined || group[k] == mine) group[k] = least;
      }
    }
  }
  return group;
}

// Modelled microseconds of the members' tasks on the NPU, one kick each, and of the host instead.
struct Times {
  double npu_us = 0.0, host_us = 0.0;
  uint64_t bytes = 0;
};

Times TimesOf(const std::vector<size_t>& members, const std::vector<RoutedNode>& routed,
              const cost::Model& model, const chip::Cost& cost) {
  Times times;
  for (const size_t n : members) {
    const encode::EncodedOp& op = *routed[n].npu;
    for (const encode::TaskProgram& task : op.tasks) {
      times.npu_us += cost.rearm_us + model.KickUs({&task.terms, 1});
    }
    times.bytes += op.output.bytes();
    times.host_us += static_cast<double>(op.input.bytes()) / kHostElementsPerUs;
  }
  return times;
}

Status MoveToHost(const ir::Graph& graph, const ir::Node& node, RoutedNode* routed) {
  NPU_ASSIGN_OR_RETURN(routed->kernel, ops::FindOp(node.params).make_host(graph, node));
  routed->npu.reset();
  routed->host_reason = "between host steps: a submit of its own would take longer";
  return OkStatus();
}

}  // namespace

Status KeepWhatPays(const ir::Graph& graph, const chip::Profile& chip,
                    std::vector<RoutedNode>* routed) {
  std::vector<bool> on_npu;
  bool multiplies = false;
  for (const RoutedNode& node : *routed) {
    on_npu.push_back(node.npu != nullptr);
    multiplies = multiplies || (node.npu != nullptr && node.npu->macs > 0);
  }
  if (!multiplies) return OkStatus();
  const cost::Model model(chip.cost);
  const std::vector<size_t> group = GroupsOf(graph, *routed);
  int submits = CountSubmits(graph, *routed, on_npu);
  for (size_t first = 0; first < group.size(); ++first) {
    if (group[first] != first || !IsMovable((*routed)[first])) continue;
    std::vector<size_t> members;
    std::vector<bool> without = on_npu;
    for (size_t n = first; n < group.size(); ++n) {
      if (group[n] != first) continue;
      members.push_back(n);
      without[n] = false;
    }
    const int fewer = submits - CountSubmits(graph, *routed, without);
    if (fewer <= 0) continue;
    const Times times = TimesOf(members, *routed, model, chip.cost);
    const double submit_us = model.SubmitUs(0.0, times.bytes, times.bytes);
    if (times.npu_us + fewer * submit_us <= times.host_us) continue;
    for (const size_t n : members) {
      NPU_RETURN_IF_ERROR(MoveToHost(graph, graph.nodes[n], &(*routed)[n]));
    }
    on_npu = std::move(without);
    submits -= fewer;
  }
  return OkStatus();
}

}  // namespace npu::plan
