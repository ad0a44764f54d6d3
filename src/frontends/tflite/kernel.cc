// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace npu::tflite {
namespace {

std::vector<size_t> PortBytes(const ir::Graph& graph, const std::vector<ir::ValueId>& ports) {
  std::vector<size_t> bytes;
  for (const ir::ValueId id : ports) {
    const ir::TensorType& type = graph.type(id);
    bytes.push_back(static_cast<size_t>(type.shape.elements()) * ElementBytes(type.dtype));
  }
  return bytes;
}

// The host's tensor, which must still have the size it was compiled for.
Result<const abi::Tensor*> Port(const abi::Context& context, int32_t index, size_t bytes) {
  if (index < 0 || static_cast<size_t>(index) >= context.tensors_size) {
    return Status(ErrorCode::kCorruptData, fmt::format("tensor {} is gone", index));
  }
  const abi::Tensor& tensor = context.tensors[index];
  if (tensor.bytes == bytes) return &tensor;
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("tensor {} has {} bytes, its partition was compiled for {}", index,
                            tensor.bytes, bytes));
}

Result<std::byte*> Data(const abi::Context& context, int32_t index, size_t bytes) {
  NPU_ASSIGN_OR_RETURN(const abi::Tensor* tensor, Port(context, index, bytes));
  if (tensor->data == nullptr && bytes != 0) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("tensor {} has no memory; were the tensors allocated?", index));
  }
  return static_cast<std::byte*>(tensor->data);
}

}  // namespace

Status ClaimRecord::WriteLocked(const runtime::SessionStatistics* run) {
  if (report_.options.explain.empty()) return OkStatus();
  return frontends::WriteFileAtomically(report_.options.explain,
                                        frontends::ExplainJson(report_, run));
}

void ClaimRecord::WriteExplain() {
  std::lock_guard lock(mutex_);
  const Status status = WriteLocked(nullptr);
  if (!status.ok()) logger_.Warning("explain: " + status.message());
}

void ClaimRecord::KernelStarted() {
  std::lock_guard lock(mutex_);
  ++live_;
}

void ClaimRecord::KernelFreed(const runtime::SessionStatistics& statistics) {
  std::lock_guard lock(mutex_);
  run_.runs = std::max(run_.runs, statistics.runs);
  run_.host_runs += statistics.host_runs;
  run_.verify_mismatches += statistics.verify_mismatches;
  run_.device_failures += statistics.device_failures;
  run_.submits += statistics.submits;
  run_.kicks += statistics.kicks;
  run_.modelled_us += statistics.modelled_us;
  if (--live_ != 0 || run_.runs == 0) return;
  // The application may have removed the folder by now: that is no reason to complain.
  const Status status = WriteLocked(&run_);
  if (!status.ok()) logger_.Debug("explain: " + status.message());
}

Kernel::Kernel(CompiledPartition partition, std::shared_ptr<ClaimRecord> record,
               frontends::Options options, Logger logger)
    : partition_(std::move(partition)),
      record_(std::move(record)),
      options_(std::move(options)),
      logger_(std::move(logger)),
      input_bytes_(PortBytes(partition_.program->graph, partition_.program->graph.inputs)),
      output_bytes_(PortBytes(partition_.program->graph, partition_.program->graph.outputs)),
      inputs_(input_bytes_.size()),
      outputs_(output_bytes_.size()) {
  times_.partition = partition_.id;
  if (record_) record_->KernelStarted();
}

Kernel::~Kernel() {
  WriteProfile();
  if (record_) record_->KernelFreed(partition_.session->statistics());
}

void Kernel::WriteProfile() {
  if (options_.profile.empty() || times_.runs == 0) return;
  times_.mean_ms /= static_cast<double>(times_.runs);
  times_.modelled_us = partition_.session->statistics().modelled_us;
  if (options_.profile == "1")
    return Logger().Info(frontends::ProfileText(times_));  // quiet or not
  const Status status = frontends::AppendProfile(options_.profile, times_);
  if (!status.ok()) logger_.Warning("profile: " + status.message());
}

// mean_ms holds the sum until the end.
void Kernel::NoteTime(double milliseconds) {
  times_.min_ms = times_.runs == 0 ? milliseconds : std::min(times_.min_ms, milliseconds);
  times_.max_ms = std::max(times_.max_ms, milliseconds);
  times_.mean_ms += milliseconds;
  ++times_.runs;
}

Status Kernel::Prepare(const abi::Context& context) const {
  if (partition_.input_tensors.size() != input_bytes_.size() ||
      partition_.output_tensors.size() != output_bytes_.size()) {
    return Status(ErrorCode::kInternal, "the program's ports are not those of its partition");
  }
  for (size_t i = 0; i < input_bytes_.size(); ++i) {
    NPU_RETURN_IF_ERROR(Port(context, partition_.input_tensors[i], input_bytes_[i]).status());
  }
  for (size_t i = 0; i < output_bytes_.size(); ++i) {
    NPU_RETURN_IF_ERROR(Port(context, partition_.output_tensors[i], output_bytes_[i]).status());
  }
  return OkStatus();
}

Status Kernel::Invoke(const abi::Context& context) {
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    NPU_ASSIGN_OR_RETURN(const std::byte* data,
                         Data(context, partition_.input_tensors[i], input_bytes_[i]));
    inputs_[i] = {data, input_bytes_[i]};
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    NPU_ASSIGN_OR_RETURN(std::byte * data,
                         Data(context, partition_.output_tensors[i], output_bytes_[i]));
    outputs_[i] = {data, output_bytes_[i]};
  }
  NPU_RETURN_IF_ERROR(partition_.session->Run(inputs_, outputs_));
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  NoteTime(elapsed.count());
  return OkStatus();
}

void ReportToHost(abi::Context* context, const Logger& logger, const Status& status) {
  logger.Error(status.message());
  // Hosts concatenate texts without a separator, so end the line.
  if (context != nullptr && context->ReportError != nullptr) {
    context->ReportError(context, "rocket-npu: %s\n", status.message().c_str());
  }
}

}  // namespace npu::tflite
