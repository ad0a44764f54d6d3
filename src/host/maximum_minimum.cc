// SPDX-License-Identifier: Apache-2.0
// MAXIMUM and MINIMUM of stored integers: no rescale, the quantizations agree.
#include <algorithm>
#include <utility>

#include "src/host/broadcast_kernel.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

struct Larger {
  int8_t operator()(int8_t a, int8_t b) const { return std::max(a, b); }
};
struct Smaller {
  int8_t operator()(int8_t a, int8_t b) const { return std::min(a, b); }
};

}  // namespace

KernelResult MakeMaximumMinimum(const ir::Graph& graph, const ir::Node& node) {
  if (std::get<ir::BinaryParams>(node.params).kind == ir::BinaryKind::kMaximum) {
    return MakeBroadcastKernel(graph, node, Larger{});
  }
  return MakeBroadcastKernel(graph, node, Smaller{});
}

}  // namespace npu::host
