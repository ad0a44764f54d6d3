// SPDX-License-Identifier: Apache-2.0
#include "src/device/rocket_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/device/providers.h"
#include "src/device/rocket_checks.h"

namespace npu::device {
namespace {

// A job that took this long was ended by the kernel's watchdog (500 ms), which it calls a success.
constexpr int64_t kSilentTimeoutNs = 450'000'000;
// The watchdog must have come by then, whatever else the core did.
constexpr int64_t kGiveUpNs = 1'000'000'000;
// A wait is cut in slices, so that a wake-up the kernel loses costs no more than one.
constexpr int64_t kSliceNs = 50'000'000;
// Mainline pins the clock here (kernel-interfaces E.4): estimates are made for the nominal one.
constexpr double kSlowestClockMhz = 200;

int64_t Scaled(int64_t ns, double scale) {
  return static_cast<int64_t>(static_cast<double>(ns) * scale);
}

Status CheckTime(const Job& job, const chip::Profile& profile) {
  double total_us = 0;
  for (const Task& task : job.tasks) total_us += task.modelled_us;
  const double slowest_ms = total_us / 1000 * profile.cost.default_clock_mhz / kSlowestClockMhz;
  const double limit_ms = static_cast<double>(kSilentTimeoutNs) / 1e6;
  if (slowest_ms < limit_ms) return OkStatus();
  return Status(ErrorCode::kUnsupported,
                fmt::format("job refused: it may take {:.0f} ms at {:.0f} MHz, and the kernel ends "
                            "a job after {} ms; split it",
                            slowest_ms, kSlowestClockMhz, profile.memory.job_timeout_ms));
}

Status CheckCanary(const Job& job) {
  const Canary& canary = job.canary;
  if (canary.bytes == 0) return OkStatus();
  const auto& outputs = job.outputs;
  if (std::find(outputs.begin(), outputs.end(), canary.buffer) != outputs.end()) {
    const uint64_t size = canary.buffer->bytes().size();
    if (canary.offset <= size && canary.bytes <= size - canary.offset) return OkStatus();
  }
  return Status(ErrorCode::kInvalidArgument, "job refused: its canary is in no output buffer");
}

// The fence is the same for all outputs; the smallest object costs least to invalidate. The
// canary's is read anyway.
const RocketBuffer* BufferToWaitFor(const Job& job) {
  const Buffer* best = job.canary.bytes != 0 ? job.canary.buffer : job.outputs[0];
  if (job.canary.bytes == 0) {
    for (const Buffer* buffer : job.outputs) {
      if (buffer->bytes().size() < best->bytes().size()) best = buffer;
    }
  }
  return static_cast<const RocketBuffer*>(best);
}

}  // namespace

RocketDevice::RocketDevice(std::shared_ptr<RocketMemory> memory, const chip::Profile& profile,
                           const RocketSetup& setup)
    : memory_(std::move(memory)), profile_(profile), time_scale_(setup.time_scale) {
  info_.provider = "rocket";
  info_.chip = profile.name;
  info_.cores = setup.cores;
  info_.simulated = setup.simulated;
  info_.description = fmt::format(
      "{}{} at {}, driver rocket {}, {} core{}", setup.simulated ? "simulated " : "", profile.name,
      memory_->file().path(), memory_->file().version(), setup.cores, setup.cores == 1 ? "" : "s");
}

Result<std::shared_ptr<Device>> RocketDevice::Open(std::unique_ptr<RocketFile> file,
                                                   const chip::Profile& profile,
                                                   const RocketSetup& setup, const Logger& logger) {
  auto memory = std::make_shared<RocketMemory>(std::move(file));
  NPU_RETURN_IF_ERROR(memory->TakeGuard());
  std::shared_ptr<RocketDevice> device(
      new RocketDevice(std::move(memory), profile, setup));  // NOLINT: private constructor
  device->CheckAtStart(setup, logger);
  NPU_RETURN_IF_ERROR(device->Ready());
  return std::shared_ptr<Device>(std::move(device));
}

// Nobody else knows the device yet, so info_ may still change.
void RocketDevice::CheckAtStart(const RocketSetup& setup, const Logger& logger) {
  const auto prove = [&](bool* capability, const char* what, Status (*check)(Device*)) {
    *capability = true;
    const Status status = check(this);
    if (status.ok()) return;
    *capability = false;
    logger.Warning(
        fmt::format("{}: {} not used: {}", memory_->file().path(), what, status.message()));
  };
  if (setup.offer_chains) prove(&info_.can_chain, "several tasks in one kick are", ProveChains);
  if (setup.probe_ppu) prove(&info_.completes_ppu, "tasks of the PPU alone are", ProvePpu);
  statistics_ = DeviceStatistics();
}

Result<std::unique_ptr<Buffer>> RocketDevice::Allocate(uint64_t bytes) {
  return memory_->Allocate(bytes);
}

Status RocketDevice::Take(const Job& job) {
  NPU_RETURN_IF_ERROR(CheckTime(job, profile_));
  const std::lock_guard<std::mutex> lock(memory_->mutex());
  NPU_RETURN_IF_ERROR(CheckJob(job, memory_->live(), profile_, info_.can_chain));
  NPU_RETURN_IF_ERROR(CheckCanary(job));
  if (job.chained) NPU_RETURN_IF_ERROR(CheckChain(job, memory_->live()));
  const auto handles = [](const std::vector<const Buffer*>& buffers, std::vector<uint32_t>* out) {
    out->clear();
    for (const Buffer* buffer : buffers) {
      out->push_back(static_cast<const RocketBuffer*>(buffer)->handle());
    }
  };
  handles(job.inputs, &inputs_);
  handles(job.outputs, &outputs_);
  tasks_.clear();
  for (const Task& task : job.tasks) tasks_.push_back({task.regcmd, task.count});
  waited_ = BufferToWaitFor(job);
  memory_->SetBusy(true);
  return OkStatus();
}

Status RocketDevice::PlaceCanary(const Canary& canary) {
  if (canary.bytes == 0) return OkStatus();
  NPU_RETURN_IF_ERROR(canary.buffer->BeginCpuAccess());
  const std::span<std::byte> mark = canary.buffer->bytes().subspan(canary.offset, canary.bytes);
  std::fill(mark.begin(), mark.end(), std::byte{canary_});
  return canary.buffer->EndCpuAccess();
}

Status RocketDevice::Run(const Job& job, JobReport* report) {
  JobReport local;
  JobReport& out = report == nullptr ? local : *report;
  out = JobReport{};
  NPU_RETURN_IF_ERROR(Ready());  // before any lock: a fork may have copied it closed
  const std::lock_guard<std::mutex> run_lock(run_mutex_);
  NPU_RETURN_IF_ERROR(Take(job));
  Status status = PlaceCanary(job.canary);
  if (status.ok()) status = RunTaken(job, &out);
  {
    const std::lock_guard<std::mutex> lock(memory_->mutex());
    memory_->SetBusy(false);
  }
  const std::lock_guard<std::mutex> lock(statistics_mutex_);
  ++statistics_.submits;
  statistics_.tasks += out.completed ? job.tasks.size() : 0;
  statistics_.kicks += out.kicks;
  statistics_.failures += status.ok() ? 0 : 1;
  return status;
}

Status RocketDevice::RunTaken(const Job& job, JobReport* report) {
  RocketFile& file = memory_->file();
  const int64_t start = file.sys().MonotonicNs();
  NPU_RETURN_IF_ERROR(file.Submit({tasks_, inputs_, outputs_, job.chained}));
  report->kicks = job.chained ? 1 : static_cast<uint32_t>(job.tasks.size());
  for (const Buffer* buffer : job.outputs) {
    static_cast<const RocketBuffer*>(buffer)->NoteWritten(false);
  }
  NPU_ASSIGN_OR_RETURN(const bool ended, Wait(waited_->handle(), start));
  report->elapsed = std::chrono::nanoseconds(file.sys().MonotonicNs() - start);
  if (ended) waited_->NoteWritten(true);
  return Judge(job, ended, report);
}

// Whether the job has ended, well or badly, before we give up.
Result<bool> RocketDevice::Wait(uint32_t handle, int64_t start_ns) {
  RocketFile& file = memory_->file();
  const int64_t last = Deadline(start_ns, Scaled(kGiveUpNs, time_scale_));
  for (int64_t now = start_ns; now < last; now = file.sys().MonotonicNs()) {
    NPU_ASSIGN_OR_RETURN(const bool ended,
                         file.Prep(handle, std::min(last, Deadline(now, kSliceNs))));
    if (ended) return true;
  }
  return file.Prep(handle, 0);
}

Status RocketDevice::Fault(const std::string& what, JobReport* report) const {
  report->failure = what;
  return Status(ErrorCode::kDeviceFault,
                fmt::format("{}: the NPU failed a job: {}", memory_->file().path(), what));
}

Status RocketDevice::Judge(const Job& job, bool ended, JobReport* report) {
  const auto milliseconds = report->elapsed.count() / 1'000'000;
  if (!ended) {
    // Its fence will not come any more, and the queue of this file waits behind it.
    memory_->NoteUnfinished(waited_->handle());
    memory_->file().MarkLost(fmt::format("a job did not end within {} ms", milliseconds));
    return Fault(fmt::format("hang: it did not end within {} ms", milliseconds), report);
  }
  if (report->elapsed.count() >= Scaled(kSilentTimeoutNs, time_scale_)) {
    return Fault(fmt::format("hang: it took {} ms, so the kernel's watchdog ended it (look for "
                             "\"NPU job timed out\" in the kernel log)",
                             milliseconds),
                 report);
  }
  const Canary& canary = job.canary;
  if (canary.bytes != 0) {
    const std::span<std::byte> mark = canary.buffer->bytes().subspan(canary.offset, canary.bytes);
    const auto intact = [&](std::byte b) { return b == std::byte{canary_}; };
    if (std::all_of(mark.begin(), mark.end(), intact)) {
      canary_ = static_cast<uint8_t>(~canary_);  // a result that looks like the mark fails once
      return Fault("dropped: the kernel called it done and nothing was written", report);
    }
  }
  report->completed = true;
  return OkStatus();
}

DeviceStatistics RocketDevice::statistics() const {
  DeviceStatistics now;
  {
    const std::lock_guard<std::mutex> lock(statistics_mutex_);
    now = statistics_;
  }
  const std::lock_guard<std::mutex> lock(memory_->mutex());
  now.live_buffers = memory_->live().count();
  now.live_bytes = memory_->live().bytes();
  return now;
}

}  // namespace npu::device
