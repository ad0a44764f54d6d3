// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/host_path.h"

#include <algorithm>
#include <utility>

#include "src/ops/op_def.h"

namespace npu::runtime {

Result<std::unique_ptr<HostPath>> HostPath::Create(const ir::Graph& graph) {
  std::unique_ptr<HostPath> path(new HostPath(graph));  // NOLINT: private constructor
  NPU_RETURN_IF_ERROR(path->Prepare());
  return path;
}

Status HostPath::Prepare() {
  size_t scratch = 0;
  for (const ir::Node& node : graph_->nodes) {
    NPU_ASSIGN_OR_RETURN(auto kernel, ops::FindOp(node.params).make_host(*graph_, node));
    scratch = std::max(scratch, kernel->scratch_bytes());
    kernels_.push_back(std::move(kernel));
  }
  scratch_.resize(scratch + 64);
  views_.resize(graph_->values.size());
  storage_.resize(graph_->values.size());
  for (size_t v = 0; v < views_.size(); ++v) {
    const ir::Value& value = graph_->values[v];
    views_[v].dtype = value.type.dtype;
    views_[v].shape = value.type.shape;
    if (value.is_constant()) {
      views_[v].data = const_cast<std::byte*>(value.constant.data());  // kernels only read inputs
    }
  }
  for (const ir::Node& node : graph_->nodes) {
    for (ir::ValueId out : node.outputs) {
      const auto v = static_cast<size_t>(out);
      const auto& type = graph_->type(out);
      storage_[v].resize(static_cast<size_t>(type.shape.elements()) * ElementBytes(type.dtype));
      views_[v].data = storage_[v].data();
    }
  }
  return OkStatus();
}

void HostPath::Run(std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    views_[static_cast<size_t>(graph_->inputs[i])].data = const_cast<std::byte*>(inputs[i].data());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    views_[static_cast<size_t>(graph_->outputs[i])].data = outputs[i].data();
  }
  const auto address = reinterpret_cast<uintptr_t>(scratch_.data());
  const size_t skip = RoundUp<uintptr_t>(address, 64) - address;
  const std::span<std::byte> scratch(scratch_.data() + skip, scratch_.size() - 64);
  for (size_t n = 0; n < kernels_.size(); ++n) {
    const ir::Node& node = graph_->nodes[n];
    in_.clear();
    out_.clear();
    for (ir::ValueId in : node.inputs) {
      in_.push_back(in == ir::kNoValue ? layout::TensorView{} : view(in));
    }
    for (ir::ValueId out : node.outputs) out_.push_back(view(out));
    kernels_[n]->Run(in_, out_, scratch);
  }
}

}  // namespace npu::runtime
