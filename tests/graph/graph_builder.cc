// SPDX-License-Identifier: Apache-2.0
#include "tests/graph/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace npu::testing {
namespace {

int32_t OutExtent(int32_t in, int32_t k, int32_t s, ir::Padding padding) {
  return padding == ir::Padding::kSame ? (in + s - 1) / s : (in - k + s) / s;
}

}  // namespace

ir::ValueId GraphBuilder::NewValue(DataType dtype, Shape shape, ir::Quantization quant) {
  ir::Value value;
  value.name = std::to_string(graph_.values.size());
  value.type = {dtype, shape, std::move(quant)};
  graph_.values.push_back(std::move(value));
  return static_cast<ir::ValueId>(graph_.values.size() - 1);
}

ir::ValueId GraphBuilder::NewActivation(Shape shape) {
  return NewValue(DataType::kInt8, shape, {{Real(0.02F, 0.12F)}, {Uniform(-128, 60)}, 0});
}

ir::ValueId GraphBuilder::Like(ir::ValueId x, Shape shape) {
  return NewValue(type(x).dtype, shape, type(x).quant);
}

template <typename T>
ir::ValueId GraphBuilder::Constant(DataType dtype, Shape shape, ir::Quantization quant,
                                   const std::vector<T>& data) {
  storage_.emplace_back(data.size() * sizeof(T));
  std::memcpy(storage_.back().data(), data.data(), storage_.back().size());
  const ir::ValueId id = NewValue(dtype, shape, std::move(quant));
  graph_.values[static_cast<size_t>(id)].constant = storage_.back();
  return id;
}

