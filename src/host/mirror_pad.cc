// SPDX-License-Identifier: Apache-2.0
// MIRROR_PAD: along each axis a mirrored strip, the input, a mirrored strip; a box for each
// combination.
#include <array>

#include "src/host/kernels.h"
#include "src/host/move.h"
#include "src/ir/constants.h"

namespace npu::host {
namespace {

// The up to three strips of one axis. REFLECT mirrors at the border element, SYMMETRIC behind it.
std::vector<BoxAxis> Strips(size_t extent, size_t before, size_t after, bool symmetric) {
  const size_t skipped = symmetric ? 0 : 1;
  std::vector<BoxAxis> strips;
  if (before > 0) {
    strips.push_back({.count = before, .from = before - 1 + skipped, .step = -1, .to = 0});
  }
  strips.push_back({.count = extent, .from = 0, .step = 1, .to = before});
  if (after > 0) {
    strips.push_back(
        {.count = after, .from = extent - 1 - skipped, .step = -1, .to = before + extent});
  }
  return strips;
}

}  // namespace

KernelResult MakeMirrorPad(const ir::Graph& graph, const ir::Node& node) {
  const Shape& input = graph.input(node, 0).type.shape;
  const Shape& output = graph.output(node).type.shape;
  const bool symmetric = std::get<ir::MirrorPadParams>(node.params).symmetric;
  const std::vector<int64_t> paddings = ir::Integers(graph.input(node, 1));
  std::vector<Box> boxes{{.axes = {}, .input = input, .output = output}};
  for (size_t i = 0; i < input.rank(); ++i) {
    const std::vector<BoxAxis> strips =
        Strips(static_cast<size_t>(input[i]), static_cast<size_t>(paddings[2 * i]),
               static_cast<size_t>(paddings[2 * i + 1]), symmetric);
    std::vector<Box> longer;
    for (const Box& box : boxes) {
      for (const BoxAxis& strip : strips) {
        longer.push_back(box);
        longer.back().axes.push_back(strip);
      }
    }
    boxes = std::move(longer);
  }
  return MakeMove(graph, node, {.boxes = std::move(boxes), .fill = std::nullopt});
}

}  // namespace npu::host
