// SPDX-License-Identifier: Apache-2.0
// SPLIT and SPLIT_V: one box of the input for each output.
#include "src/host/kernels.h"
#include "src/host/move.h"

namespace npu::host {

KernelResult MakeSplit(const ir::Graph& graph, const ir::Node& node) {
  const bool sized = std::get<ir::SplitParams>(node.params).kind == ir::SplitKind::kSplitV;
  Move move{.input_index = sized ? size_t{0} : size_t{1}, .boxes = {}, .fill = std::nullopt};
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::optional<ir::Cut> cut = ir::SplitCut(graph, node, i);
    if (!cut) return Status(ErrorCode::kInternal, "a split without its support rule");
    move.boxes.push_back(CutBox(*cut, i));
  }
  return MakeMove(graph, node, move);
}

}  // namespace npu::host
