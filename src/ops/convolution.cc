// SPDX-License-Identifier: Apache-2.0
// Rules and lowering of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED. Source: tflite-delegate
// 4.1-4.3, 5.1.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/encode/conv.h"
#include "src/host/conv_sums.h"
#include "src/host/output_stage.h"
#include "src/host/transpose_conv.h"
#include "src/ir/window.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// Far beyond every network; keeps each product of extents and strides small.
constexpr int32_t kMaxStep = 1 << 15;
constexpr int32_t kMaxTransposeStride = 16;
// A depthwise convolution with a channel multiplier runs as a convolution over all channels; up to
// here those fill one group of multipliers, so that the zeros cost nothing.
constexpr size_t kMaxDenseChannels = 32;

bool ValidStep(int32_t step) { return step >= 1 && step <= kMaxStep; }

// int8, constant, one scale or one for each slice of `axis`; symmetric, but for uint8, which has
// one scale and any zero point.
Status CheckFilter(const ir::Value& filter, size_t rank, int32_t axis) {
  const ir::TensorType& type = filter.type;
  if (type.dtype != DataType::kInt8) return Unsupported(Reason::kTypeNotInt8, type.ToString());
  if (type.shape.rank() != rank) return Unsupported(Reason::kShapeRank, type.ToString());
  if (type.shape.elements() == 0) return Unsupported(Reason::kShapeEmpty, type.ToString());
  if (!filter.is_constant()) return Unsupported(Reason::kConstantRequired, "filter");
  if (!type.quant.quantized()) return Unsupported(Reason::kQuantMissing, type.ToString());
  if (!type.quant.per_tensor() && type.quant.axis != axis) {
    return Unsupported(Reason::kQuantFilter, type.ToString());
  }
  if (type.rebased_uint8) {
    if (type.quant.per_tensor()) return OkStatus();
    return Unsupported(Reason::kQuantFilter, type.ToString());
  }
  const auto& zero_points = type.quant.zero_points;
  if (std::any_of(zero_points.begin(), zero_points.end(), [](int32_t z) { return z != 0; })) {
    return Unsupported(Reason::kQuantFilter, "a zero point is not 0");
  }
  return OkStatus();
}

Status CheckBias(const ir::Graph& graph, const ir::Node& node, int64_t channels) {
  if (!graph.has_input(node, 2)) return OkStatus();
  const ir::Value& bias = graph.input(node, 2);
  if (bias.type.dtype != DataType::kInt32 || bias.type.shape.elements() != channels) {
    return Unsupported(Reason::kQuantBias, bias.type.ToString());
  }
  if (!bias.is_constant()) return Unsupported(Reason::kConstantRequired, "bias");
  return OkStatus();
}

Status CheckMultipliers(const ir::Graph& graph, const ir::Node& node, int64_t channels) {
  for (const double m : host::RealMultipliers(graph, node, static_cast<size_t>(channels))) {
    NPU_RETURN_IF_ERROR(CheckMultiplier(m));
  }
  return OkStatus();
}

// Steps in range, and the output [1, OH, OW, channels] that they give.
template <typename Params>
Status CheckGeometry(const ir::Graph& graph, const ir::Node& node, const Params& params,
                     int32_t channels) {
  if (!ValidStep(params.sh) || !ValidStep(params.sw) || !ValidStep(params.dh) ||
      !ValidStep(params.dw)) {
    return Unsupported(
        Reason::kConvGeometry,
        fmt::format("strides {}x{}, dilations {}x{}", params.sh, params.sw, params.dh, params.dw));
  }
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& filter = graph.input(node, 1).type.shape;
  const Shape& out = graph.output(node).type.shape;
  const auto rows = ir::ComputeAxisWindow(in[1], filter[1], params.sh, params.dh, params.padding);
  const auto columns =
      ir::ComputeAxisWindow(in[2], filter[2], params.sw, params.dw, params.padding);
  if (rows.out != out[1] || columns.out != out[2] || out[3] != channels) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("output {} where [{},{},{},{}] follows", out.ToString(), in[0],
                                   rows.out, columns.out, channels));
  }
  return OkStatus();
}

Status CheckConvTensors(const ir::Graph& graph, const ir::Node& node, int32_t filter_axis) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 3));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  NPU_RETURN_IF_ERROR(CheckInt8(graph.output(node).type));
  NPU_RETURN_IF_ERROR(CheckImages(graph.input(node, 0).type, graph.output(node).type));
  return CheckFilter(graph.input(node, 1), 4, filter_axis);
}

// What encode needs beside the geometry, kept alive while it works.
struct ProblemData {
  std::vector<int8_t> weights;  // where they are not the filter's own
  std::vector<int32_t> bias;
  std::vector<double> multipliers;
  encode::ConvProblem problem;
};

