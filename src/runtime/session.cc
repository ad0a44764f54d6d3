// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "src/base/progress.h"
#include "src/layout/pack.h"
#include "src/runtime/buffers.h"
#include "src/runtime/host_path.h"
#include "src/runtime/verify.h"

namespace npu::runtime {
namespace {

using Inputs = std::span<const std::span<const std::byte>>;
using Outputs = std::span<const std::span<std::byte>>;

using BufferSet = std::set<device::Buffer*>;

// What one step needs at run time, made once so that a run allocates nothing.
struct PreparedStep {
  std::vector<layout::TensorView> in, out;  // host steps; filled anew at each run
  device::Job job;                          // NPU steps
  std::vector<device::Buffer*> flush;       // the CPU wrote these before the job
  std::vector<device::Buffer*> invalidate;  // the CPU reads these after the job
};

class SessionImpl final : public Session {
 public:
  SessionImpl(std::shared_ptr<const plan::CompiledProgram> program,
              std::shared_ptr<device::Device> device, SessionOptions options)
      : program_(std::move(program)), device_(std::move(device)), options_(std::move(options)) {}

  Status Prepare();
  Status Run(Inputs inputs, Outputs outputs) override;
  const SessionStatistics& statistics() const override { return statistics_; }

 private:
  void PrepareSteps(BufferSet* dirty);
  void NoteCpuWrites(std::span<const plan::SlotId> slots, BufferSet* dirty) const;
  void PrepareNpuStep(const plan::NpuStep& step, BufferSet* dirty, PreparedStep* prepared) const;
  device::Canary CanaryOf(const plan::NpuStep& step, const device::Job& job) const;
  device::Canary MarkOf(const plan::NpuOp& op) const;
  Status RunOnDevice();
  Status RunStep(const plan::Step& step, PreparedStep* prepared);
  Status RunHostStep(const plan::HostStep& step, PreparedStep* prepared);
  Status RunNpuStep(PreparedStep* prepared);
  Status RunJob(const device::Job& job);
  Status VerifyNpuStep(const plan::NpuStep& step, PreparedStep* prepared);
  Status RunOnHost(Inputs inputs, Outputs outputs);
  void LeaveDevice(const Status& why);
  const plan::TensorSlot& slot(plan::SlotId id) const {
    return program_->slots[static_cast<size_t>(id)];
  }

