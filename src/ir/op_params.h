// SPDX-License-Identifier: Apache-2.0
// Parameters of every model operation: plain data, filled by the frontends, read by ops and host.
// Extents and strides are height before width everywhere.
#ifndef SRC_IR_OP_PARAMS_H_
#define SRC_IR_OP_PARAMS_H_

#include <cstdint>
#include <variant>
#include <vector>

namespace npu::ir {

enum class Activation : uint8_t { kNone, kRelu, kReluN1To1, kRelu6 };
enum class Padding : uint8_t { kSame, kValid };

// CONV_2D: inputs x[N,H,W,IC], filter[OC,KH,KW,IC/groups], optional bias[OC].
struct Conv2dParams {
  Padding padding = Padding::kSame;
  int32_t sh = 1, sw = 1;
  int32_t dh = 1, dw = 1;
  Activation activation = Activation::kNone;
};

// DEPTHWISE_CONV_2D: filter[1,KH,KW,C*multiplier], quantized along axis 3.
struct DepthwiseConv2dParams {
  Padding padding = Padding::kSame;
  int32_t sh = 1, sw = 1;
  int32_t dh = 1, dw = 1;
  int32_t multiplier = 1;
  Activation activation = Activation::kNone;
};

// TRANSPOSE_CONV: inputs the constant output shape, filter[OC,KH,KW,IC], x[N,H,W,IC], optional
// bias[OC].
struct TransposeConvParams {
  Padding padding = Padding::kSame;
  int32_t sh = 1, sw = 1;
  Activation activation = Activation::kNone;
};

// FULLY_CONNECTED: inputs x (flattened to [M,K]), filter[N,K], optional bias[N].
struct FullyConnectedParams {
  Activation activation = Activation::kNone;
  bool keep_num_dims = false;
};

enum class BinaryKind : uint8_t { kAdd, kSub, kMul, kDiv, kMaximum, kMinimum };
struct BinaryParams {
  BinaryKind kind = BinaryKind::kAdd;
  Activation activation = Activation::kNone;  // none for MAXIMUM and MINIMUM
};

enum class PoolKind : uint8_t { kAverage, kMax };
struct Pool2dParams {
  PoolKind kind = PoolKind::kMax;
  Padding padding = Padding::kValid;
  int32_t kh = 1, kw = 1;
  int32_t sh = 1, sw = 1;
  Activation activation = Activation::kNone;
};

// MEAN: input 1 is the constant axis vector.
struct MeanParams {
  bool keep_dims = false;
};

// SUM, REDUCE_MAX, REDUCE_MIN: as MEAN.
enum class ReduceKind : uint8_t { kSum, kMax, kMin };
struct ReduceParams {
  ReduceKind kind = ReduceKind::kMax;
  bool keep_dims = false;
};

struct ConcatenationParams {
  int32_t axis = 0;
};

// RESHAPE, SQUEEZE, EXPAND_DIMS: the output tensor's type carries the final shape.
enum class ReshapeKind : uint8_t { kReshape, kSqueeze, kExpandDims };
struct ReshapeParams {
  ReshapeKind kind = ReshapeKind::kReshape;
};

// PAD: input 1 is the constant [rank,2] paddings; PADV2: also input 2, the constant fill.
enum class PadKind : uint8_t { kPad, kPadV2 };
struct PadParams {
  PadKind kind = PadKind::kPad;
};

// MIRROR_PAD: input 1 is the constant [rank,2] paddings. SYMMETRIC repeats the border, REFLECT not.
struct MirrorPadParams {
  bool symmetric = false;
};

// TRANSPOSE: input 1 is the constant permutation.
struct TransposeParams {};

// SLICE: inputs x, begin, size (constants).
struct SliceParams {};

// STRIDED_SLICE: inputs x, begin, end, strides (constants). Bit i of a mask belongs to entry i of
// these vectors.
struct StridedSliceParams {
  uint32_t begin_mask = 0, end_mask = 0;
  uint32_t ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  bool offset = false;  // end counts from begin
};

// SPLIT: inputs axis (constant), x. SPLIT_V: inputs x, sizes (constant), axis (constant). One
// output for each part.
enum class SplitKind : uint8_t { kSplit, kSplitV };
struct SplitParams {
  SplitKind kind = SplitKind::kSplit;
};

enum class UnaryKind : uint8_t {
  kRelu,
  kReluN1To1,
  kRelu6,
  kLeakyRelu,
  kLogistic,
  kHardSwish,
  kTanh,
  kRelu0To1,
  kElu,
  kExp,
  kAbs,
  kRsqrt,
};
struct UnaryParams {
  UnaryKind kind = UnaryKind::kRelu;
  float alpha = 0.0F;  // LEAKY_RELU
};

// PRELU: input 1 is the slope, broadcast to input 0.
struct PreluParams {};

// Over the last axis.
struct LogSoftmaxParams {};
struct L2NormalizationParams {};

struct SoftmaxParams {
  float beta = 1.0F;
};

// RESIZE_BILINEAR: input 1 is the constant {OH, OW}.
struct ResizeBilinearParams {
  bool align_corners = false;
  bool half_pixel_centers = false;
};

// RESIZE_NEAREST_NEIGHBOR: input 1 is the constant {OH, OW}.
struct ResizeNearestParams {
  bool align_corners = false;
  bool half_pixel_centers = false;
};

struct QuantizeParams {};
struct DequantizeParams {};

using OpParams =
    std::variant<Conv2dParams, DepthwiseConv2dParams, FullyConnectedParams, BinaryParams,
                 Pool2dParams, MeanParams, ConcatenationParams, ReshapeParams, PadParams,
                 UnaryParams, SoftmaxParams, ResizeBilinearParams, QuantizeParams, DequantizeParams,
                 MirrorPadParams, TransposeParams, SliceParams, StridedSliceParams, SplitParams,
                 ResizeNearestParams, PreluParams, ReduceParams, LogSoftmaxParams,
                 L2NormalizationParams, TransposeConvParams>;

}  // namespace npu::ir

#endif  // SRC_IR_OP_PARAMS_H_
