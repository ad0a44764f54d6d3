// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/host_path.h"

#include <algorithm>
#include <utility>

#include "src/layout/pack.h"
#include "src/ops/op_def.h"

namespace npu::runtime {

Result<std::unique_ptr<HostPath>> HostPath::Create(const ir::Graph& graph) {
  std::unique_ptr<HostPath> path(new HostPath(graph));  // NOLINT: private constructor
  NPU_RETURN_IF_ERROR(path->Prepare());
  return path;
}

size_t HostPath::BytesOf(ir::ValueId value) const {
  const ir::TensorType& type = graph_->type(value);
  return static_cast<size_t>(type.shape.elements()) * ElementBytes(type.dtype);
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
  const auto store = [&](ir::ValueId value) {
    const auto v = static_cast<size_t>(value);
    storage_[v].resize(BytesOf(value));
    views_[v].data = storage_[v].data();
  };
  for (const ir::Node& node : graph_->nodes) {
    for (ir::ValueId out : node.outputs) store(out);
  }
  for (ir::ValueId in : graph_->inputs) {
    if (IsUint8(in)) store(in);
  }
  return OkStatus();
}

void HostPath::Run(std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::ValueId in = graph_->inputs[i];
    layout::TensorView& view = views_[static_cast<size_t>(in)];
    if (IsUint8(in)) {
      layout::FlipSignBits(inputs[i].data(), BytesOf(in), view.data);
    } else {
      view.data = const_cast<std::byte*>(inputs[i].data());
    }
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
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::ValueId out = graph_->outputs[i];
    std::byte* data = outputs[i].data();
    if (IsUint8(out)) layout::FlipSignBits(data, BytesOf(out), data);
  }
}

}  // namespace npu::runtime
