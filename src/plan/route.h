// SPDX-License-Identifier: Apache-2.0
// Pass 1: where each node runs.
#ifndef SRC_PLAN_ROUTE_H_
#define SRC_PLAN_ROUTE_H_

#include <memory>
#include <string>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/encode/encoded_op.h"
#include "src/host/kernel.h"
#include "src/ir/graph.h"
#include "src/plan/compile.h"

namespace npu::plan {

// NPU work, host work, or NPU work whose raw int32 sums a host kernel requantizes.
struct RoutedNode {
  std::unique_ptr<encode::EncodedOp> npu;  // null: the host computes the node
  std::unique_ptr<host::Kernel> kernel;    // null: the NPU finishes the node itself
  std::string host_reason;                 // why an operation the NPU knows runs on the host
};

// The same answer for the same node, always. kUnsupported when the node can run nowhere.
Result<RoutedNode> RouteNode(const ir::Graph& graph, const ir::Node& node,
                             const CompileOptions& options, const chip::Profile& chip);

}  // namespace npu::plan

#endif  // SRC_PLAN_ROUTE_H_
