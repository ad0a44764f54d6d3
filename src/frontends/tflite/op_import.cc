// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/op_import.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "src/frontends/tflite/builtin_ops.h"

namespace npu::tflite {
namespace {

Status BadParameters(std::string detail) {
  return Status(ErrorCode::kCorruptData, std::move(detail), "op.parameters");
}

Result<ir::Activation> ImportActivation(int32_t value) {
  switch (value) {
    case abi::kActivationNone:
      return ir::Activation::kNone;
    case abi::kActivationRelu:
      return ir::Activation::kRelu;
    case abi::kActivationReluN1To1:
      return ir::Activation::kReluN1To1;
    case abi::kActivationRelu6:
      return ir::Activation::kRelu6;
    default:
      break;
  }
  static constexpr std::array<std::string_view, 3> kOthers = {"TANH", "SIGN_BIT", "SIGMOID"};
  const bool known = value >= abi::kActivationTanh && value <= abi::kActivationSigmoid;
  return Status(ErrorCode::kUnsupported,
                fmt::format("fused activation {} is not claimed",
                            known ? std::string(kOthers[static_cast<size_t>(value - 4)])
                                  : fmt::format("{} (not a known one)", value)),
                "op.activation");
}

Result<ir::Padding> ImportPadding(int32_t value) {
  if (value == abi::kPaddingSame) return ir::Padding::kSame;
  if (value == abi::kPaddingValid) return ir::Padding::kValid;
  return BadParameters(fmt::format("padding {} is neither SAME (1) nor VALID (2)", value));
}

// The first version of STRIDED_SLICE whose parameters have a member `offset` (tflite-delegate 1.3).
constexpr int32_t kVersionWithOffset = 8;

template <typename T>
const T* ParamsOf(const abi::Node& node) {
  return static_cast<const T*>(node.builtin_data);
}

Result<ir::OpParams> ImportConv2d(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::ConvParams>(node);
  NPU_ASSIGN_OR_RETURN(const ir::Padding padding, ImportPadding(p.padding));
  NPU_ASSIGN_OR_RETURN(const ir::Activation activation, ImportActivation(p.activation));
  return ir::OpParams(ir::Conv2dParams{.padding = padding,
                                       .sh = p.stride_height,
                                       .sw = p.stride_width,
                                       .dh = p.dilation_height_factor,
                                       .dw = p.dilation_width_factor,
                                       .activation = activation});
}

Result<ir::OpParams> ImportDepthwise(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::DepthwiseConvParams>(node);
  NPU_ASSIGN_OR_RETURN(const ir::Padding padding, ImportPadding(p.padding));
  NPU_ASSIGN_OR_RETURN(const ir::Activation activation, ImportActivation(p.activation));
  return ir::OpParams(ir::DepthwiseConv2dParams{.padding = padding,
                                                .sh = p.stride_height,
                                                .sw = p.stride_width,
                                                .dh = p.dilation_height_factor,
                                                .dw = p.dilation_width_factor,
                                                .multiplier = p.depth_multiplier,
                                                .activation = activation});
}

template <ir::PoolKind kKind>
Result<ir::OpParams> ImportPool(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::PoolParams>(node);
  NPU_ASSIGN_OR_RETURN(const ir::Padding padding, ImportPadding(p.padding));
  NPU_ASSIGN_OR_RETURN(const ir::Activation activation, ImportActivation(p.activation));
  return ir::OpParams(ir::Pool2dParams{.kind = kKind,
                                       .padding = padding,
                                       .kh = p.filter_height,
                                       .kw = p.filter_width,
                                       .sh = p.stride_height,
                                       .sw = p.stride_width,
                                       .activation = activation});
}

Result<ir::OpParams> ImportFullyConnected(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::FullyConnectedParams>(node);
  NPU_ASSIGN_OR_RETURN(const ir::Activation activation, ImportActivation(p.activation));
  if (p.weights_format != 0) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("weights format {} is not claimed", p.weights_format),
                  "op.parameters");
  }
  return ir::OpParams(
      ir::FullyConnectedParams{.activation = activation, .keep_num_dims = p.keep_num_dims != 0});
}

