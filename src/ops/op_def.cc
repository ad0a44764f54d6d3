// SPDX-License-Identifier: Apache-2.0
#include "src/ops/op_def.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <type_traits>

#include "src/host/kernels.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

using CheckFn = Status (*)(const ir::Graph&, const ir::Node&);
using MakeFn = host::KernelResult (*)(const ir::Graph&, const ir::Node&);
using LowerFn = LowerResult (*)(const ir::Graph&, const ir::Node&, const chip::Profile&,
                                const LowerOptions&);

// Claim and preparation ask the same rule, so that they cannot disagree.
template <CheckFn kCheck, MakeFn kMake>
host::KernelResult CheckedMake(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(kCheck(graph, node));
  return kMake(graph, node);
}

template <CheckFn kCheck, LowerFn kLower>
LowerResult CheckedLower(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                         const LowerOptions& options) {
  NPU_RETURN_IF_ERROR(kCheck(graph, node));
  // A batch of images is none of the NPU's; FULLY_CONNECTED sees its input as rows.
  if (!std::holds_alternative<ir::FullyConnectedParams>(node.params)) {
    NPU_RETURN_IF_ERROR(CheckOneImage(graph, node));
  }
  return kLower(graph, node, profile, options);
}

// `kMake` is a function or nullptr, told apart by type: GCC's sanitizers make a comparison of
// function pointers no constant expression.
template <CheckFn kCheck, auto kMake>
constexpr MakeFn MakeOrNull() {
  if constexpr (std::is_null_pointer_v<decltype(kMake)>) {
    return nullptr;
  } else {
    return &CheckedMake<kCheck, kMake>;
  }
}

template <CheckFn kCheck, auto kLower>
constexpr LowerFn LowerOrNull() {
  if constexpr (std::is_null_pointer_v<decltype(kLower)>) {
    return nullptr;
  } else {
    return &CheckedLower<kCheck, kLower>;
  }
}

constexpr auto kOps = std::to_array<OpDef>({
#define NPU_OP(name, family, lower, requant)                                \
  {name, &Check##family, &CheckedMake<&Check##family, &host::Make##family>, \
   LowerOrNull<&Check##family, lower>(), MakeOrNull<&Check##family, requant>()},
#include "src/ops/op_list.inc"
#undef NPU_OP
});

}  // namespace

std::span<const OpDef> AllOps() { return kOps; }

const OpDef& FindOp(const ir::OpParams& params) {
  const std::string_view name = ir::OpName(params);
  const auto* row =
      std::find_if(kOps.begin(), kOps.end(), [&](const OpDef& op) { return op.name == name; });
  assert(row != kOps.end());  // a test walks over every alternative of OpParams
  return *row;
}

}  // namespace npu::ops
