// SPDX-License-Identifier: Apache-2.0
// The modelled NPU and its kernel driver: cores, memory, and the files opened on it.
#ifndef SRC_KMODEL_NPU_H_
#define SRC_KMODEL_NPU_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/kmodel/fault_injector.h"
#include "src/kmodel/memory.h"
#include "src/kmodel/options.h"
#include "src/kmodel/reporter.h"
#include "src/kmodel/scheduler.h"

namespace npu::kmodel {

class File;

// Where exported objects become descriptors. The owner of the process's descriptors implements it
// (the shim); without one, export and import are refused. Thread-safe.
class DescriptorTable {
 public:
  virtual ~DescriptorTable() = default;
  // A new descriptor that keeps `object`, or -errno. `flags`: O_CLOEXEC, O_RDWR.
  virtual int Install(std::shared_ptr<BufferObject> object, uint32_t flags) = 0;
  // The object behind one of our exported descriptors; null for any other.
  virtual std::shared_ptr<BufferObject> Find(int fd) = 0;
};

// What exists and what happened since the device was made.
struct Statistics {
  uint64_t files = 0, objects = 0, object_bytes = 0;  // live
  uint64_t jobs = 0, timeouts = 0, dropped = 0;       // retired; of them ended by the watchdog
  uint64_t kicks = 0;
  uint64_t oopses = 0, findings = 0;
};

// Thread-safe.
class Npu : public std::enable_shared_from_this<Npu> {
 public:
  // kInvalidArgument (chip, cores), kOutOfMemory. `descriptors` is borrowed and may be null.
  static Result<std::shared_ptr<Npu>> Create(const Options& options, JobObserver observer = nullptr,
                                             DescriptorTable* descriptors = nullptr);

  // A new open file; it keeps the NPU alive.
  std::shared_ptr<File> Open();

  const Options& options() const { return options_; }
  const chip::Profile& profile() const { return profile_; }
  uint32_t cores() const { return scheduler_.cores(); }
  Scheduler& scheduler() { return scheduler_; }
  Reporter& reporter() { return reporter_; }
  FaultInjector& faults() { return faults_; }
  DescriptorTable* descriptors() const { return descriptors_; }
  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }
  Statistics statistics() const;

 private:
  friend class File;
  Npu(const Options& options, const chip::Profile& profile, uint32_t cores,
      std::shared_ptr<DeviceMemory> memory, JobObserver observer, DescriptorTable* descriptors);
  void Count(const JobOutcome& outcome);
  // Objects by their mmap offset, which is unique on the device.
  void AddObject(const std::shared_ptr<BufferObject>& object);
  std::shared_ptr<BufferObject> FindObject(uint64_t offset) const;

  const Options options_;
  const chip::Profile& profile_;
  const std::shared_ptr<DeviceMemory> memory_;
  DescriptorTable* const descriptors_;
  Reporter reporter_;
  FaultInjector faults_;
  std::atomic<uint64_t> opens_{0}, files_{0}, jobs_{0}, timeouts_{0}, dropped_{0}, kicks_{0};
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, std::weak_ptr<BufferObject>> objects_;  // under mutex_
  Scheduler scheduler_;  // last: its threads use the rest
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_NPU_H_