template <ir::BinaryKind kKind>
Result<ir::OpParams> ImportBinary(const abi::Node& node, int32_t) {
  NPU_ASSIGN_OR_RETURN(const ir::Activation activation,
                       ImportActivation(ParamsOf<abi::BinaryParams>(node)->activation));
  return ir::OpParams(ir::BinaryParams{.kind = kKind, .activation = activation});
}

Result<ir::OpParams> ImportConcatenation(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::ConcatenationParams>(node);
  if (p.activation != abi::kActivationNone) {
    return Status(ErrorCode::kUnsupported, "a concatenation with a fused activation is not claimed",
                  "op.activation");
  }
  return ir::OpParams(ir::ConcatenationParams{.axis = p.axis});
}

// MAXIMUM and MINIMUM come without attributes.
template <ir::BinaryKind kKind>
Result<ir::OpParams> ImportChoice(const abi::Node&, int32_t) {
  return ir::OpParams(ir::BinaryParams{.kind = kKind});
}

template <ir::UnaryKind kKind>
Result<ir::OpParams> ImportUnary(const abi::Node&, int32_t) {
  return ir::OpParams(ir::UnaryParams{.kind = kKind});
}

Result<ir::OpParams> ImportLeakyRelu(const abi::Node& node, int32_t) {
  const float alpha = ParamsOf<abi::LeakyReluParams>(node)->alpha;
  if (!std::isfinite(alpha)) return BadParameters(fmt::format("LEAKY_RELU with alpha {}", alpha));
  return ir::OpParams(ir::UnaryParams{.kind = ir::UnaryKind::kLeakyRelu, .alpha = alpha});
}

Result<ir::OpParams> ImportSoftmax(const abi::Node& node, int32_t) {
  const float beta = ParamsOf<abi::SoftmaxParams>(node)->beta;
  if (!std::isfinite(beta)) return BadParameters(fmt::format("SOFTMAX with beta {}", beta));
  return ir::OpParams(ir::SoftmaxParams{.beta = beta});
}

template <typename Params>
Result<ir::OpParams> ImportResize(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::ResizeParams>(node);
  return ir::OpParams(Params{.align_corners = p.align_corners != 0,
                             .half_pixel_centers = p.half_pixel_centers != 0});
}

template <ir::ReshapeKind kKind>
Result<ir::OpParams> ImportReshape(const abi::Node&, int32_t) {
  return ir::OpParams(ir::ReshapeParams{.kind = kKind});
}

template <ir::PadKind kKind>
Result<ir::OpParams> ImportPad(const abi::Node&, int32_t) {
  return ir::OpParams(ir::PadParams{.kind = kKind});
}

Result<ir::OpParams> ImportMirrorPad(const abi::Node& node, int32_t) {
  const int32_t mode = ParamsOf<abi::MirrorPadParams>(node)->mode;
  if (mode != abi::kMirrorReflect && mode != abi::kMirrorSymmetric) {
    return BadParameters(fmt::format("mode {} is neither REFLECT (1) nor SYMMETRIC (2)", mode));
  }
  return ir::OpParams(ir::MirrorPadParams{.symmetric = mode == abi::kMirrorSymmetric});
}

template <ir::SplitKind kKind>
Result<ir::OpParams> ImportSplit(const abi::Node&, int32_t) {
  return ir::OpParams(ir::SplitParams{.kind = kKind});
}