ir::ValueId GraphBuilder::AddNode(ir::OpParams params, std::vector<ir::ValueId> inputs,
                                  ir::ValueId output) {
  ir::Node node;
  node.params = std::move(params);
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.source_index = static_cast<int32_t>(graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
  return output;
}

ir::ValueId GraphBuilder::Input(int32_t h, int32_t w, int32_t c) {
  const ir::ValueId id = NewActivation({1, h, w, c});
  graph_.inputs.push_back(id);
  return id;
}

ir::ValueId GraphBuilder::Weights(const Shape& shape, int32_t axis, int32_t fan_in) {
  std::vector<int8_t> data(static_cast<size_t>(shape.elements()));
  for (int8_t& w : data) w = static_cast<int8_t>(Uniform(-127, 127));
  ir::Quantization quant;
  quant.axis = axis;
  const float base = 0.03F / std::sqrt(static_cast<float>(fan_in));
  for (int32_t c = 0; c < shape[static_cast<size_t>(axis)]; ++c) {
    quant.scales.push_back(base * Real(0.2F, 1.0F));
    quant.zero_points.push_back(0);
  }
  return Constant(DataType::kInt8, shape, std::move(quant), data);
}

ir::ValueId GraphBuilder::Bias(int32_t n, ir::ValueId x, ir::ValueId weights) {
  std::vector<int32_t> data(static_cast<size_t>(n));
  for (int32_t& b : data) b = Uniform(-3000, 3000);
  ir::Quantization quant;
  const ir::Quantization& w = type(weights).quant;
  for (size_t c = 0; c < w.scales.size(); ++c) {
    quant.scales.push_back(type(x).quant.scale() * w.scales[c]);
    quant.zero_points.push_back(0);
  }
  return Constant(DataType::kInt32, {n}, std::move(quant), data);
}

ir::ValueId GraphBuilder::Conv(ir::ValueId x, int32_t oc, int32_t kernel, int32_t stride,
                               ir::Padding padding, ir::Activation activation) {
  const Shape in = type(x).shape;
  const ir::ValueId w = Weights({oc, kernel, kernel, in[3]}, 0, kernel * kernel * in[3]);
  const ir::ValueId b = Bias(oc, x, w);
  const ir::ValueId out = NewActivation({1, OutExtent(in[1], kernel, stride, padding),
                                         OutExtent(in[2], kernel, stride, padding), oc});
  return AddNode(
      ir::Conv2dParams{.padding = padding, .sh = stride, .sw = stride, .activation = activation},
      {x, w, b}, out);
}

ir::ValueId GraphBuilder::Depthwise(ir::ValueId x, int32_t kernel, int32_t stride) {
  const Shape in = type(x).shape;
  const ir::ValueId w = Weights({1, kernel, kernel, in[3]}, 3, kernel * kernel);
  const ir::ValueId b = Bias(in[3], x, w);
  const ir::ValueId out =
      NewActivation({1, OutExtent(in[1], kernel, stride, ir::Padding::kSame),
                     OutExtent(in[2], kernel, stride, ir::Padding::kSame), in[3]});
  return AddNode(ir::DepthwiseConv2dParams{.sh = stride, .sw = stride}, {x, w, b}, out);
}

ir::ValueId GraphBuilder::FullyConnected(ir::ValueId x, int32_t units) {
  const auto k = static_cast<int32_t>(type(x).shape.elements());
  const ir::ValueId w = Weights({units, k}, 0, k);
  // FULLY_CONNECTED weights are per tensor.
  ir::Quantization& quant = graph_.values[static_cast<size_t>(w)].type.quant;
  quant.scales.resize(1);
  quant.zero_points.resize(1);
  const ir::ValueId b = Bias(units, x, w);
  return AddNode(ir::FullyConnectedParams{}, {x, w, b}, NewActivation({1, units}));
}

ir::ValueId GraphBuilder::Add(ir::ValueId a, ir::ValueId b) {
  return AddNode(ir::BinaryParams{}, {a, b}, NewActivation(type(a).shape));
}

ir::ValueId GraphBuilder::Concat(ir::ValueId a, ir::ValueId b) {
  graph_.values[static_cast<size_t>(b)].type.quant = type(a).quant;
  const Shape in = type(a).shape;
  const ir::ValueId out = Like(a, {1, in[1], in[2], in[3] + type(b).shape[3]});
  return AddNode(ir::ConcatenationParams{.axis = 3}, {a, b}, out);
}

ir::ValueId GraphBuilder::MaxPool(ir::ValueId x, int32_t kernel, int32_t stride) {
  const Shape in = type(x).shape;
  const ir::ValueId out = Like(x, {1, OutExtent(in[1], kernel, stride, ir::Padding::kSame),
                                   OutExtent(in[2], kernel, stride, ir::Padding::kSame), in[3]});
  return AddNode(
      ir::Pool2dParams{
          .padding = ir::Padding::kSame, .kh = kernel, .kw = kernel, .sh = stride, .sw = stride},
      {x}, out);
}

ir::ValueId GraphBuilder::AveragePool(ir::ValueId x, int32_t kernel) {
  const Shape in = type(x).shape;
  const ir::ValueId out = Like(x, {1, OutExtent(in[1], kernel, 1, ir::Padding::kValid),
                                   OutExtent(in[2], kernel, 1, ir::Padding::kValid), in[3]});
  return AddNode(ir::Pool2dParams{.kind = ir::PoolKind::kAverage, .kh = kernel, .kw = kernel}, {x},
                 out);
}

ir::ValueId GraphBuilder::Mean(ir::ValueId x) {
  const ir::ValueId axes = Constant<int32_t>(DataType::kInt32, {2}, {}, {1, 2});
  return AddNode(ir::MeanParams{}, {x, axes}, NewActivation({1, type(x).shape[3]}));
}

ir::ValueId GraphBuilder::Relu(ir::ValueId x) {
  return AddNode(ir::UnaryParams{}, {x}, NewActivation(type(x).shape));
}

ir::ValueId GraphBuilder::LeakyRelu(ir::ValueId x) {
  return AddNode(ir::UnaryParams{.kind = ir::UnaryKind::kLeakyRelu, .alpha = 0.1F}, {x},
                 NewActivation(type(x).shape));
}

ir::ValueId GraphBuilder::Pad(ir::ValueId x, int32_t bottom_right, int32_t channels) {
  const Shape in = type(x).shape;
  const ir::ValueId amounts = Constant<int32_t>(
      DataType::kInt32, {4, 2}, {}, {0, 0, 0, bottom_right, 0, bottom_right, 0, channels});
  const ir::ValueId out =
      Like(x, {1, in[1] + bottom_right, in[2] + bottom_right, in[3] + channels});
  return AddNode(ir::PadParams{}, {x, amounts}, out);
}

ir::ValueId GraphBuilder::Reshape(ir::ValueId x, Shape shape) {
  return AddNode(ir::ReshapeParams{}, {x}, Like(x, shape));
}

ir::ValueId GraphBuilder::Softmax(ir::ValueId x) {
  const ir::ValueId out = NewValue(DataType::kInt8, type(x).shape, {{1.0F / 256.0F}, {-128}, 0});
  return AddNode(ir::SoftmaxParams{}, {x}, out);
}

void GraphBuilder::MakeUint8() {
  for (ir::Value& value : graph_.values) {
    if (value.type.dtype != DataType::kInt8) continue;
    value.type.rebased_uint8 = true;
    if (value.is_constant()) value.type.quant = {{value.type.quant.scale()}, {Uniform(-60, 60)}, 0};
  }
}

void GraphBuilder::ScaleWeights(size_t node, size_t channel, float factor) {
  for (size_t input : {size_t{1}, size_t{2}}) {
    const ir::ValueId id = graph_.nodes[node].inputs[input];
    graph_.values[static_cast<size_t>(id)].type.quant.scales[channel] *= factor;
  }
}

std::vector<std::byte> GraphBuilder::RandomInput(size_t i) {
  const auto n = static_cast<size_t>(graph_.type(graph_.inputs[i]).shape.elements());
  std::vector<std::byte> data(n);
  for (std::byte& b : data) b = static_cast<std::byte>(Uniform(0, 255));
  return data;
}

}  // namespace npu::testing
