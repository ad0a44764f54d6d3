// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "src/ir/graph.h"

namespace npu::ir {
namespace {

// One overload for each alternative of OpParams: a new one does not compile until it has a name.
struct NameOf {
  std::string_view operator()(const Conv2dParams&) const { return "CONV_2D"; }
  std::string_view operator()(const DepthwiseConv2dParams&) const { return "DEPTHWISE_CONV_2D"; }
  std::string_view operator()(const FullyConnectedParams&) const { return "FULLY_CONNECTED"; }
  std::string_view operator()(const BinaryParams& params) const {
    switch (params.kind) {
      case BinaryKind::kAdd:
        return "ADD";
      case BinaryKind::kSub:
        return "SUB";
      case BinaryKind::kMul:
        return "MUL";
      case BinaryKind::kDiv:
        return "DIV";
      case BinaryKind::kMaximum:
        return "MAXIMUM";
      case BinaryKind::kMinimum:
        return "MINIMUM";
    }
    return "?";
  }
  std::string_view operator()(const Pool2dParams& params) const {
    return params.kind == PoolKind::kMax ? "MAX_POOL_2D" : "AVERAGE_POOL_2D";
  }
  std::string_view operator()(const MeanParams&) const { return "MEAN"; }
  std::string_view operator()(const ConcatenationParams&) const { return "CONCATENATION"; }
  std::string_view operator()(const ReshapeParams& params) const {
    switch (params.kind) {
      case ReshapeKind::kReshape:
        return "RESHAPE";
      case ReshapeKind::kSqueeze:
        return "SQUEEZE";
      case ReshapeKind::kExpandDims:
        return "EXPAND_DIMS";
    }
    return "?";
  }
  std::string_view operator()(const PadParams& params) const {
    return params.kind == PadKind::kPad ? "PAD" : "PADV2";
  }
  std::string_view operator()(const MirrorPadParams&) const { return "MIRROR_PAD"; }
  std::string_view operator()(const TransposeParams&) const { return "TRANSPOSE"; }
  std::string_view operator()(const SliceParams&) const { return "SLICE"; }
  std::string_view operator()(const StridedSliceParams&) const { return "STRIDED_SLICE"; }
  std::string_view operator()(const SplitParams& params) const {
    return params.kind == SplitKind::kSplit ? "SPLIT" : "SPLIT_V";
  }
  std::string_view operator()(const ResizeNearestParams&) const {
    return "RESIZE_NEAREST_NEIGHBOR";
  }
  std::string_view operator()(const UnaryParams& params) const {
    switch (params.kind) {
      case UnaryKind::kRelu:
        return "RELU";
      case UnaryKind::kReluN1To1:
        return "RELU_N1_TO_1";
      case UnaryKind::kRelu6:
        return "RELU6";
      case UnaryKind::kLeakyRelu:
        return "LEAKY_RELU";
      case UnaryKind::kLogistic:
        return "LOGISTIC";
      case UnaryKind::kHardSwish:
        return "HARD_SWISH";
      case UnaryKind::kTanh:
        return "TANH";
      case UnaryKind::kRelu0To1:
        return "RELU_0_TO_1";
      case UnaryKind::kElu:
        return "ELU";
      case UnaryKind::kExp:
        return "EXP";
      case UnaryKind::kAbs:
        return "ABS";
      case UnaryKind::kRsqrt:
        return "RSQRT";
    }
    return "?";
  }
  std::string_view operator()(const SoftmaxParams&) const { return "SOFTMAX"; }
  std::string_view operator()(const ResizeBilinearParams&) const { return "RESIZE_BILINEAR"; }
  std::string_view operator()(const QuantizeParams&) const { return "QUANTIZE"; }
  std::string_view operator()(const DequantizeParams&) const { return "DEQUANTIZE"; }
  std::string_view operator()(const PreluParams&) const { return "PRELU"; }
  std::string_view operator()(const ReduceParams& params) const {
    switch (params.kind) {
      case ReduceKind::kSum:
        return "SUM";
      case ReduceKind::kMax:
        return "REDUCE_MAX";
      case ReduceKind::kMin:
        return "REDUCE_MIN";
    }
    return "?";
  }
  std::string_view operator()(const LogSoftmaxParams&) const { return "LOG_SOFTMAX"; }
  std::string_view operator()(const L2NormalizationParams&) const { return "L2_NORMALIZATION"; }
  std::string_view operator()(const TransposeConvParams&) const { return "TRANSPOSE_CONV"; }
};

std::string Ids(const std::vector<ValueId>& ids) {
  std::string text;
  for (const ValueId id : ids) {
    if (!text.empty()) text += ", ";
    text += id == kNoValue ? std::string("-") : fmt::format("%{}", id);
  }
  return text;
}

}  // namespace

std::string_view OpName(const OpParams& params) { return std::visit(NameOf{}, params); }

std::string ToString(const Graph& graph) {
  std::string text = fmt::format("inputs {}\n", Ids(graph.inputs));
  for (const Node& node : graph.nodes) {
    text += fmt::format("{} = {}({})", Ids(node.outputs), OpName(node.params), Ids(node.inputs));
    if (!node.outputs.empty() && node.outputs[0] >= 0 &&
        static_cast<size_t>(node.outputs[0]) < graph.values.size()) {
      text += fmt::format(" : {}", graph.type(node.outputs[0]).ToString());
    }
    if (!node.name.empty()) text += fmt::format(" \"{}\"", node.name);
    text += '\n';
  }
  text += fmt::format("outputs {}\n", Ids(graph.outputs));
  return text;
}

}  // namespace npu::ir
