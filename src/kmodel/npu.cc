// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/npu.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "src/kmodel/file.h"

namespace npu::kmodel {

Npu::Npu(const Options& options, const chip::Profile& profile, uint32_t cores,
         std::shared_ptr<DeviceMemory> memory, JobObserver observer, DescriptorTable* descriptors)
    : options_(options),
      profile_(profile),
      memory_(std::move(memory)),
      descriptors_(descriptors),
      reporter_(options_),
      faults_(options_.faults),
      scheduler_(options_, profile_, cores, &reporter_,
                 [this, observer = std::move(observer)](const Job& job, const JobOutcome& outcome) {
                   Count(outcome);
                   if (observer) observer(job, outcome);
                 }) {}

Result<std::shared_ptr<Npu>> Npu::Create(const Options& options, JobObserver observer,
                                         DescriptorTable* descriptors) {
  const chip::Profile* const profile = chip::FindChip(options.chip);
  if (profile == nullptr) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("chip '{}' is unknown", options.chip));
  }
  if (options.cores > profile->cores) {
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("the {} has {} cores, not {}", profile->name, profile->cores, options.cores));
  }
  const uint32_t cores = options.cores == 0 ? profile->cores : options.cores;
  auto memory = DeviceMemory::Create(static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  if (memory == nullptr) return Status(ErrorCode::kOutOfMemory, "memfd_create failed");
  return std::shared_ptr<Npu>(
      new Npu(options, *profile, cores, std::move(memory), std::move(observer), descriptors));
}

std::shared_ptr<File> Npu::Open() { return std::make_shared<File>(shared_from_this()); }

void Npu::Count(const JobOutcome& outcome) {
  ++jobs_;
  kicks_ += outcome.kicks.size();
  if (outcome.timed_out) ++timeouts_;
}

void Npu::AddObject(const std::shared_ptr<BufferObject>& object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(objects_, [](const auto& entry) { return entry.second.expired(); });
  objects_[object->offset()] = object;
}

std::shared_ptr<BufferObject> Npu::FindObject(uint64_t offset) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = objects_.find(offset);
  return at == objects_.end() ? nullptr : at->second.lock();
}

Statistics Npu::statistics() const {
  Statistics now{.files = files_,
                 .jobs = jobs_,
                 .timeouts = timeouts_,
                 .dropped = dropped_,
                 .kicks = kicks_,
                 .oopses = reporter_.oopses(),
                 .findings = reporter_.findings()};
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [offset, weak] : objects_) {
    const std::shared_ptr<BufferObject> object = weak.lock();
    if (object == nullptr) continue;
    ++now.objects;
    now.object_bytes += object->bytes();
  }
  return now;
}

}  // namespace npu::kmodel
