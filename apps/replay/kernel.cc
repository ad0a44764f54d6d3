// SPDX-License-Identifier: Apache-2.0
#include "apps/replay/kernel.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/worker_pool.h"
#include "src/uapi/rocket.h"

namespace npu::replay {
namespace {

// The largest object that fills a gap between two buffers.
constexpr uint64_t kFillerBytes = uint64_t{1} << 30;

bool WantsChains(const device::JobFile& file) {
  return std::any_of(file.submits.begin(), file.submits.end(), [](const auto& submit) {
    return std::any_of(submit.jobs.begin(), submit.jobs.end(),
                       [](const device::JobRecord& job) { return job.batched(); });
  });
}

kmodel::Options KernelOptions(const device::JobFile& file, const Options& options) {
  kmodel::Options kernel;
  kernel.chip = options.chip;
  kernel.cores = 1;
  if (WantsChains(file)) kernel.version = {1, 1};
  kernel.hang_ms = 0;  // the verdict is the same without the wait
  kernel.path = options.path;
  // The cases judge the data; whether the mainline kernel sees a pool's end is open (Q1).
  kernel.assume.ppu_raises_dpu_interrupt = true;
  kernel.threads = options.pool == nullptr ? 1 : options.pool->threads();
  kernel.logger = Logger([](LogLevel, std::string_view) {});
  return kernel;
}

}  // namespace

const char* ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCompleted:
      return "completed";
    case Verdict::kTimedOut:
      return "timed out";
    case Verdict::kRejected:
      break;
  }
  return "rejected";
}

Result<std::unique_ptr<Kernel>> Kernel::Create(const device::JobFile& file,
                                               const Options& options) {
  std::unique_ptr<Kernel> kernel(new Kernel);
  Kernel* const self = kernel.get();
  const auto observe = [self](const kmodel::Job&, const kmodel::JobOutcome& outcome) {
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->outcome_ = outcome;
    self->ended_.notify_all();
  };
  NPU_ASSIGN_OR_RETURN(kernel->npu_, kmodel::Npu::Create(KernelOptions(file, options), observe));
  kernel->file_ = kernel->npu_->Open();
  NPU_RETURN_IF_ERROR(kernel->Place(file));
  return kernel;
}

Kernel::~Kernel() {
  for (const auto& [id, mapped] : buffers_) munmap(mapped.bytes.data(), mapped.bytes.size());
}

int Kernel::Call(uint32_t request, void* argument) const {
  return file_->Ioctl(request, reinterpret_cast<uint64_t>(argument));
}

// Addresses are the kernel's choice; objects that fill the gaps make it choose the case's. They are
// closed again, so that what the case does not map stays unmapped.
Status Kernel::Place(const device::JobFile& file) {
  std::vector<device::JobBuffer> sorted = file.buffers;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.iova < b.iova; });
  std::vector<uint32_t> fillers;
  uint64_t at = 0;
  for (const device::JobBuffer& buffer : sorted) {
    while (at < buffer.iova) {
      uapi::RocketCreateBo filler;
      filler.size = static_cast<uint32_t>(std::min(buffer.iova - at, kFillerBytes));
      if (Call(uapi::kIoctlCreateBo, &filler) != 0) {
        return {ErrorCode::kInternal, "the kernel model has no room for the case's addresses"};
      }
      fillers.push_back(filler.handle);
      at += filler.size;
    }
    NPU_RETURN_IF_ERROR(MapBuffer(buffer));
    at += buffer.size;
  }
  for (const uint32_t handle : fillers) {
    uapi::DrmGemClose close{.handle = handle, .pad = 0};
    if (Call(uapi::kIoctlGemClose, &close) != 0) return {ErrorCode::kInternal, "GEM_CLOSE failed"};
  }
  return OkStatus();
}

Status Kernel::MapBuffer(const device::JobBuffer& buffer) {
  uapi::RocketCreateBo create;
  create.size = static_cast<uint32_t>(buffer.size);
  const bool made = Call(uapi::kIoctlCreateBo, &create) == 0;
  if (!made || create.dma_address != buffer.iova) {
    return {ErrorCode::kInternal, "the kernel model does not give the case's addresses"};
  }
  const kmodel::File::Mapping mapping =
      file_->Map(buffer.size, PROT_READ | PROT_WRITE, MAP_SHARED, create.offset);
  void* const at = mapping.error != 0
                       ? MAP_FAILED
                       : mmap(nullptr, buffer.size, PROT_READ | PROT_WRITE, MAP_SHARED, mapping.fd,
                              static_cast<off_t>(mapping.offset));
  if (at == MAP_FAILED) return {ErrorCode::kOutOfMemory, "the case's buffers cannot be mapped"};
  const std::span<std::byte> bytes(static_cast<std::byte*>(at), buffer.size);
  buffers_[buffer.id] = {create.handle, bytes};
  return memory_.Map(buffer.iova, bytes);
}

std::span<std::byte> Kernel::buffer(uint32_t id) const { return buffers_.at(id).bytes; }

int Kernel::Submit(const device::JobRecord& record) {
  std::vector<uapi::RocketTask> tasks;
  for (const device::TaskRecord& task : record.tasks) tasks.push_back({task.regcmd, task.count});
  // A case may name buffers it does not hold; the kernel gets those it has.
  const auto handles = [this](const std::vector<uint32_t>& ids) {
    std::vector<uint32_t> found;
    for (const uint32_t id : ids) {
      if (const auto at = buffers_.find(id); at != buffers_.end())
        found.push_back(at->second.handle);
    }
    return found;
  };
  const std::vector<uint32_t> in = handles(record.in), out = handles(record.out);
  uapi::RocketJob job;
  job.tasks = reinterpret_cast<uint64_t>(tasks.data());
  job.in_bo_handles = reinterpret_cast<uint64_t>(in.data());
  job.out_bo_handles = reinterpret_cast<uint64_t>(out.data());
  job.task_count = static_cast<uint32_t>(tasks.size());
  job.task_struct_size = sizeof(uapi::RocketTask);
  job.in_bo_handle_count = static_cast<uint32_t>(in.size());
  job.out_bo_handle_count = static_cast<uint32_t>(out.size());
  job.flags = record.batched() ? uapi::kRocketJobBatched : 0;
  uapi::RocketSubmit submit{.jobs = reinterpret_cast<uint64_t>(&job),
                            .job_count = 1,
                            .job_struct_size = sizeof(job),
                            .reserved = 0};
  return Call(uapi::kIoctlSubmit, &submit);
}

KernelResult Kernel::Run(const device::JobRecord& job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    outcome_.reset();
  }
  const uint64_t dropped = npu_->statistics().dropped;
  const int error = Submit(job);
  KernelResult result;
  if (error != 0 || npu_->statistics().dropped != dropped) {
    result.verdict = Verdict::kRejected;
    result.reason = error != 0 ? std::strerror(-error) : "dropped without a word";
    return result;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return outcome_.has_value(); });
  result.verdict = outcome_->timed_out ? Verdict::kTimedOut : Verdict::kCompleted;
  result.reason = outcome_->reason;
  result.kicks = std::move(outcome_->kicks);
  return result;
}

}  // namespace npu::replay
