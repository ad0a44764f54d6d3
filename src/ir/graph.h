// SPDX-License-Identifier: Apache-2.0
// The graph both frontends translate into. Value-typed, acyclic, nodes in execution order.
#ifndef SRC_IR_GRAPH_H_
#define SRC_IR_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/status.h"
#include "src/ir/op_params.h"
#include "src/ir/tensor_type.h"

namespace npu::ir {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an absent optional input

struct Value {
  std::string name;
  TensorType type;
  // Bytes of a compile-time constant, row-major; empty span for run-time values. Borrowed from the
  // frontend, valid while the graph is compiled; a compiled program keeps its own copies.
  std::span<const std::byte> constant;
  bool is_constant() const { return constant.data() != nullptr; }
};

struct Node {
  OpParams params;
  std::vector<ValueId> inputs;  // kNoValue where an optional input is absent
  std::vector<ValueId> outputs;
  std::string name;
  int32_t source_index = -1;  // index of the node in the host's graph, for reports
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;   // run-time inputs, in the host's order
  std::vector<ValueId> outputs;  // in the host's order

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  bool has_input(const Node& node, size_t i) const {
    return i < node.inputs.size() && node.inputs[i] != kNoValue;
  }
  const Value& input(const Node& node, size_t i) const { return value(node.inputs[i]); }
  const Value& output(const Node& node, size_t i = 0) const { return value(node.outputs[i]); }
};

// Checks every rule the rest of the library relies on: ids in range, nodes in topological order,
// each value written once, constants of the size their type says, element counts without overflow,
// quantization vectors consistent (finite scales > 0, axis in range, zero points in the type's
// range), int8 and rebased uint8 mixed only by QUANTIZE. Untrusted input stops here.
Status Verify(const Graph& graph);

// "CONV_2D"; UnaryParams and BinaryParams name their kind ("LEAKY_RELU", "ADD").
std::string_view OpName(const OpParams& params);

// Multi-line text, one node a line, for logs and tests.
std::string ToString(const Graph& graph);

}  // namespace npu::ir

#endif  // SRC_IR_GRAPH_H_