ProblemData MakeProblem(const ir::Graph& graph, const ir::Node& node, size_t channels,
                        ir::Activation activation) {
  ProblemData data;
  const ir::Value& filter = graph.input(node, 1);
  const ir::TensorType& output = graph.output(node).type;
  if (graph.has_input(node, 2)) {
    data.bias.resize(channels);
    std::memcpy(data.bias.data(), graph.input(node, 2).constant.data(), channels * sizeof(int32_t));
  }
  data.multipliers = host::RealMultipliers(graph, node, channels);
  const arith::QuantizedRange clamp = host::ActivationClamp(activation, output);
  encode::ConvProblem& p = data.problem;
  p.weights = {reinterpret_cast<const int8_t*>(filter.constant.data()), filter.constant.size()};
  p.bias = data.bias;
  p.multipliers = data.multipliers;
  p.weight_zero_point = filter.type.quant.zero_point();
  p.in_zero_point = graph.input(node, 0).type.quant.zero_point();
  p.out_zero_point = output.quant.zero_point();
  p.clamp_lo = clamp.min;
  p.clamp_hi = clamp.max;
  return data;
}

// A depthwise filter [1,KH,KW,C*m] as that of a convolution, [C*m,KH,KW,C]. Zero points outside an
// output's own channel contribute nothing.
std::vector<int8_t> DenseFilter(const ir::Value& filter, size_t channels, size_t multiplier) {
  const auto* from = reinterpret_cast<const int8_t*>(filter.constant.data());
  const size_t outputs = channels * multiplier;
  const size_t taps = filter.constant.size() / outputs;
  std::vector<int8_t> dense(outputs * taps * channels,
                            static_cast<int8_t>(filter.type.quant.zero_point()));
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t o = 0; o < outputs; ++o) {
      dense[(o * taps + tap) * channels + o / multiplier] = from[tap * outputs + o];
    }
  }
  return dense;
}

void SetGeometry(const host::ConvGeometry& g, encode::ConvProblem& p) {
  const auto narrow = [](size_t v) { return static_cast<uint32_t>(v); };
  p.ic = narrow(g.ic);
  p.ih = narrow(g.ih);
  p.iw = narrow(g.iw);
  p.oc = narrow(g.oc);
  p.oh = narrow(g.oh);
  p.ow = narrow(g.ow);
  p.kh = narrow(g.kh);
  p.kw = narrow(g.kw);
  p.sh = narrow(g.sh);
  p.sw = narrow(g.sw);
  p.dh = narrow(g.dh);
  p.dw = narrow(g.dw);
  p.pad_top = narrow(g.pad_top);
  p.pad_left = narrow(g.pad_left);
}

}  // namespace

// Claims CONV_2D: one group; constant filter: int8 symmetric, per tensor or per output channel,
// uint8 with one scale and any zero point; constant int32 bias or none; SAME or VALID; NONE, RELU,
// RELU6, RELU_N1_TO_1; batches on the host
// On the NPU CONV_2D: int8 in and out, or int32 sums with host requantization
Status CheckConv2d(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConvTensors(graph, node, 0));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& filter = graph.input(node, 1).type.shape;
  if (filter[3] != in[3]) {
    const bool grouped = in[3] % filter[3] == 0;
    return Unsupported(grouped ? Reason::kConvGroups : Reason::kShapeMismatch,
                       fmt::format("{} input channels, {} in the filter", in[3], filter[3]));
  }
  NPU_RETURN_IF_ERROR(
      CheckGeometry(graph, node, std::get<ir::Conv2dParams>(node.params), filter[0]));
  NPU_RETURN_IF_ERROR(CheckBias(graph, node, filter[0]));
  return CheckMultipliers(graph, node, filter[0]);
}

// Claims DEPTHWISE_CONV_2D: as CONV_2D; multiplier 1 under `exact` on the host
// On the NPU DEPTHWISE_CONV_2D: int8 in and out; a channel multiplier on up to 32 channels as a
// convolution
Status CheckDepthwiseConv2d(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckConvTensors(graph, node, 3));
  const auto& params = std::get<ir::DepthwiseConv2dParams>(node.params);
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& filter = graph.input(node, 1).type.shape;
  if (filter[0] != 1 || params.multiplier < 1 || int64_t{in[3]} * params.multiplier != filter[3]) {
    return Unsupported(Reason::kConvGeometry,
                       fmt::format("{} channels, multiplier {}, filter {}", in[3],
                                   params.multiplier, filter.ToString()));
  }
  NPU_RETURN_IF_ERROR(CheckGeometry(graph, node, params, filter[3]));
  NPU_RETURN_IF_ERROR(CheckBias(graph, node, filter[3]));
  return CheckMultipliers(graph, node, filter[3]);
}

