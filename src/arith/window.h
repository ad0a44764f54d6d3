// SPDX-License-Identifier: Apache-2.0
// Output extent and padding of a sliding window along one axis, as TensorFlow Lite computes them.
#ifndef SRC_ARITH_WINDOW_H_
#define SRC_ARITH_WINDOW_H_

#include <algorithm>
#include <cstdint>

namespace npu::arith {

// One axis of a convolution or pooling window.
struct Window {
  int64_t in = 0;        // >= 1
  int64_t kernel = 1;    // >= 1
  int64_t stride = 1;    // >= 1
  int64_t dilation = 1;  // >= 1
};

struct WindowExtent {
  int64_t out = 0;       // <= 0 when the window does not fit (VALID)
  int64_t leading = 0;   // top or left
  int64_t trailing = 0;  // bottom or right; takes the odd one
  friend constexpr bool operator==(const WindowExtent&, const WindowExtent&) = default;
};

// Ranges: every product below 2^62. Example: in 224, kernel 3, stride 2, SAME -> {112, 0, 1}.
// Source: tflite-delegate 3.1.
constexpr WindowExtent WindowOutput(const Window& w, bool same_padding) {
  const int64_t effective = (w.kernel - 1) * w.dilation + 1;
  const int64_t room = w.in + w.stride - (same_padding ? 1 : effective);
  const int64_t out = room < 0 ? 0 : room / w.stride;
  const int64_t total = std::max<int64_t>((out - 1) * w.stride + effective - w.in, 0);
  return {out, total / 2, total - total / 2};
}

}  // namespace npu::arith

#endif  // SRC_ARITH_WINDOW_H_
