// SPDX-License-Identifier: Apache-2.0
#include "src/ir/window.h"

#include <algorithm>

namespace npu::ir {

AxisWindow ComputeAxisWindow(int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                             Padding padding) {
  const int64_t effective = (kernel - 1) * dilation + 1;
  const int64_t out = padding == Padding::kSame ? (in + stride - 1) / stride
                      : in < effective          ? 0
                                                : (in + stride - effective) / stride;
  const int64_t total = std::max<int64_t>((out - 1) * stride + effective - in, 0);
  return {.out = out, .pad_before = total / 2, .pad_after = total - total / 2};
}

}  // namespace npu::ir
