// SPDX-License-Identifier: Apache-2.0
// What SLICE, STRIDED_SLICE, SPLIT and SPLIT_V cut out of their input.
#ifndef SRC_IR_CUT_H_
#define SRC_IR_CUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "src/ir/graph.h"

namespace npu::ir {

// Elements start, start + step, ... of one axis; all of them inside the axis.
struct CutAxis {
  int64_t start = 0;
  int64_t step = 1;  // never 0
  int64_t count = 0;
};

// One output's share of the input.
struct Cut {
  // The input with axes of extent 1 inserted where STRIDED_SLICE adds one; as many as `axes`.
  Shape input;
  std::vector<CutAxis> axes;
  Shape output;  // the counts, without the axes STRIDED_SLICE removes
};

// The share of output `i`; nothing where the node's constants, axes and masks ask for elements that
// do not exist, or in a form TFLite defines no result for. The integer operands are constants
// (ops::ConstantIntegers); `output` is not compared with the node's output tensor. Source:
// tflite-delegate 4.21.
std::optional<Cut> SliceCut(const Graph& graph, const Node& node);
std::optional<Cut> StridedSliceCut(const Graph& graph, const Node& node);
// SPLIT and SPLIT_V: parts in the order of the outputs, as large as these are along the axis.
std::optional<Cut> SplitCut(const Graph& graph, const Node& node, size_t i);

}  // namespace npu::ir

#endif  // SRC_IR_CUT_H_
