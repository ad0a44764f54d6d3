// SPDX-License-Identifier: Apache-2.0
// PAD with the output's zero point, PADV2 with a constant that carries the output's quantization.
#include <cstring>

#include "src/host/kernels.h"
#include "src/host/move.h"
#include "src/ir/constants.h"

namespace npu::host {

KernelResult MakePad(const ir::Graph& graph, const ir::Node& node) {
  const Shape& input = graph.input(node, 0).type.shape;
  const ir::TensorType& output = graph.output(node).type;
  const std::vector<int64_t> paddings = ir::Integers(graph.input(node, 1));
  Box box{.axes = {}, .input = input, .output = output.shape};
  for (size_t i = 0; i < input.rank(); ++i) {
    box.axes.push_back(
        {.count = static_cast<size_t>(input[i]), .to = static_cast<size_t>(paddings[2 * i])});
  }
  auto fill = static_cast<int8_t>(output.quant.zero_point());
  if (std::get<ir::PadParams>(node.params).kind == ir::PadKind::kPadV2) {
    std::memcpy(&fill, graph.input(node, 2).constant.data(), 1);
  }
  return MakeMove(graph, node, {.boxes = {std::move(box)}, .fill = fill});
}

}  // namespace npu::host
