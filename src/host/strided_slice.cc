// SPDX-License-Identifier: Apache-2.0
// STRIDED_SLICE: one box of the input with steps, seen with the axes it adds.
#include "src/host/kernels.h"
#include "src/host/move.h"

namespace npu::host {

KernelResult MakeStridedSlice(const ir::Graph& graph, const ir::Node& node) {
  const std::optional<ir::Cut> cut = ir::StridedSliceCut(graph, node);
  if (!cut) return Status(ErrorCode::kInternal, "a strided slice without its support rule");
  return MakeMove(graph, node, {.boxes = {CutBox(*cut, 0)}, .fill = std::nullopt});
}

}  // namespace npu::host
