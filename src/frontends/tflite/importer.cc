// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "src/base/checked.h"
#include "src/frontends/tflite/op_import.h"
#include "src/frontends/tflite/tensor_import.h"

namespace npu::tflite {
namespace {

// No model has nodes of more operands; a larger count is a damaged list.
constexpr size_t kMaxOperands = 4096;

Status BadNode(std::string message) {
  return Status(ErrorCode::kCorruptData, std::move(message), "node.operands");
}

// Builds the graph of one ImportGraph call.
class GraphBuilder {
 public:
  explicit GraphBuilder(ImportedGraph* out) : out_(*out) {}

  bool has(int32_t tensor) const { return ids_.count(tensor) != 0; }
  ir::ValueId id(int32_t tensor) const { return ids_.at(tensor); }
  bool written(int32_t tensor) const { return written_.count(tensor) != 0; }

  ir::ValueId Add(int32_t tensor, const ir::Value& value) {
    const auto id = static_cast<ir::ValueId>(out_.graph.values.size());
    out_.graph.values.push_back(value);
    ids_.emplace(tensor, id);
    return id;
  }
  void AddInput(int32_t tensor, const ir::Value& value) {
    const ir::ValueId id = Add(tensor, value);
    if (value.is_constant()) return;
    out_.graph.inputs.push_back(id);
    out_.input_tensors.push_back(tensor);
  }
  void AddOutput(int32_t tensor) {
    out_.graph.outputs.push_back(id(tensor));
    out_.output_tensors.push_back(tensor);
  }
  // False when an earlier node wrote or read the tensor: no order of execution explains that.
  bool AddWritten(int32_t tensor, const ir::Value& value) {
    if (has(tensor)) return false;
    Add(tensor, value);
    written_.insert(tensor);
    return true;
  }

 private:
  ImportedGraph& out_;
  std::map<int32_t, ir::ValueId> ids_;
  std::set<int32_t> written_;
};

}  // namespace

std::span<const int32_t> Span(const abi::IntArray* list) {
  if (list == nullptr || list->size <= 0) return {};
  return {list->data, static_cast<size_t>(list->size)};
}

Result<std::vector<int32_t>> Importer::Plan() const {
  abi::IntArray* plan = nullptr;
  if (context_->GetExecutionPlan == nullptr ||
      context_->GetExecutionPlan(context_, &plan) != abi::kOk || plan == nullptr) {
    return Status(ErrorCode::kCorruptData, "the host gives no execution plan", "model.plan");
  }
  const std::span<const int32_t> nodes = Span(plan);
  return std::vector<int32_t>(nodes.begin(), nodes.end());
}

Result<HostNode> Importer::GetNode(int32_t node_index) const {
  abi::Node* node = nullptr;
  abi::Registration* registration = nullptr;
  if (context_->GetNodeAndRegistration == nullptr ||
      context_->GetNodeAndRegistration(context_, node_index, &node, &registration) != abi::kOk ||
      node == nullptr || registration == nullptr) {
    return Status(ErrorCode::kCorruptData, fmt::format("the host has no node {}", node_index),
                  "model.plan");
  }
  return HostNode{node, registration};
}

std::vector<int32_t> Importer::ShapeOf(int32_t tensor_index) const {
  if (tensor_index < 0 || context_->tensors == nullptr ||
      static_cast<size_t>(tensor_index) >= context_->tensors_size) {
    return {};
  }
  const abi::IntArray* dims = context_->tensors[tensor_index].dims;
  if (dims == nullptr || dims->size <= 0 || dims->size > 64) return {};
  return {dims->data, dims->data + dims->size};
}

Result<ir::Value> Importer::ImportTensor(int32_t index) {
  if (index < 0 || context_->tensors == nullptr ||
      static_cast<size_t>(index) >= context_->tensors_size) {
    return Status(ErrorCode::kCorruptData,
                  fmt::format("tensor index {} of {} tensors", index, context_->tensors_size),
                  "tensor.index");
  }
  const abi::Tensor& tensor = context_->tensors[index];
  Result<ir::Value> value = tflite::ImportTensor(tensor, rebased_.get());
  if (value.ok()) return value;
  const std::string_view name = tensor.name == nullptr ? "" : tensor.name;
  return Status(
      value.status().code(),
      fmt::format("tensor {} ('{}'): {}", index, name.substr(0, 80), value.status().message()),
      value.status().reason());
}

const Result<ir::Value>& Importer::TensorOnce(int32_t index) {
  const auto found = tensors_.find(index);
  if (found != tensors_.end()) return found->second;
  return tensors_.emplace(index, ImportTensor(index)).first->second;
}

Result<ir::Node> Importer::ImportNode(int32_t node_index) {
  NPU_ASSIGN_OR_RETURN(const HostNode host, GetNode(node_index));
  NPU_ASSIGN_OR_RETURN(const ir::OpParams params, ImportParams(*host.registration, *host.node));
  ir::Node node;
  node.params = params;
  node.source_index = node_index;
  const std::span<const int32_t> inputs = Span(host.node->inputs);
  const std::span<const int32_t> outputs = Span(host.node->outputs);
  if (inputs.size() > kMaxOperands || outputs.size() > kMaxOperands) {
    return BadNode(fmt::format("{} inputs and {} outputs", inputs.size(), outputs.size()));
  }
  for (const int32_t index : inputs) {
    if (index != abi::kOptionalTensor) NPU_RETURN_IF_ERROR(TensorOnce(index).status());
    node.inputs.push_back(index == abi::kOptionalTensor ? ir::kNoValue : index);
  }
  for (const int32_t index : outputs) {
    NPU_RETURN_IF_ERROR(TensorOnce(index).status());
    if (TensorOnce(index).value().is_constant()) {
      return BadNode(fmt::format("the node writes constant tensor {}", index));
    }
    node.outputs.push_back(index);
  }
  if (!node.outputs.empty()) node.name = TensorOnce(node.outputs[0]).value().name;
  return node;
}

Result<ImportedGraph> Importer::ImportGraph(std::span<const int32_t> nodes,
                                            std::span<const int32_t> outputs) {
  ImportedGraph imported;
  imported.rebased = rebased_;
  GraphBuilder builder(&imported);
  for (const int32_t node_index : nodes) {
    NPU_ASSIGN_OR_RETURN(ir::Node node, ImportNode(node_index));
    for (ir::ValueId& input : node.inputs) {
      if (input == ir::kNoValue) continue;
      if (!builder.has(input)) builder.AddInput(input, TensorOnce(input).value());
      input = builder.id(input);
    }
    for (ir::ValueId& output : node.outputs) {
      if (!builder.AddWritten(output, TensorOnce(output).value())) {
        return BadNode(fmt::format("node {} writes tensor {}, which an earlier node used",
                                   node_index, output));
      }
      if (outputs.empty()) builder.AddOutput(output);
      output = builder.id(output);
    }
    imported.graph.nodes.push_back(std::move(node));
  }
  std::set<int32_t> done;
  for (const int32_t tensor : outputs) {
    if (builder.written(tensor) && done.insert(tensor).second) builder.AddOutput(tensor);
  }
  return imported;
}

}  // namespace npu::tflite
