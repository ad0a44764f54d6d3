// SPDX-License-Identifier: Apache-2.0
#include "tests/frontends/fake_host.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <set>
#include <utility>

namespace npu::tflite {
namespace {

size_t BytesOf(int32_t type) {
  switch (type) {
    case abi::kFloat32:
    case abi::kInt32:
      return 4;
    case abi::kInt64:
      return 8;
    case abi::kInt16:
    case abi::kFloat16:
      return 2;
    default:
      return 1;
  }
}

std::vector<int32_t> ToVector(const abi::IntArray* list) {
  return {list->data, list->data + list->size};
}

bool Contains(const std::vector<int32_t>& list, int32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

FakeHost::FakeHost() {
  context_.impl = this;
  context_.GetExecutionPlan = GetPlan;
  context_.GetNodeAndRegistration = GetNode;
  context_.PreviewDelegatePartitioning = Preview;
  context_.ReplaceNodeSubsetsWithDelegateKernels = Replace;
  context_.ReportError = Report;
  context_.recommended_num_threads = -1;
}

abi::IntArray* FakeHost::List(std::vector<int32_t> values) {
  values.insert(values.begin(), static_cast<int32_t>(values.size()));
  lists_.push_back(std::move(values));
  return reinterpret_cast<abi::IntArray*>(lists_.back().data());
}

int32_t FakeHost::AddTensor(int32_t type, std::vector<int32_t> dims) {
  abi::Tensor tensor = {};
  tensor.type = type;
  tensor.bytes = BytesOf(type);
  for (const int32_t extent : dims) tensor.bytes *= static_cast<size_t>(extent);
  tensor.dims = List(std::move(dims));
  tensor.allocation_type = abi::kArenaRw;
  tensor.name = "t";
  tensor.buffer_handle = -1;
  tensors_.push_back(tensor);
  context_.tensors = tensors_.data();
  context_.tensors_size = tensors_.size();
  return static_cast<int32_t>(tensors_.size()) - 1;
}

int32_t FakeHost::AddInt8(std::vector<int32_t> dims, float scale, int32_t zero_point) {
  const int32_t index = AddTensor(abi::kInt8, std::move(dims));
  Quantize(index, {scale}, {zero_point});
  return index;
}

int32_t FakeHost::AddConstant(int32_t type, std::vector<int32_t> dims,
                              std::vector<int32_t> values) {
  const int32_t index = AddTensor(type, std::move(dims));
  abi::Tensor& t = tensor(index);
  std::vector<std::byte>& bytes = blobs_.emplace_back(t.bytes);
  const size_t size = BytesOf(type);
  for (size_t i = 0; i < values.size() && (i + 1) * size <= bytes.size(); ++i) {
    std::memcpy(bytes.data() + i * size, &values[i], size);  // little-endian, as all hosts here
  }
  t.allocation_type = abi::kMmapRo;
  t.data = bytes.data();
  return index;
}

void FakeHost::Quantize(int32_t index, std::vector<float> scales, std::vector<int32_t> zero_points,
                        int32_t axis) {
  abi::Tensor& t = tensor(index);
  if (scales.size() == 1) t.params = {scales[0], zero_points.empty() ? 0 : zero_points[0]};
  std::vector<float>& storage = float_lists_.emplace_back();
  storage.push_back(std::bit_cast<float>(static_cast<int32_t>(scales.size())));
  storage.insert(storage.end(), scales.begin(), scales.end());
  quantizations_.push_back(
      {reinterpret_cast<abi::FloatArray*>(storage.data()), List(std::move(zero_points)), axis});
  t.quantization = {abi::kQuantizationAffine, &quantizations_.back()};
}

int32_t FakeHost::AddNode(int32_t builtin_code, std::vector<int32_t> inputs,
                          std::vector<int32_t> outputs) {
  HostNode& host = nodes_.emplace_back();
  host.node = {};
  host.registration = {};
  host.node.inputs = List(std::move(inputs));
  host.node.outputs = List(std::move(outputs));
  host.registration.builtin_code = builtin_code;
  host.registration.version = 1;
  host.registration.inplace_operator = 12;  // as real hosts have on some builtins
  return static_cast<int32_t>(nodes_.size()) - 1;
}

abi::Status FakeHost::GetPlan(abi::Context* context, abi::IntArray** plan) {
  FakeHost& host = Of(context);
  std::vector<int32_t> nodes;
  for (size_t i = 0; i < host.nodes_.size(); ++i) nodes.push_back(static_cast<int32_t>(i));
  *plan = host.List(std::move(nodes));
  return abi::kOk;
}

abi::Status FakeHost::GetNode(abi::Context* context, int32_t index, abi::Node** node,
                              abi::Registration** registration) {
  FakeHost& host = Of(context);
  if (index < 0 || static_cast<size_t>(index) >= host.nodes_.size()) return abi::kError;
  *node = &host.node(index);
  *registration = &host.registration(index);
  return abi::kOk;
}

void FakeHost::Report(abi::Context* context, const char* format, ...) {
  std::array<char, 1024> text{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  Of(context).errors_ += text.data();
}

FakeHost::Partition FakeHost::Finish(std::vector<int32_t> nodes) {
  Partition partition{std::move(nodes), {}, {}};
  std::vector<int32_t> made;
  for (const int32_t n : partition.nodes) {
    for (const int32_t t : ToVector(node(n).inputs)) {
      if (t >= 0 && !Contains(made, t) && !Contains(partition.inputs, t)) {
        partition.inputs.push_back(t);
      }
    }
    for (const int32_t t : ToVector(node(n).outputs)) made.push_back(t);
  }
  for (const int32_t t : made) {
    bool outside = Contains(model_outputs_, t);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const auto index = static_cast<int32_t>(n);
      outside |= !Contains(partition.nodes, index) && Contains(ToVector(node(index).inputs), t);
    }
    if (outside) partition.outputs.push_back(t);
  }
  return partition;
}

// Epochs of one kind each: a node joins when all its inputs are there (tflite-delegate 1.6).
std::vector<FakeHost::Partition> FakeHost::Partitions(const abi::IntArray* claimed) {
  const std::vector<int32_t> wanted = ToVector(claimed);
  std::set<int32_t> pending, unmade;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    pending.insert(static_cast<int32_t>(n));
    for (const int32_t t : ToVector(nodes_[n].node.outputs)) unmade.insert(t);
  }
  std::vector<Partition> partitions;
  bool taking = false;
  for (int idle = 0; !pending.empty() && idle < 2; taking = !taking) {
    std::vector<int32_t> epoch;
    for (bool more = true; more;) {
      more = false;
      for (const int32_t n : std::vector<int32_t>(pending.begin(), pending.end())) {
        const std::vector<int32_t> in = ToVector(node(n).inputs);
        const bool ready =
            std::none_of(in.begin(), in.end(), [&](int32_t t) { return unmade.count(t) != 0; });
        if (Contains(wanted, n) != taking || !ready) continue;
        for (const int32_t t : ToVector(node(n).outputs)) unmade.erase(t);
        pending.erase(n);
        epoch.push_back(n);
        more = true;
      }
    }
    idle = epoch.empty() ? idle + 1 : 0;
    std::sort(epoch.begin(), epoch.end());
    if (taking && !epoch.empty()) partitions.push_back(Finish(std::move(epoch)));
  }
  return partitions;
}

abi::DelegateParams FakeHost::ParamsOf(const Partition& partition, abi::Delegate* delegate) {
  return {delegate, List(partition.nodes), List(partition.inputs), List(partition.outputs)};
}

abi::Status FakeHost::Preview(abi::Context* context, const abi::IntArray* nodes,
                              abi::DelegateParams** partitions, int32_t* count) {
  FakeHost& host = Of(context);
  host.preview_.clear();
  for (const Partition& p : host.Partitions(nodes)) {
    host.preview_.push_back(host.ParamsOf(p, nullptr));
  }
  *partitions = host.preview_.data();
  *count = static_cast<int32_t>(host.preview_.size());
  return abi::kOk;
}

abi::Status FakeHost::Replace(abi::Context* context, abi::Registration registration,
                              const abi::IntArray* nodes, abi::Delegate* delegate) {
  FakeHost& host = Of(context);
  if (registration.registration_external != nullptr || registration.async_kernel != nullptr ||
      registration.inplace_operator != 0) {
    Report(context, "a member of the registration is set that changes what hosts do\n");
    return abi::kError;
  }
  std::vector<Partition> partitions = host.Partitions(nodes);
  if (host.split_at_replace && partitions.size() == 1) {
    const std::vector<int32_t> all = partitions[0].nodes;
    partitions = {host.Finish({all.begin(), all.begin() + 1}),
                  host.Finish({all.begin() + 1, all.end()})};
  }
  for (const Partition& p : partitions) {
    KernelSlot& slot = host.kernels_.emplace_back();
    slot.nodes = p.nodes;
    slot.registration = registration;
    slot.node = {};
    host.params_.push_back(host.ParamsOf(p, delegate));
    slot.params = &host.params_.back();
    slot.node.user_data = registration.init(context, reinterpret_cast<const char*>(slot.params), 0);
  }
  return host.PrepareKernels();
}

abi::Status FakeHost::Apply(abi::Delegate* delegate) {
  return delegate->Prepare(&context_, delegate);
}

abi::Status FakeHost::PrepareKernels() {
  for (KernelSlot& kernel : kernels_) {
    const abi::Status status = kernel.registration.prepare(&context_, &kernel.node);
    if (status != abi::kOk) return status;
  }
  return abi::kOk;
}

void FakeHost::Allocate() {
  for (abi::Tensor& t : tensors_) {
    if (t.allocation_type != abi::kArenaRw) continue;
    blobs_.emplace_back(t.bytes + 64);
    t.data = blobs_.back().data();
  }
}

abi::Status FakeHost::Invoke() {
  for (KernelSlot& kernel : kernels_) {
    const abi::Status status = kernel.registration.invoke(&context_, &kernel.node);
    if (status != abi::kOk) return status;
  }
  return abi::kOk;
}

void FakeHost::FreeKernels() {
  for (KernelSlot& kernel : kernels_) {
    if (kernel.node.user_data != nullptr) {
      kernel.registration.free(&context_, kernel.node.user_data);
    }
  }
  kernels_.clear();
}

}  // namespace npu::tflite
