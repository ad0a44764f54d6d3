// SPDX-License-Identifier: Apache-2.0
// Builds graphs of one node and runs kernels on them.
#ifndef TESTS_UNIT_HOST_ONE_NODE_H_
#define TESTS_UNIT_HOST_ONE_NODE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "src/host/kernel.h"
#include "src/ir/graph.h"
#include "src/layout/tensor_view.h"

namespace npu::test {

inline ir::TensorType Int8Type(Shape shape, float scale, int32_t zero_point) {
  return {.dtype = DataType::kInt8,
          .shape = shape,
          .quant = {.scales = {scale}, .zero_points = {zero_point}}};
}

inline ir::TensorType PlainType(DataType dtype, Shape shape) {
  return {.dtype = dtype, .shape = shape, .quant = {}};
}

// One node; operands are added in the node's order.
class OneNode {
 public:
  explicit OneNode(ir::OpParams params) {
    graph_.nodes.emplace_back();
    graph_.nodes[0].params = std::move(params);
  }

  OneNode& Input(const ir::TensorType& type) {
    graph_.inputs.push_back(Add(type));
    node().inputs.push_back(graph_.inputs.back());
    return *this;
  }
  template <typename T>
  OneNode& Constant(const ir::TensorType& type, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    storage_.push_back(
        std::make_shared<const std::vector<std::byte>>(bytes, bytes + values.size() * sizeof(T)));
    node().inputs.push_back(Add(type));
    graph_.values.back().constant = *storage_.back();
    return *this;
  }
  OneNode& Absent() {
    node().inputs.push_back(ir::kNoValue);
    return *this;
  }
  OneNode& Output(const ir::TensorType& type) {
    graph_.outputs.push_back(Add(type));
    node().outputs.push_back(graph_.outputs.back());
    return *this;
  }

  ir::Graph& graph() { return graph_; }
  const ir::Graph& graph() const { return graph_; }
  ir::Node& node() { return graph_.nodes[0]; }
  const ir::Node& node() const { return graph_.nodes[0]; }
  ir::TensorType& type(ir::ValueId id) { return graph_.values[static_cast<size_t>(id)].type; }

 private:
  ir::ValueId Add(const ir::TensorType& type) {
    ir::Value value;
    value.type = type;
    graph_.values.push_back(value);
    return static_cast<ir::ValueId>(graph_.values.size() - 1);
  }

  ir::Graph graph_;
  // Shared, so that a copy of the node keeps the bytes its graph refers to.
  std::vector<std::shared_ptr<const std::vector<std::byte>>> storage_;
};

template <typename T>
layout::TensorView RowMajorView(const ir::TensorType& type, std::vector<T>& values) {
  return {.data = reinterpret_cast<std::byte*>(values.data()),
          .dtype = type.dtype,
          .shape = type.shape};
}

// Runs a kernel on row-major operands; run-time inputs are given in order.
template <typename Out, typename In>
std::vector<Out> RunKernel(const OneNode& one, const host::Kernel& kernel,
                           std::vector<std::vector<In>> inputs) {
  std::vector<layout::TensorView> views;
  size_t next = 0;
  for (const ir::ValueId id : one.node().inputs) {
    if (id == ir::kNoValue || one.graph().value(id).is_constant()) {
      views.emplace_back();
    } else {
      views.push_back(RowMajorView(one.graph().type(id), inputs[next++]));
    }
  }
  const ir::TensorType& type = one.graph().output(one.node()).type;
  std::vector<Out> out(static_cast<size_t>(type.shape.elements()), Out{99});
  const layout::TensorView output = RowMajorView(type, out);
  std::vector<std::byte> scratch(kernel.scratch_bytes());
  kernel.Run(views, {&output, 1}, scratch);
  return out;
}

// The same with the factory; int8 in and out.
template <typename Factory>
std::vector<int8_t> Compute(const OneNode& one, const Factory& make,
                            std::vector<std::vector<int8_t>> inputs) {
  const Status verified = ir::Verify(one.graph());
  EXPECT_TRUE(verified.ok()) << verified.message();
  auto kernel = make(one.graph(), one.node());
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.status().message();
    return {};
  }
  return RunKernel<int8_t, int8_t>(one, **kernel, std::move(inputs));
}

}  // namespace npu::test

#endif  // TESTS_UNIT_HOST_ONE_NODE_H_
