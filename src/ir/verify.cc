// SPDX-License-Identifier: Apache-2.0
// The gate between untrusted models and the rest of the library.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "src/base/checked.h"
#include "src/ir/graph.h"
#include "src/ir/zero_point.h"

namespace npu::ir {
namespace {

// A tensor larger than the NPU's 32-bit address space cannot be planned; indices stay far below
// int64 limits everywhere behind this check.
constexpr int64_t kMaxTensorBytes = int64_t{1} << 32;

Status Corrupt(const std::string& message) { return {ErrorCode::kCorruptData, message}; }

std::string Describe(const Graph& graph, ValueId id) {
  return fmt::format("tensor {} ({}) {}", id, graph.value(id).name, graph.type(id).ToString());
}

Status VerifyQuantization(const Graph& graph, ValueId id) {
  const TensorType& type = graph.type(id);
  const Quantization& quant = type.quant;
  if (!quant.quantized()) {
    if (!quant.zero_points.empty()) {
      return Corrupt(fmt::format("{} has zero points but no scales", Describe(graph, id)));
    }
    return OkStatus();
  }
  for (size_t i = 0; i < quant.scales.size(); ++i) {
    if (!std::isfinite(quant.scales[i]) || !(quant.scales[i] > 0.0F)) {
      return Corrupt(fmt::format("{}: scale {} is {}, which is not a finite number above 0",
                                 Describe(graph, id), i, quant.scales[i]));
    }
  }
  const size_t zero_points = quant.zero_points.size();
  if (zero_points > 1 && zero_points != quant.scales.size()) {
    return Corrupt(fmt::format("{} has {} scales but {} zero points", Describe(graph, id),
                               quant.scales.size(), zero_points));
  }
  for (const int32_t zero_point : quant.zero_points) {
    if (!ZeroPointFits(type.dtype, zero_point)) {
      return Corrupt(fmt::format("{}: zero point {} is outside the range of its type",
                                 Describe(graph, id), zero_point));
    }
  }
  if (quant.per_tensor()) return OkStatus();
  if (quant.axis < 0 || static_cast<size_t>(quant.axis) >= type.shape.rank()) {
    return Corrupt(
        fmt::format("{}: quantization axis {} does not exist", Describe(graph, id), quant.axis));
  }
  const int32_t extent = type.shape[static_cast<size_t>(quant.axis)];
  if (quant.scales.size() != static_cast<size_t>(extent)) {
    return Corrupt(fmt::format("{}: {} scales for {} slices of axis {}", Describe(graph, id),
                               quant.scales.size(), extent, quant.axis));
  }
  return OkStatus();
}

Status VerifyValue(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (value.type.rebased_uint8 && value.type.dtype != DataType::kInt8) {
    return Corrupt(fmt::format("{}: only int8 stands for uint8", Describe(graph, id)));
  }
  if (ElementBytes(value.type.dtype) == 0) {
    return Corrupt(fmt::format("{} has no valid element type", Describe(graph, id)));
  }
  for (const int32_t extent : value.type.shape.dims()) {
    if (extent < 0) return Corrupt(fmt::format("{}: negative extent", Describe(graph, id)));
  }
  const std::optional<int64_t> elements = value.type.shape.CheckedElements();
  const auto bytes =
      elements ? CheckedMul(*elements, static_cast<int64_t>(ElementBytes(value.type.dtype)))
               : std::nullopt;
  if (!bytes || *bytes > kMaxTensorBytes) {
    return Corrupt(fmt::format("{} is too large", Describe(graph, id)));
  }
  if (value.is_constant() && value.constant.size() != static_cast<size_t>(*bytes)) {
    return Corrupt(fmt::format("{}: {} bytes of constant data where the shape needs {}",
                               Describe(graph, id), value.constant.size(), *bytes));
  }
  return VerifyQuantization(graph, id);
}

bool InRange(const Graph& graph, ValueId id) {
  return id >= 0 && static_cast<size_t>(id) < graph.values.size();
}

// uint8 and int8 tensors meet in no operation but QUANTIZE: kernels ask one operand which it is.
Status VerifySignedness(const Graph& graph, size_t index) {
  const Node& node = graph.nodes[index];
  if (std::holds_alternative<QuantizeParams>(node.params)) return OkStatus();
  bool plain = false;
  bool rebased = false;
  const auto look = [&](ValueId id) {
    if (id == kNoValue) return;
    const TensorType& type = graph.type(id);
    plain = plain || (type.dtype == DataType::kInt8 && !type.rebased_uint8);
    rebased = rebased || type.rebased_uint8;
  };
  for (const ValueId id : node.inputs) look(id);
  for (const ValueId id : node.outputs) look(id);
  if (!plain || !rebased) return OkStatus();
  return Corrupt(
      fmt::format("node {} ({}) mixes int8 and uint8 tensors", index, OpName(node.params)));
}

// Which values exist before a node runs.
class Availability {
 public:
  explicit Availability(const Graph& graph) : graph_(graph), available_(graph.values.size()) {
    for (size_t i = 0; i < graph.values.size(); ++i) {
      available_[i] = graph.values[i].is_constant();
    }
  }

