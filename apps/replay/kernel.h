// SPDX-License-Identifier: Apache-2.0
// The modelled kernel with the buffers of one case at exactly the case's addresses. Jobs go through
// its ioctls, so the verdict is the kernel's own: what it refuses, drops or ends.
#ifndef APPS_REPLAY_KERNEL_H_
#define APPS_REPLAY_KERNEL_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/replay/replay.h"
#include "npu/status.h"
#include "src/device/job_file.h"
#include "src/kmodel/file.h"
#include "src/kmodel/npu.h"
#include "src/sim/memory.h"

namespace npu::replay {

// What became of a job in the kernel.
struct KernelResult {
  Verdict verdict = Verdict::kCompleted;
  std::string reason;                  // of a refusal or a timeout
  std::vector<sim::KickResult> kicks;  // started
};

// Used by one thread.
class Kernel {
 public:
  // A kernel that can start chains in one kick (1.1) if a job of the case asks for it, else the
  // stock one. kInternal if the buffers cannot be placed.
  static Result<std::unique_ptr<Kernel>> Create(const device::JobFile& file,
                                                const Options& options);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  std::span<std::byte> buffer(uint32_t id) const;
  // The buffers as the device addresses them.
  const sim::AddressSpace& memory() const { return memory_; }

  // Submits the job and waits until the kernel has retired it.
  KernelResult Run(const device::JobRecord& job);

 private:
  Kernel() = default;
  Status Place(const device::JobFile& file);
  Status MapBuffer(const device::JobBuffer& buffer);
  int Call(uint32_t request, void* argument) const;
  int Submit(const device::JobRecord& job);

  std::shared_ptr<kmodel::Npu> npu_;
  std::shared_ptr<kmodel::File> file_;
  struct Mapped {
    uint32_t handle = 0;
    std::span<std::byte> bytes;
  };
  std::map<uint32_t, Mapped> buffers_;  // by id
  sim::AddressSpace memory_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<kmodel::JobOutcome> outcome_;  // under mutex_
};

}  // namespace npu::replay

#endif  // APPS_REPLAY_KERNEL_H_
