// SPDX-License-Identifier: Apache-2.0
// Operator codes of the .tflite schema: those we handle, and names for all.
#ifndef SRC_FRONTENDS_TFLITE_BUILTIN_OPS_H_
#define SRC_FRONTENDS_TFLITE_BUILTIN_OPS_H_

#include <cstdint>
#include <string_view>

namespace npu::tflite {

enum BuiltinOp : int32_t {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDequantize = 6,
  kFullyConnected = 9,
  kL2Normalization = 11,
  kLogistic = 14,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kSoftmax = 25,
  kTanh = 28,
  kCustom = 32,
  kPad = 34,
  kTranspose = 39,
  kMean = 40,
  kSub = 41,
  kDiv = 42,
  kSqueeze = 43,
  kStridedSlice = 45,
  kExp = 47,
  kSplit = 49,
  kLogSoftmax = 50,
  kDelegate = 51,
  kPrelu = 54,
  kMaximum = 55,
  kMinimum = 57,
  kPadV2 = 60,
  kSlice = 65,
  kTransposeConv = 67,
  kExpandDims = 70,
  kSum = 74,
  kRsqrt = 76,
  kReduceMax = 82,
  kReduceMin = 89,
  kResizeNearestNeighbor = 97,
  kLeakyRelu = 98,
  kMirrorPad = 100,
  kAbs = 101,
  kSplitV = 102,
  kElu = 111,
  kQuantize = 114,
  kHardSwish = 117,
  kRelu0To1 = 152,
};

// "CONV_2D"; empty for a code this library does not know.
std::string_view BuiltinOpName(int32_t code);

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_BUILTIN_OPS_H_
