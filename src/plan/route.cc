// SPDX-License-Identifier: Apache-2.0
#include "src/plan/route.h"

#include <utility>

#include "src/ops/op_def.h"

namespace npu::plan {
namespace {

// Tries the NPU; an Unsupported answer is not an error, the host takes the node with that reason.
Result<RoutedNode> RouteToNpu(const ops::OpDef& op, const ir::Graph& graph, const ir::Node& node,
                              const CompileOptions& options, const chip::Profile& chip) {
  ops::LowerOptions lower{.exact = options.requant == Requant::kExact, .ppu = options.ppu_tasks};
  Result<encode::EncodedOp> lowered = op.lower(graph, node, chip, lower);
  RoutedNode routed;
  if (!lowered.ok() && !lower.exact && op.make_requant != nullptr &&
      lowered.status().code() == ErrorCode::kUnsupported) {
    // What the chip cannot be proven to requantize may still multiply there: raw sums, host
    // requantization.
    routed.host_reason = lowered.status().message();
    lower.exact = true;
    Result<encode::EncodedOp> raw = op.lower(graph, node, chip, lower);
    if (raw.ok()) lowered = std::move(raw);
  }
  if (!lowered.ok()) return lowered.status();
  routed.npu = std::make_unique<encode::EncodedOp>(std::move(lowered).value());
  if (routed.npu->raw_int32()) {
    NPU_ASSIGN_OR_RETURN(routed.kernel, op.make_requant(graph, node));
  }
  return routed;
}

}  // namespace

Result<RoutedNode> RouteNode(const ir::Graph& graph, const ir::Node& node,
                             const CompileOptions& options, const chip::Profile& chip) {
  const ops::OpDef& op = ops::FindOp(node.params);
  NPU_RETURN_IF_ERROR(op.check(graph, node));
  std::string reason;
  if (op.lower != nullptr) {
    Result<RoutedNode> routed = RouteToNpu(op, graph, node, options, chip);
    if (routed.ok()) return routed;
    if (routed.status().code() != ErrorCode::kUnsupported) return routed.status();
    reason = routed.status().message();
  }
  RoutedNode routed;
  NPU_ASSIGN_OR_RETURN(routed.kernel, op.make_host(graph, node));
  routed.host_reason = std::move(reason);
  return routed;
}

}  // namespace npu::plan
