// SPDX-License-Identifier: Apache-2.0
// SLICE: one box of the input.
#include "src/host/kernels.h"
#include "src/host/move.h"

namespace npu::host {

KernelResult MakeSlice(const ir::Graph& graph, const ir::Node& node) {
  const std::optional<ir::Cut> cut = ir::SliceCut(graph, node);
  if (!cut) return Status(ErrorCode::kInternal, "a slice without its support rule");
  return MakeMove(graph, node, {.boxes = {CutBox(*cut, 0)}, .fill = std::nullopt});
}

}  // namespace npu::host