  std::shared_ptr<const plan::CompiledProgram> program_;
  std::shared_ptr<device::Device> device_;
  SessionOptions options_;
  ProgramBuffers buffers_;
  std::vector<PreparedStep> prepared_;
  std::unique_ptr<HostPath> host_path_;  // set when the device is not used any more
  device::JobReport report_;
  SessionStatistics statistics_;
  bool verify_pending_ = false;
};

Status SessionImpl::Prepare() {
  verify_pending_ = options_.verify_first;
  NPU_ASSIGN_OR_RETURN(buffers_, ProgramBuffers::Create(*program_, device_.get(), options_.chain));
  prepared_.resize(program_->steps.size());
  // Twice: what the CPU wrote late in one run must reach memory early in the next.
  BufferSet dirty;
  PrepareSteps(&dirty);
  PrepareSteps(&dirty);
  return OkStatus();
}

// `dirty`: the buffers the CPU wrote that were not yet handed to the NPU.
void SessionImpl::PrepareSteps(BufferSet* dirty) {
  for (size_t s = 0; s < prepared_.size(); ++s) {
    const plan::Step& step = program_->steps[s];
    if (const auto* pack = std::get_if<plan::PackStep>(&step)) {
      NoteCpuWrites({&pack->to, 1}, dirty);
    } else if (const auto* host = std::get_if<plan::HostStep>(&step)) {
      prepared_[s].in.resize(host->inputs.size());
      prepared_[s].out.resize(host->outputs.size());
      NoteCpuWrites(host->outputs, dirty);
    } else if (const auto* npu = std::get_if<plan::NpuStep>(&step)) {
      prepared_[s] = PreparedStep();
      PrepareNpuStep(*npu, dirty, &prepared_[s]);
    }
  }
}

void SessionImpl::NoteCpuWrites(std::span<const plan::SlotId> slots, BufferSet* dirty) const {
  for (const plan::SlotId slot : slots) {
    if (program_->slots[static_cast<size_t>(slot)].order != layout::Order::kCube) continue;
    dirty->insert(buffers_.buffer_of(slot));
  }
}

// Cubes in shared buffers are the ones host steps touch; the arena never needs maintenance.
void SessionImpl::PrepareNpuStep(const plan::NpuStep& step, BufferSet* dirty,
                                 PreparedStep* prepared) const {
  prepared->job = buffers_.MakeJob(step.ops, step.chainable);
  prepared->job.canary = CanaryOf(step, prepared->job);
  // Buffers the job writes too: a cube the CPU left dirty in its cache would be written back over
  // the NPU's, where the two take turns in one buffer.
  for (auto it = dirty->begin(); it != dirty->end();) {
    const auto names = [&](const std::vector<const device::Buffer*>& list) {
      return std::find(list.begin(), list.end(), *it) != list.end();
    };
    if (names(prepared->job.inputs) || names(prepared->job.outputs)) {
      prepared->flush.push_back(*it);
      it = dirty->erase(it);
    } else {
      ++it;
    }
  }
  for (const plan::NpuOp& op : step.ops) {
    if (program_->slots[static_cast<size_t>(op.output)].place.memory != plan::Memory::kShared) {
      continue;
    }
    device::Buffer* buffer = buffers_.buffer_of(op.output);
    auto& list = prepared->invalidate;
    if (std::find(list.begin(), list.end(), buffer) == list.end()) list.push_back(buffer);
  }
}

// One atom of the last pixel that the last operation writes: the mark is still there when the job
// was dropped, and also when it ended half-way. Only where the host reads the buffer anyway and no
// operation of the job may read the mark.
device::Canary SessionImpl::CanaryOf(const plan::NpuStep& step, const device::Job& job) const {
  const plan::NpuOp& last = step.ops.back();
  const plan::TensorSlot& slot = program_->slots[static_cast<size_t>(last.output)];
  if (slot.place.memory != plan::Memory::kShared) return {};
  device::Buffer* buffer = buffers_.buffer_of(last.output);
  for (const plan::NpuOp& op : step.ops) {
    for (const plan::SlotId input : op.inputs()) {
      if (buffers_.buffer_of(input) == buffer) return {};
    }
  }
  if (std::find(job.outputs.begin(), job.outputs.end(), buffer) == job.outputs.end()) return {};
  return MarkOf(last);
}

device::Canary SessionImpl::MarkOf(const plan::NpuOp& op) const {
  constexpr uint32_t kAtomBytes = 16;
  const plan::TensorSlot& output = slot(op.output);
  const layout::CubeShape& cube = output.cube;
  const uint64_t offset = layout::CubeOffset(cube, 0, cube.height - 1, cube.width - 1);
  return {buffers_.buffer_of(op.output), output.place.offset + offset, kAtomBytes};
}

Status SessionImpl::Run(Inputs inputs, Outputs outputs) {
  NPU_RETURN_IF_ERROR(buffers_.Bind(inputs, outputs));
  ++statistics_.runs;
  if (host_path_) return RunOnHost(inputs, outputs);
  // A forked child shares the buffers with its parent and must not even fill them.
  Status status = device_->Ready();
  if (status.ok()) status = RunOnDevice();
  if (status.ok()) return status;
  if (status.code() == ErrorCode::kDeviceFault || status.code() == ErrorCode::kTimeout) {
    ++statistics_.device_failures;
    options_.logger.Warning(fmt::format("{}; trying once more", status.message()));
    status = RunOnDevice();
    if (status.ok()) return status;
    ++statistics_.device_failures;
  }
  LeaveDevice(status);
  return RunOnHost(inputs, outputs);
}

void SessionImpl::LeaveDevice(const Status& why) {
  options_.logger.Error(fmt::format(
      "{}; this partition runs on the host from now on (correct, slower)", why.message()));
  verify_pending_ = false;
}

Status SessionImpl::RunOnHost(Inputs inputs, Outputs outputs) {
  if (!host_path_) {
    NPU_ASSIGN_OR_RETURN(host_path_, HostPath::Create(program_->graph));
  }
  ++statistics_.host_runs;
  host_path_->Run(inputs, outputs);
  return OkStatus();
}

Status SessionImpl::RunOnDevice() {
  statistics_.modelled_us = 0.0;
  Progress progress(options_.logger, device_->info().simulated
                                         ? "inference on the simulated NPU, steps"
                                         : "inference, steps");
  for (size_t s = 0; s < prepared_.size(); ++s) {
    NPU_RETURN_IF_ERROR(RunStep(program_->steps[s], &prepared_[s]));
    progress.Step(s + 1, prepared_.size());
  }
  verify_pending_ = false;
  return OkStatus();
}

Status SessionImpl::RunStep(const plan::Step& step, PreparedStep* prepared) {
  if (const auto* pack = std::get_if<plan::PackStep>(&step)) {
    layout::PackInt8(buffers_.view(pack->from).data, slot(pack->to).cube,
                     slot(pack->from).host_uint8, buffers_.view(pack->to).data);
    return OkStatus();
  }
  if (const auto* unpack = std::get_if<plan::UnpackStep>(&step)) {
    layout::UnpackInt8(buffers_.view(unpack->from).data, slot(unpack->from).cube,
                       slot(unpack->to).host_uint8, buffers_.view(unpack->to).data);
    return OkStatus();
  }
  if (const auto* rebase = std::get_if<plan::RebaseStep>(&step)) {
    layout::FlipSignBits(buffers_.view(rebase->from).data, slot(rebase->from).bytes,
                         buffers_.view(rebase->to).data);
    return OkStatus();
  }
  if (const auto* host = std::get_if<plan::HostStep>(&step)) return RunHostStep(*host, prepared);
  if (verify_pending_) return VerifyNpuStep(std::get<plan::NpuStep>(step), prepared);
  return RunNpuStep(prepared);
}

Status SessionImpl::RunHostStep(const plan::HostStep& step, PreparedStep* prepared) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    prepared->in[i] = step.inputs[i] < 0 ? layout::TensorView{} : buffers_.view(step.inputs[i]);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    prepared->out[i] = buffers_.view(step.outputs[i]);
  }
  step.kernel->Run(prepared->in, prepared->out, buffers_.scratch());
  return OkStatus();
}