Result<ir::OpParams> ImportStridedSlice(const abi::Node& node, int32_t version) {
  const auto& p = *ParamsOf<abi::StridedSliceParams>(node);
  return ir::OpParams(
      ir::StridedSliceParams{.begin_mask = static_cast<uint32_t>(p.begin_mask),
                             .end_mask = static_cast<uint32_t>(p.end_mask),
                             .ellipsis_mask = static_cast<uint32_t>(p.ellipsis_mask),
                             .new_axis_mask = static_cast<uint32_t>(p.new_axis_mask),
                             .shrink_axis_mask = static_cast<uint32_t>(p.shrink_axis_mask),
                             .offset = version >= kVersionWithOffset && p.offset != 0});
}

Result<ir::OpParams> ImportMean(const abi::Node& node, int32_t) {
  return ir::OpParams(
      ir::MeanParams{.keep_dims = ParamsOf<abi::ReducerParams>(node)->keep_dims != 0});
}

template <ir::ReduceKind kKind>
Result<ir::OpParams> ImportReduce(const abi::Node& node, int32_t) {
  return ir::OpParams(ir::ReduceParams{
      .kind = kKind, .keep_dims = ParamsOf<abi::ReducerParams>(node)->keep_dims != 0});
}

Result<ir::OpParams> ImportL2Normalization(const abi::Node& node, int32_t) {
  if (ParamsOf<abi::L2NormParams>(node)->activation != abi::kActivationNone) {
    return Status(ErrorCode::kUnsupported,
                  "an L2_NORMALIZATION with a fused activation is not claimed", "op.activation");
  }
  return ir::OpParams(ir::L2NormalizationParams{});
}

Result<ir::OpParams> ImportTransposeConv(const abi::Node& node, int32_t) {
  const auto& p = *ParamsOf<abi::TransposeConvParams>(node);
  NPU_ASSIGN_OR_RETURN(const ir::Padding padding, ImportPadding(p.padding));
  NPU_ASSIGN_OR_RETURN(const ir::Activation activation, ImportActivation(p.activation));
  return ir::OpParams(ir::TransposeConvParams{
      .padding = padding, .sh = p.stride_height, .sw = p.stride_width, .activation = activation});
}

template <typename Params>
Result<ir::OpParams> ImportPlain(const abi::Node&, int32_t) {
  return ir::OpParams(Params{});
}

struct OpImport {
  BuiltinOp code;
  bool needs_params;
  Result<ir::OpParams> (*import)(const abi::Node& node, int32_t version);
};

