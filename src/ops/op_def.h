// SPDX-License-Identifier: Apache-2.0
// The one table of model operations: what each may look like, how the host computes it and, where
// the NPU has it, how it is lowered. Rows come from op_list.inc.
#ifndef SRC_OPS_OP_DEF_H_
#define SRC_OPS_OP_DEF_H_

#include <memory>
#include <span>
#include <string_view>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/encode/encoded_op.h"
#include "src/host/kernel.h"
#include "src/ir/graph.h"

namespace npu::ops {

// What the NPU form of a node may be.
struct LowerOptions {
  bool exact = false;  // identical to BUILTIN_REF, or raw sums that `make_requant` finishes
  bool ppu = false;    // tasks of the pooling unit alone are allowed on this device
};

// All functions are pure: the same node gives the same answer at every call. `graph` has passed
// ir::Verify and `node` is one of its nodes.
struct OpDef {
  std::string_view name;  // TFLite's, "CONV_2D"

  // OK when the host kernel computes the node exactly as TFLite defines it; otherwise kUnsupported
  // with a reason of reason.h. Everything below implies it and repeats it.
  Status (*check)(const ir::Graph& graph, const ir::Node& node);

  // The host kernel, equal to BUILTIN_REF.
  Result<std::unique_ptr<host::Kernel>> (*make_host)(const ir::Graph& graph, const ir::Node& node);

  // The NPU form; null: the operation has none in this slice. kUnsupported with a reason: this node
  // stays on the host. `options.exact` asks for a form identical to BUILTIN_REF: where the NPU's
  // requantization cannot be, the result is raw_int32() and `make_requant` finishes it.
  Result<encode::EncodedOp> (*lower)(const ir::Graph& graph, const ir::Node& node,
                                     const chip::Profile& profile, const LowerOptions& options);

  // For raw_int32 results: input 0 is the sums (int32 cube of the output's H, W, C), output 0 the
  // node's int8 tensor, as a cube or row-major. Null where `lower` never gives raw sums.
  Result<std::unique_ptr<host::Kernel>> (*make_requant)(const ir::Graph& graph,
                                                        const ir::Node& node);
};

// The row of an operation. Every alternative of ir::OpParams (and every kind of unary, binary and
// pool) has one.
const OpDef& FindOp(const ir::OpParams& params);

// Every row, in the order of op_list.inc.
std::span<const OpDef> AllOps();

}  // namespace npu::ops

#endif  // SRC_OPS_OP_DEF_H_
