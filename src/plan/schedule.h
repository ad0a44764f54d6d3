// SPDX-License-Identifier: Apache-2.0
// Pass 2: the order of the nodes.
#ifndef SRC_PLAN_SCHEDULE_H_
#define SRC_PLAN_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "src/ir/graph.h"

namespace npu::plan {

// A topological order that keeps NPU nodes together: after an NPU node every NPU node that is ready
// follows before the host gets its turn, and the other way round, so that jobs are few and long.
// Ties keep the order of the graph. on_npu[i] tells where node i runs.
std::vector<int32_t> ScheduleNodes(const ir::Graph& graph, const std::vector<bool>& on_npu);

}  // namespace npu::plan

#endif  // SRC_PLAN_SCHEDULE_H_