constexpr std::array kImports = {
    OpImport{kAdd, true, ImportBinary<ir::BinaryKind::kAdd>},
    OpImport{kAveragePool2d, true, ImportPool<ir::PoolKind::kAverage>},
    OpImport{kConcatenation, true, ImportConcatenation},
    OpImport{kConv2d, true, ImportConv2d},
    OpImport{kDepthwiseConv2d, true, ImportDepthwise},
    OpImport{kDequantize, false, ImportPlain<ir::DequantizeParams>},
    OpImport{kFullyConnected, true, ImportFullyConnected},
    OpImport{kLogistic, false, ImportUnary<ir::UnaryKind::kLogistic>},
    OpImport{kMaxPool2d, true, ImportPool<ir::PoolKind::kMax>},
    OpImport{kMul, true, ImportBinary<ir::BinaryKind::kMul>},
    OpImport{kRelu, false, ImportUnary<ir::UnaryKind::kRelu>},
    OpImport{kReluN1To1, false, ImportUnary<ir::UnaryKind::kReluN1To1>},
    OpImport{kRelu6, false, ImportUnary<ir::UnaryKind::kRelu6>},
    OpImport{kReshape, false, ImportReshape<ir::ReshapeKind::kReshape>},
    OpImport{kResizeBilinear, true, ImportResize<ir::ResizeBilinearParams>},
    OpImport{kSoftmax, true, ImportSoftmax},
    OpImport{kTanh, false, ImportUnary<ir::UnaryKind::kTanh>},
    OpImport{kPad, false, ImportPad<ir::PadKind::kPad>},
    OpImport{kMean, true, ImportMean},
    OpImport{kSub, true, ImportBinary<ir::BinaryKind::kSub>},
    OpImport{kDiv, true, ImportBinary<ir::BinaryKind::kDiv>},
    OpImport{kMaximum, false, ImportChoice<ir::BinaryKind::kMaximum>},
    OpImport{kMinimum, false, ImportChoice<ir::BinaryKind::kMinimum>},
    OpImport{kRelu0To1, false, ImportUnary<ir::UnaryKind::kRelu0To1>},
    OpImport{kElu, false, ImportUnary<ir::UnaryKind::kElu>},
    OpImport{kExp, false, ImportUnary<ir::UnaryKind::kExp>},
    OpImport{kAbs, false, ImportUnary<ir::UnaryKind::kAbs>},
    OpImport{kRsqrt, false, ImportUnary<ir::UnaryKind::kRsqrt>},
    OpImport{kLogSoftmax, false, ImportPlain<ir::LogSoftmaxParams>},
    OpImport{kL2Normalization, true, ImportL2Normalization},
    OpImport{kSum, true, ImportReduce<ir::ReduceKind::kSum>},
    OpImport{kReduceMax, true, ImportReduce<ir::ReduceKind::kMax>},
    OpImport{kReduceMin, true, ImportReduce<ir::ReduceKind::kMin>},
    OpImport{kTransposeConv, true, ImportTransposeConv},
    OpImport{kPrelu, false, ImportPlain<ir::PreluParams>},
    OpImport{kLeakyRelu, true, ImportLeakyRelu},
    OpImport{kQuantize, false, ImportPlain<ir::QuantizeParams>},
    OpImport{kTranspose, false, ImportPlain<ir::TransposeParams>},
    OpImport{kSqueeze, false, ImportReshape<ir::ReshapeKind::kSqueeze>},
    OpImport{kStridedSlice, true, ImportStridedSlice},
    OpImport{kSplit, false, ImportSplit<ir::SplitKind::kSplit>},
    OpImport{kPadV2, false, ImportPad<ir::PadKind::kPadV2>},
    OpImport{kSlice, false, ImportPlain<ir::SliceParams>},
    OpImport{kExpandDims, false, ImportReshape<ir::ReshapeKind::kExpandDims>},
    OpImport{kResizeNearestNeighbor, true, ImportResize<ir::ResizeNearestParams>},
    OpImport{kMirrorPad, true, ImportMirrorPad},
    OpImport{kSplitV, false, ImportSplit<ir::SplitKind::kSplitV>},
    OpImport{kHardSwish, false, ImportUnary<ir::UnaryKind::kHardSwish>},
};

}  // namespace

std::string OpNameOf(const abi::Registration& registration) {
  if (registration.custom_name != nullptr && *registration.custom_name != '\0') {
    return registration.custom_name;
  }
  const std::string_view name = BuiltinOpName(registration.builtin_code);
  return name.empty() ? fmt::format("operator {}", registration.builtin_code) : std::string(name);
}

Result<ir::OpParams> ImportParams(const abi::Registration& registration, const abi::Node& node) {
  const std::string name = OpNameOf(registration);
  if (registration.builtin_code == kCustom) {
    const bool expected = name == "TFLite_Detection_PostProcess";
    return Status(ErrorCode::kUnsupported,
                  fmt::format("custom operation {} stays on the CPU{}", name,
                              expected ? " (expected: it decodes boxes)" : ""),
                  "op.custom");
  }
  for (const OpImport& row : kImports) {
    if (row.code != registration.builtin_code) continue;
    if (row.needs_params && node.builtin_data == nullptr) {
      return BadParameters(name + " comes without parameters");
    }
    return row.import(node, registration.version);
  }
  return Status(ErrorCode::kUnsupported, name + " is not an operation this version runs",
                "op.unsupported");
}

}  // namespace npu::tflite
