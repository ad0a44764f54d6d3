// SPDX-License-Identifier: Apache-2.0
// What elementwise operations and maximum pools of int8 are: on the silicon (rk3588-dpu-ppu 4, 9,
// 11) and in TFLite's reference kernels (tflite-delegate 4.5, 4.8, 4.10, 4.23). Slow and plain on
// purpose.
#ifndef TESTS_ORACLE_ELEMENTWISE_ORACLE_H_
#define TESTS_ORACLE_ELEMENTWISE_ORACLE_H_

#include <cstdint>
#include <vector>

namespace npu::oracle {

// Numbers of the stages; `op` is '+', '-', '>' (maximum), '<' (minimum) or 0 (no operand).
struct ElementwiseStages {
  char op = '+';
  int64_t a_addend = 0, a_multiplier = 1;
  int64_t b_addend = 0, b_multiplier = 1;
  int b_shift = 0;
  bool relu = false, relux = false;
  int64_t limit = 0;
  int64_t scale = 1;
  int shift = 0;
  int64_t offset = 0;
  bool half_away = false;
};
int SiliconElement(const ElementwiseStages& s, int a, int b);

// Scale and zero point.
struct Quant {
  float s = 1.0F;
  int z = 0;
};
int ReferenceAdd(int a, int b, bool subtract, Quant qa, Quant qb, Quant out, int lo, int hi);
// RELU and RELU6 (the ratio of the scales formed in float), QUANTIZE (in double).
int ReferenceRescale(int q, Quant in, Quant out, bool in_float, int lo, int hi);

struct PoolShape {
  int c = 1, ih = 1, iw = 1, oh = 1, ow = 1;
  int kh = 1, kw = 1, sh = 1, sw = 1, pad_top = 0, pad_left = 0;
};
// x[ih][iw][c]; taps outside the plane are left out.
std::vector<int> MaxPool(const PoolShape& s, const std::vector<int8_t>& x);

}  // namespace npu::oracle

#endif  // TESTS_ORACLE_ELEMENTWISE_ORACLE_H_
