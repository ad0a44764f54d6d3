// SPDX-License-Identifier: Apache-2.0
// What an int8 convolution is: on the silicon (rk3588-conv-matmul section 6) and in TFLite's
// reference kernels (tflite-delegate 3.2, 3.3, 4.1, 4.3, 4.8, 4.17). Slow and plain on purpose.
#ifndef TESTS_ORACLE_CONV_ORACLE_H_
#define TESTS_ORACLE_CONV_ORACLE_H_

#include <cstdint>
#include <vector>

namespace npu::oracle {

struct ConvShape {
  bool depthwise = false;
  int ic = 1, ih = 1, iw = 1;
  int oc = 1, oh = 1, ow = 1;
  int kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  int pad_top = 0, pad_left = 0;
};

// x[ih][iw][ic]; w[oc][kh][kw][ic], depthwise [c][kh][kw]. The result is [oh][ow][oc].

// Sum over x * w; a tap outside the plane reads `pad`. Sections 6.1, and 6.3 for w0: -w0 times the
// sum of the window joins (CPEND).
std::vector<int64_t> SiliconSums(const ConvShape& s, const std::vector<int8_t>& x,
                                 const std::vector<int8_t>& w, int pad, int w0 = 0);

// BS add and multiply, ReLU, OUT_CVT with ties to even. Sections 6.5, 6.6.
struct SiliconPost {
  std::vector<int32_t> addend;
  std::vector<int16_t> multiplier;  // empty: the multiply is bypassed
  int bs_shift = 0;
  bool relu = false, relux = false;
  int32_t relux_limit = 0;
  int scale = 1, shift = 0, offset = 0;
};
int8_t SiliconOutput(const SiliconPost& post, int channel, int64_t sum);

// round(p / 2^s), ties to even, for any s >= 0.
int64_t RoundHalfEven(int64_t p, int s);

// bias + sum over (x - x0) * (w - w0); taps outside the plane are left out.
std::vector<int64_t> ReferenceSums(const ConvShape& s, const std::vector<int8_t>& x,
                                   const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                                   int x0, int w0 = 0);

// A real multiplier as m * 2^(e - 31).
struct Multiplier {
  int64_t m = 0;
  int e = 0;
};
Multiplier QuantizeMultiplier(double real);
// Multiplier of MEAN over n elements, formula B.
Multiplier MeanMultiplier(double real, int64_t n);

// acc * M rounded as CONV_2D does (two roundings) and as FULLY_CONNECTED does (one, half away).
int64_t RequantizeDouble(int64_t acc, Multiplier m);
int64_t RequantizeSingle(int64_t acc, Multiplier m);

// Mean of n int8 elements with sum `sum`, half away from zero; of uint8 elements less 128, half up.
int64_t AveragePool(int64_t sum, int64_t n);
int64_t AveragePoolUint8(int64_t sum, int64_t n);

}  // namespace npu::oracle

#endif  // TESTS_ORACLE_CONV_ORACLE_H_
