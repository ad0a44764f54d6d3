// SPDX-License-Identifier: Apache-2.0
// The kernel of every operation that copies boxes of its inputs into boxes of its outputs: slices,
// splits, pads, mirrored pads.
#ifndef SRC_HOST_MOVE_H_
#define SRC_HOST_MOVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/base/data_type.h"
#include "src/host/kernels.h"
#include "src/ir/cut.h"

namespace npu::host {

// One axis of a box, in elements: input elements from, from + step, ... go to to, to + 1, ...
struct BoxAxis {
  size_t count = 1;
  size_t from = 0;
  ptrdiff_t step = 1;
  size_t to = 0;
};

// A box of the run-time input copied into a box of one output.
struct Box {
  std::vector<BoxAxis> axes;  // as many as `input` and `output` have
  Shape input;                // the input with the rank of the boxes
  Shape output;               // likewise the output
  size_t output_index = 0;
};

struct Move {
  size_t input_index = 0;      // of the node; the one input that is read at run time
  std::vector<Box> boxes;      // inside their shapes, and no element written twice
  std::optional<int8_t> fill;  // of what no box covers; nothing: the boxes cover the outputs
};

// `node` has int8 operands. Row-major; also on cubes when all boxes are of images [1,H,W,C] of both
// tensors as they are.
KernelResult MakeMove(const ir::Graph& graph, const ir::Node& node, const Move& move);

// The box of one output that is a cut of the input.
Box CutBox(const ir::Cut& cut, size_t output_index);

}  // namespace npu::host

#endif  // SRC_HOST_MOVE_H_
