// SPDX-License-Identifier: Apache-2.0
// Builds small random int8 graphs for tests: the graph owns its constants.
#ifndef TESTS_GRAPH_GRAPH_BUILDER_H_
#define TESTS_GRAPH_GRAPH_BUILDER_H_

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "src/ir/graph.h"

namespace npu::testing {

class GraphBuilder {
 public:
  explicit GraphBuilder(uint64_t seed) : rng_(seed) {}

  // An int8 image [1,h,w,c] with a scale and zero point of its own.
  ir::ValueId Input(int32_t h, int32_t w, int32_t c);
  void Output(ir::ValueId value) { graph_.outputs.push_back(value); }

  ir::ValueId Conv(ir::ValueId x, int32_t oc, int32_t kernel, int32_t stride, ir::Padding padding,
                   ir::Activation activation);
  ir::ValueId Depthwise(ir::ValueId x, int32_t kernel, int32_t stride);
  ir::ValueId FullyConnected(ir::ValueId x, int32_t units);
  ir::ValueId Add(ir::ValueId a, ir::ValueId b);
  ir::ValueId Concat(ir::ValueId a, ir::ValueId b);  // along channels, one quantization
  ir::ValueId MaxPool(ir::ValueId x, int32_t kernel, int32_t stride);
  ir::ValueId AveragePool(ir::ValueId x, int32_t kernel);
  ir::ValueId Mean(ir::ValueId x);
  ir::ValueId Relu(ir::ValueId x);
  ir::ValueId LeakyRelu(ir::ValueId x);
  ir::ValueId Pad(ir::ValueId x, int32_t bottom_right, int32_t channels);
  ir::ValueId Reshape(ir::ValueId x, Shape shape);
  ir::ValueId Softmax(ir::ValueId x);

  // Turns the graph built so far into one of uint8 tensors, rebased as the importer leaves them;
  // filters get one scale and a random zero point.
  void MakeUint8();
  // Multiplies the scale of one output channel of a node's weights, and of its bias.
  void ScaleWeights(size_t node, size_t channel, float factor);

  const ir::Graph& graph() const { return graph_; }
  const ir::TensorType& type(ir::ValueId v) const { return graph_.type(v); }
  std::mt19937_64& rng() { return rng_; }
  // Random bytes for graph input i.
  std::vector<std::byte> RandomInput(size_t i);

 private:
  int32_t Uniform(int32_t lo, int32_t hi) {
    return std::uniform_int_distribution<int32_t>(lo, hi)(rng_);
  }
  float Real(float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(rng_); }
  ir::ValueId NewValue(DataType dtype, Shape shape, ir::Quantization quant);
  ir::ValueId NewActivation(Shape shape);
  ir::ValueId Like(ir::ValueId x, Shape shape);  // the same quantization
  template <typename T>
  ir::ValueId Constant(DataType dtype, Shape shape, ir::Quantization quant,
                       const std::vector<T>& data);
  ir::ValueId Weights(const Shape& shape, int32_t axis, int32_t fan_in);
  ir::ValueId Bias(int32_t n, ir::ValueId x, ir::ValueId weights);
  ir::ValueId AddNode(ir::OpParams params, std::vector<ir::ValueId> inputs, ir::ValueId output);

  std::mt19937_64 rng_;
  ir::Graph graph_;
  std::deque<std::vector<std::byte>> storage_;
};

}  // namespace npu::testing

#endif  // TESTS_GRAPH_GRAPH_BUILDER_H_