  Status DefineInput(size_t position) {
    const ValueId id = graph_.inputs[position];
    if (!InRange(graph_, id)) {
      return Corrupt(
          fmt::format("graph input {} refers to tensor {}, which does not exist", position, id));
    }
    return Define(id, fmt::format("graph input {}", position));
  }

  Status UseNode(size_t index) {
    const Node& node = graph_.nodes[index];
    const std::string who = fmt::format("node {} ({})", index, OpName(node.params));
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (!InRange(graph_, id)) {
        return Corrupt(fmt::format("{} reads tensor {}, which does not exist", who, id));
      }
      if (!available_[static_cast<size_t>(id)]) {
        return Corrupt(
            fmt::format("{} reads {} before anything has written it", who, Describe(graph_, id)));
      }
    }
    if (node.outputs.empty()) return Corrupt(fmt::format("{} has no output", who));
    for (const ValueId id : node.outputs) {
      if (!InRange(graph_, id)) {
        return Corrupt(fmt::format("{} writes tensor {}, which does not exist", who, id));
      }
      NPU_RETURN_IF_ERROR(Define(id, who));
    }
    return OkStatus();
  }

  Status UseOutput(size_t position) const {
    const ValueId id = graph_.outputs[position];
    if (!InRange(graph_, id)) {
      return Corrupt(
          fmt::format("graph output {} refers to tensor {}, which does not exist", position, id));
    }
    if (!available_[static_cast<size_t>(id)]) {
      return Corrupt(fmt::format("graph output {} is {}, which nothing writes", position,
                                 Describe(graph_, id)));
    }
    return OkStatus();
  }

 private:
  Status Define(ValueId id, const std::string& who) {
    if (available_[static_cast<size_t>(id)]) {
      return Corrupt(
          fmt::format("{} writes {}, which is a constant, a graph input or written "
                      "before",
                      who, Describe(graph_, id)));
    }
    available_[static_cast<size_t>(id)] = true;
    return OkStatus();
  }

  const Graph& graph_;
  std::vector<bool> available_;
};

}  // namespace

Status Verify(const Graph& graph) {
  if (graph.values.size() > static_cast<size_t>(std::numeric_limits<ValueId>::max()) ||
      graph.nodes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return Corrupt("the graph has more tensors or nodes than 32 bits count");
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    NPU_RETURN_IF_ERROR(VerifyValue(graph, static_cast<ValueId>(i)));
  }
  Availability availability(graph);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    NPU_RETURN_IF_ERROR(availability.DefineInput(i));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    NPU_RETURN_IF_ERROR(availability.UseNode(i));
    NPU_RETURN_IF_ERROR(VerifySignedness(graph, i));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    NPU_RETURN_IF_ERROR(availability.UseOutput(i));
  }
  return OkStatus();
}

}  // namespace npu::ir
