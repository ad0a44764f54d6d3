// SPDX-License-Identifier: Apache-2.0
#include "src/ops/rules.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "src/base/checked.h"

namespace npu::ops {

namespace {

Status BadCounts(const ir::Node& node) {
  return Unsupported(Reason::kOperandCount,
                     fmt::format("{} inputs, {} outputs", node.inputs.size(), node.outputs.size()));
}

}  // namespace

Status CheckInputs(const ir::Node& node, size_t min, size_t max) {
  const size_t inputs = node.inputs.size();
  bool present = inputs >= min && inputs <= max && !node.outputs.empty();
  for (size_t i = 0; present && i < min; ++i) present = node.inputs[i] != ir::kNoValue;
  return present ? OkStatus() : BadCounts(node);
}

Status CheckCounts(const ir::Node& node, size_t min, size_t max) {
  if (node.outputs.size() != 1) return BadCounts(node);
  return CheckInputs(node, min, max);
}

Status CheckInt8(const ir::TensorType& type) {
  if (type.dtype != DataType::kInt8) return Unsupported(Reason::kTypeNotInt8, Name(type.dtype));
  if (type.shape.elements() == 0) return Unsupported(Reason::kShapeEmpty, type.shape.ToString());
  if (!type.quant.per_tensor()) return Unsupported(Reason::kQuantMissing, type.ToString());
  return OkStatus();
}

Status CheckInt8Input(const ir::Graph& graph, const ir::Node& node, size_t i) {
  NPU_RETURN_IF_ERROR(CheckInt8(graph.input(node, i).type));
  if (graph.input(node, i).is_constant()) {
    return Unsupported(Reason::kConstantInput, fmt::format("input {}", i));
  }
  return OkStatus();
}

Status CheckImages(const ir::TensorType& in, const ir::TensorType& out) {
  if (in.shape.rank() != 4) return Unsupported(Reason::kShapeRank, in.shape.ToString());
  if (out.shape.rank() != 4) return Unsupported(Reason::kShapeRank, out.shape.ToString());
  if (in.shape[0] == out.shape[0]) return OkStatus();
  return Unsupported(Reason::kShapeMismatch,
                     fmt::format("{} to {}", in.shape.ToString(), out.shape.ToString()));
}

Status CheckOneImage(const ir::Graph& graph, const ir::Node& node) {
  const auto check = [&](ir::ValueId id) -> Status {
    const Shape& shape = graph.type(id).shape;
    if (shape.rank() != 4 || shape[0] == 1) return OkStatus();
    return Unsupported(Reason::kShapeBatch, shape.ToString());
  };
  for (const ir::ValueId id : node.inputs) {
    if (id == ir::kNoValue || graph.value(id).is_constant()) continue;
    NPU_RETURN_IF_ERROR(check(id));
  }
  for (const ir::ValueId id : node.outputs) NPU_RETURN_IF_ERROR(check(id));
  return OkStatus();
}

Status CheckMove(const ir::Graph& graph, const ir::Node& node, size_t i) {
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, i));
  for (const ir::ValueId id : node.outputs) {
    NPU_RETURN_IF_ERROR(CheckInt8(graph.type(id)));
    NPU_RETURN_IF_ERROR(CheckSameQuantization(graph.input(node, i).type, graph.type(id)));
  }
  return OkStatus();
}

Status CheckSameShape(const ir::TensorType& a, const ir::TensorType& b) {
  if (a.shape == b.shape) return OkStatus();
  return Unsupported(Reason::kShapeMismatch,
                     fmt::format("{} and {}", a.shape.ToString(), b.shape.ToString()));
}

Status CheckSameQuantization(const ir::TensorType& a, const ir::TensorType& b) {
  if (a.quant.scale() == b.quant.scale() && a.quant.zero_point() == b.quant.zero_point()) {
    return OkStatus();
  }
  return Unsupported(Reason::kQuantMismatch, fmt::format("{} and {}", a.ToString(), b.ToString()));
}

Status CheckMultiplier(double multiplier) {
  if (std::isfinite(multiplier) && std::abs(multiplier) < double{1 << 30}) return OkStatus();
  return Unsupported(Reason::kQuantRange, fmt::format("multiplier {:g}", multiplier));
}

Result<std::vector<int32_t>> ConstantIntegers(const ir::Graph& graph, const ir::Node& node,
                                              size_t i) {
  const ir::Value& value = graph.input(node, i);
  if (!value.is_constant()) {
    return Unsupported(Reason::kConstantRequired, fmt::format("input {}", i));
  }
  const bool wide = value.type.dtype == DataType::kInt64;
  if (!wide && value.type.dtype != DataType::kInt32) {
    return Unsupported(Reason::kTypeMismatch,
                       fmt::format("input {} is {}", i, Name(value.type.dtype)));
  }
  const size_t entry = wide ? sizeof(int64_t) : sizeof(int32_t);
  std::vector<int32_t> entries;
  for (size_t at = 0; at + entry <= value.constant.size(); at += entry) {
    int64_t number = 0;
    if (wide) {
      std::memcpy(&number, value.constant.data() + at, sizeof(number));
    } else {
      int32_t narrow = 0;
      std::memcpy(&narrow, value.constant.data() + at, sizeof(narrow));
      number = narrow;
    }
    if (!FitsIn<int32_t>(number)) {
      return Unsupported(Reason::kShapeTooLarge, fmt::format("input {} holds {}", i, number));
    }
    entries.push_back(static_cast<int32_t>(number));
  }
  return entries;
}

}  // namespace npu::ops
