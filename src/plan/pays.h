// SPDX-License-Identifier: Apache-2.0
// Between routing and scheduling: elementwise operations and pools that the NPU could do, but that
// lie between host steps, go back to the host where the modelled time is less.
#ifndef SRC_PLAN_PAYS_H_
#define SRC_PLAN_PAYS_H_

#include <vector>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/ir/graph.h"
#include "src/plan/route.h"

namespace npu::plan {

// `routed` has one entry for each node of `graph`. Operations with multiply-accumulates stay where
// they are, and so does everything in a graph without any on the NPU. Each group of neighbouring
// operations is judged as a whole: on the NPU it costs its tasks and the submits it adds.
Status KeepWhatPays(const ir::Graph& graph, const chip::Profile& chip,
                    std::vector<RoutedNode>* routed);

}  // namespace npu::plan

#endif  // SRC_PLAN_PAYS_H_
