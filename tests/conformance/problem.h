// SPDX-License-Identifier: Apache-2.0
// One-line problems: "conv ic17 oc40 ih9 iw7 kh3 kw3 sh2 sw1 dh1 dw1 pt1 pb1 pl0 pr1 zi-3 zo5 pc1
// spread300 gain0 act0 bias1 dead0 raw0 banks12 seed5 i8". Every word after the first is a name and
// a number; missing ones keep their default.
#ifndef TESTS_CONFORMANCE_PROBLEM_H_
#define TESTS_CONFORMANCE_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/oracle/conv_oracle.h"

namespace npu::conformance {

enum class Kind : uint8_t { kConv, kDepthwise, kFullyConnected, kAveragePool, kMean };

struct Problem {
  Kind kind = Kind::kConv;
  int ic = 1, oc = 1, ih = 1, iw = 1;
  int kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  int pt = 0, pb = 0, pl = 0, pr = 0;
  int zi = 0, zo = 0;  // zero points
  int zw = 0;          // zero point of the weights, as uint8 models have them
  int up = 0;          // 1: an average of rebased uint8
  int pc = 0;          // per-channel scales
  int spread = 1;      // largest scale / smallest scale
  int gain = 0;        // log2 of the multiplier beside one that fills the output range
  int act = 0;         // 0 none, 1 ReLU, 2 ReLU6-like upper limit
  int bias = 1;        // 0 none, 1 of the output's size, 2 some near 2^30
  int dead = 0;        // 1: some channels with zero, denormal or huge scales or zero weights
  int raw = 0;         // raw int32 output
  int banks = 12;      // CBUF banks the encoder may use
  int seed = 1;

  bool operator==(const Problem&) const = default;
};

std::string ToString(const Problem& problem);
// Nothing when a word is unknown or a number malformed.
std::optional<Problem> Parse(std::string_view line);
// A problem whose oracle needs at most `max_macs` multiply-accumulates.
Problem Random(std::mt19937& random, int64_t max_macs);
// Whether extents, paddings and kinds go together.
bool IsValid(const Problem& problem);
// Smaller problems to try when this one fails, most drastic first.
std::vector<Problem> Smaller(const Problem& problem);

oracle::ConvShape ShapeOf(const Problem& problem);

// Tensors of a problem, from its seed alone.
struct Data {
  std::vector<int8_t> input;    // [ih][iw][ic]
  std::vector<int8_t> weights;  // [oc][kh][kw][ic], depthwise [c][kh][kw]
  std::vector<int32_t> bias;
  std::vector<double> multipliers;
  int clamp_lo = -128, clamp_hi = 127;
};
Data MakeData(const Problem& problem);

}  // namespace npu::conformance

#endif  // TESTS_CONFORMANCE_PROBLEM_H_
