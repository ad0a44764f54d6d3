// SPDX-License-Identifier: Apache-2.0
// Output extents and padding of convolutions and pools along one axis.
#ifndef SRC_IR_WINDOW_H_
#define SRC_IR_WINDOW_H_

#include <cstdint>

#include "src/ir/op_params.h"

namespace npu::ir {

struct AxisWindow {
  int64_t out = 0;         // output extent; <= 0: the window does not fit
  int64_t pad_before = 0;  // top or left
  int64_t pad_after = 0;   // bottom or right: gets the odd one
};

// Ranges: every argument but `padding` is >= 1. Example: (224, 3, 2, 1, SAME) -> 112, 0, 1.
// Source: tflite-delegate 3.1.
AxisWindow ComputeAxisWindow(int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                             Padding padding);

}  // namespace npu::ir

#endif  // SRC_IR_WINDOW_H_
