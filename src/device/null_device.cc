// SPDX-License-Identifier: Apache-2.0
// Provider `null`: accepts correct jobs and computes nothing.
#include <utility>

#include "src/device/providers.h"

namespace npu::device {
namespace {

class NullDevice : public Device {
 public:
  NullDevice(const chip::Profile& profile, const OpenOptions& options)
      : profile_(profile),
        registry_(std::make_shared<BufferRegistry>(profile.memory.address_space_bytes,
                                                   profile.memory.page_bytes,
                                                   BufferRegistry::Hooks{})) {
    info_.provider = "null";
    info_.chip = profile.name;
    info_.description = "accepts jobs and computes nothing";
    info_.simulated = true;
    info_.can_chain = options.can_chain;
    info_.completes_ppu = options.completes_ppu;
  }

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes) override {
    return registry_->Allocate(bytes);
  }

  Status Run(const Job& job, JobReport* report) override {
    const std::lock_guard<std::mutex> lock(registry_->mutex());
    NPU_RETURN_IF_ERROR(CheckJob(job, registry_->live(), profile_, info_.can_chain));
    const uint32_t kicks = job.chained ? 1 : static_cast<uint32_t>(job.tasks.size());
    ++statistics_.submits;
    statistics_.tasks += job.tasks.size();
    statistics_.kicks += kicks;
    if (report != nullptr) {
      report->completed = true;
      report->failure.clear();
      report->elapsed = {};
      report->modelled_us = 0;
      report->kicks = kicks;
      report->diagnostics.clear();
    }
    return OkStatus();
  }

  DeviceStatistics statistics() const override {
    const std::lock_guard<std::mutex> lock(registry_->mutex());
    DeviceStatistics now = statistics_;
    now.live_buffers = registry_->live().count();
    now.live_bytes = registry_->live().bytes();
    return now;
  }

 private:
  const chip::Profile& profile_;
  DeviceInfo info_;
  std::shared_ptr<BufferRegistry> registry_;
  DeviceStatistics statistics_;  // under registry_->mutex()
};

}  // namespace

Result<std::shared_ptr<Device>> OpenNull(const chip::Profile& profile, const OpenOptions& options) {
  return std::shared_ptr<Device>(std::make_shared<NullDevice>(profile, options));
}

}  // namespace npu::device