// Claims FULLY_CONNECTED: constant filter and bias; any rank whose elements are a multiple of the
// filter's columns
// On the NPU FULLY_CONNECTED: as CONV_2D
Status CheckFullyConnected(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 3));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  NPU_RETURN_IF_ERROR(CheckInt8(graph.output(node).type));
  NPU_RETURN_IF_ERROR(CheckFilter(graph.input(node, 1), 2, 0));
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& filter = graph.input(node, 1).type.shape;
  const Shape& out = graph.output(node).type.shape;
  const int64_t rows = in.elements() / filter[1];
  const bool keeps = std::get<ir::FullyConnectedParams>(node.params).keep_num_dims;
  const bool shaped = keeps ? out.rank() == in.rank() && in.back(0) == filter[1] : out.rank() == 2;
  if (in.elements() % filter[1] != 0 || !shaped || out.elements() != rows * filter[0] ||
      out.back(0) != filter[0]) {
    return Unsupported(Reason::kShapeMismatch, fmt::format("{} times {} to {}", in.ToString(),
                                                           filter.ToString(), out.ToString()));
  }
  NPU_RETURN_IF_ERROR(CheckBias(graph, node, filter[0]));
  return CheckMultipliers(graph, node, filter[0]);
}

// Claims TRANSPOSE_CONV: constant output shape; filter, bias and activation as CONV_2D; strides up
// to 16
Status CheckTransposeConv(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 3, 4));
  const auto& params = std::get<ir::TransposeConvParams>(node.params);
  const ir::Node operands = host::OperandsOfTransposeConv(node);
  NPU_RETURN_IF_ERROR(CheckConvTensors(graph, operands, 0));
  const Shape& in = graph.input(operands, 0).type.shape;
  const Shape& filter = graph.input(operands, 1).type.shape;
  const Shape& out = graph.output(node).type.shape;
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> shape, ConstantIntegers(graph, node, 0));
  const auto dims = out.dims();
  if (filter[3] != in[3] || filter[0] != out[3] ||
      !std::equal(shape.begin(), shape.end(), dims.begin(), dims.end())) {
    return Unsupported(Reason::kShapeMismatch, fmt::format("{} with filter {} to {}", in.ToString(),
                                                           filter.ToString(), out.ToString()));
  }
  // Strides give as many parts of the filter; VALID needs room for a whole one.
  const auto fits = [&](size_t axis, int32_t stride) {
    return stride >= 1 && stride <= kMaxTransposeStride &&
           ir::ComputeAxisWindow(out[axis], filter[axis], stride, 1, params.padding).out >= 1;
  };
  if (!fits(1, params.sh) || !fits(2, params.sw)) {
    return Unsupported(Reason::kConvGeometry, fmt::format("strides {}x{}, filter {}", params.sh,
                                                          params.sw, filter.ToString()));
  }
  NPU_RETURN_IF_ERROR(CheckBias(graph, operands, filter[0]));
  return CheckMultipliers(graph, operands, filter[0]);
}

LowerResult LowerConv2d(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                        const LowerOptions& options) {
  const host::ConvGeometry geometry = host::GeometryOf(graph, node);
  const auto& params = std::get<ir::Conv2dParams>(node.params);
  ProblemData data = MakeProblem(graph, node, geometry.oc, params.activation);
  SetGeometry(geometry, data.problem);
  data.problem.raw_int32 = options.exact;
  return encode::EncodeConv(profile, data.problem);
}

LowerResult LowerDepthwiseConv2d(const ir::Graph& graph, const ir::Node& node,
                                 const chip::Profile& profile, const LowerOptions& options) {
  const auto& params = std::get<ir::DepthwiseConv2dParams>(node.params);
  const bool dense = params.multiplier != 1;
  // Raw depthwise sums cannot be written by the hardware (rk3588-conv-matmul 6.9).
  if (options.exact && !dense) return Unsupported(Reason::kNpuExact);
  const host::ConvGeometry geometry = host::GeometryOf(graph, node);
  if (dense && geometry.ic > kMaxDenseChannels) {
    return Unsupported(Reason::kConvMultiplier,
                       fmt::format("multiplier {} of {} channels", params.multiplier, geometry.ic));
  }
  ProblemData data = MakeProblem(graph, node, geometry.oc, params.activation);
  SetGeometry(geometry, data.problem);
  data.problem.depthwise = !dense;
  if (dense) {
    data.problem.raw_int32 = options.exact;
    data.weights =
        DenseFilter(graph.input(node, 1), geometry.ic, static_cast<size_t>(params.multiplier));
    data.problem.weights = data.weights;
  }
  return encode::EncodeConv(profile, data.problem);
}

LowerResult LowerFullyConnected(const ir::Graph& graph, const ir::Node& node,
                                const chip::Profile& profile, const LowerOptions& options) {
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& filter = graph.input(node, 1).type.shape;
  const auto& params = std::get<ir::FullyConnectedParams>(node.params);
  ProblemData data = MakeProblem(graph, node, static_cast<size_t>(filter[0]), params.activation);
  encode::ConvProblem& p = data.problem;
  p.ic = static_cast<uint32_t>(filter[1]);
  p.oc = static_cast<uint32_t>(filter[0]);
  p.ih = p.oh = static_cast<uint32_t>(in.elements() / filter[1]);
  p.iw = p.ow = 1;
  p.reference = encode::ReferenceRounding::kReal;
  p.raw_int32 = options.exact;
  return encode::EncodeConv(profile, p);
}

}  // namespace npu::ops