Status SessionImpl::RunNpuStep(PreparedStep* prepared) {
  for (device::Buffer* buffer : prepared->flush) NPU_RETURN_IF_ERROR(buffer->EndCpuAccess());
  NPU_RETURN_IF_ERROR(RunJob(prepared->job));
  for (device::Buffer* buffer : prepared->invalidate) {
    NPU_RETURN_IF_ERROR(buffer->BeginCpuAccess());
  }
  return OkStatus();
}

Status SessionImpl::RunJob(const device::Job& job) {
  Status status = device_->Run(job, &report_);
  ++statistics_.submits;
  statistics_.kicks += report_.kicks;
  statistics_.modelled_us += report_.modelled_us;
  return status;
}

// One submit an operation, so that its input is still in memory when its output is checked.
Status SessionImpl::VerifyNpuStep(const plan::NpuStep& step, PreparedStep* prepared) {
  for (device::Buffer* buffer : prepared->flush) NPU_RETURN_IF_ERROR(buffer->EndCpuAccess());
  Progress progress(options_.logger, "checking the first inference, NPU operations");
  for (const plan::NpuOp& op : step.ops) {
    progress.Step(static_cast<size_t>(&op - step.ops.data()), step.ops.size());
    device::Job job = buffers_.MakeJob({&op, 1}, step.chainable);
    // The host looks at this output in any case; a dropped job must not pass for wrong arithmetic.
    job.canary = MarkOf(op);
    NPU_RETURN_IF_ERROR(RunJob(job));
    std::vector<layout::TensorView> inputs;
    for (const plan::SlotId slot : op.inputs()) {
      NPU_RETURN_IF_ERROR(buffers_.buffer_of(slot)->BeginCpuAccess());
      inputs.push_back(buffers_.view(slot));
    }
    NPU_RETURN_IF_ERROR(buffers_.buffer_of(op.output)->BeginCpuAccess());
    NPU_ASSIGN_OR_RETURN(const VerifyResult result, VerifyOp(op, inputs, buffers_.view(op.output)));
    if (result.mismatches == 0) continue;
    statistics_.verify_mismatches += result.mismatches;
    const ir::Node& node = program_->graph.nodes[static_cast<size_t>(op.node)];
    return {ErrorCode::kInternal,
            fmt::format("verify=first: {} '{}' gave {} wrong elements on the device ({})",
                        ir::OpName(node.params), program_->graph.output(node).name,
                        result.mismatches, result.first)};
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Create(
    std::shared_ptr<const plan::CompiledProgram> program, std::shared_ptr<device::Device> device,
    SessionOptions options) {
  auto session =
      std::make_unique<SessionImpl>(std::move(program), std::move(device), std::move(options));
  NPU_RETURN_IF_ERROR(session->Prepare());
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace npu::runtime
