// SPDX-License-Identifier: Apache-2.0
// Provider `rocket`: a job is validated whole, submitted alone, waited for, and believed only when
// it was not slow and left its mark (kernel-interfaces A.12, A.18).
#ifndef SRC_DEVICE_ROCKET_DEVICE_H_
#define SRC_DEVICE_ROCKET_DEVICE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/base/log.h"
#include "src/chip/profile.h"
#include "src/device/device.h"
#include "src/device/rocket_memory.h"

namespace npu::device {

// What was found about the machine, beside the open file.
struct RocketSetup {
  uint32_t cores = 0;  // not visible: one
  bool simulated = false;
  bool offer_chains = false;  // the kernel allows them; the start-up check still has to pass
  bool probe_ppu = false;     // run a PPU task alone once, which may cost a job timeout
  double time_scale = 1;      // how much slower than silicon the device works (a simulated one)
};

// A device object is one core's worth: one open file, one job at a time. A child process forked
// after Open gets kNoDevice from every call; destroying what it inherited is harmless.
class RocketDevice : public Device {
 public:
  // Takes the guard page and makes the start-up checks; a check that fails only withdraws what it
  // would have proved.
  static Result<std::shared_ptr<Device>> Open(std::unique_ptr<RocketFile> file,
                                              const chip::Profile& profile,
                                              const RocketSetup& setup, const Logger& logger);

  const DeviceInfo& info() const override { return info_; }
  Status Ready() const override { return memory_->file().Usable(); }
  Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes) override;
  Status Run(const Job& job, JobReport* report) override;
  DeviceStatistics statistics() const override;

 private:
  RocketDevice(std::shared_ptr<RocketMemory> memory, const chip::Profile& profile,
               const RocketSetup& setup);
  void CheckAtStart(const RocketSetup& setup, const Logger& logger);

  Status Take(const Job& job);  // checks the job, keeps its buffers, fills the arrays
  Status PlaceCanary(const Canary& canary);
  Status RunTaken(const Job& job, JobReport* report);
  Result<bool> Wait(uint32_t handle, int64_t start_ns);
  Status Judge(const Job& job, bool ended, JobReport* report);
  Status Fault(const std::string& what, JobReport* report) const;

  const std::shared_ptr<RocketMemory> memory_;
  const chip::Profile& profile_;
  const double time_scale_;
  DeviceInfo info_;

  std::mutex run_mutex_;  // one job at a time; taken before memory_'s
  // By run_mutex_. Arrays of the job, kept so that a run allocates nothing.
  std::vector<uapi::RocketTask> tasks_;
  std::vector<uint32_t> inputs_, outputs_;
  const RocketBuffer* waited_ = nullptr;  // the output whose fence is waited for
  uint8_t canary_ = 0x5A;                 // changes whenever the mark was found
  mutable std::mutex statistics_mutex_;
  DeviceStatistics statistics_;  // by statistics_mutex_
};

}  // namespace npu::device

#endif  // SRC_DEVICE_ROCKET_DEVICE_H_
