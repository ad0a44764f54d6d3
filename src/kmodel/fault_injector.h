// SPDX-License-Identifier: Apache-2.0
// Counts the events of a device and says which of them are to fail.
#ifndef SRC_KMODEL_FAULT_INJECTOR_H_
#define SRC_KMODEL_FAULT_INJECTOR_H_

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/kmodel/options.h"

namespace npu::kmodel {

// What is to happen to one job.
struct JobFaults {
  bool drop = false, timeout = false, lost_wakeup = false, reset = false;
  uint32_t delay_ms = 0;
};

// Thread-safe. Each function counts one event of its kind.
class FaultInjector {
 public:
  explicit FaultInjector(std::vector<Fault> faults) : faults_(std::move(faults)) {}

  JobFaults NextJob();
  struct CreateFaults {
    bool no_memory = false, short_object = false;
  };
  CreateFaults NextCreate();
  bool InterruptNextPrep() { return Hits(FaultKind::kInterruptPrep, ++preps_); }
  bool FailNextMmap() { return Hits(FaultKind::kFailMmap, ++mmaps_); }
  // True once more ioctls came than the device lives for.
  bool NodeGoneAtNextIoctl();
  bool node_gone() const { return gone_; }

 private:
  bool Hits(FaultKind kind, uint64_t count, uint32_t* value = nullptr) const;

  const std::vector<Fault> faults_;
  std::atomic<uint64_t> jobs_{0}, creates_{0}, preps_{0}, mmaps_{0}, ioctls_{0};
  std::atomic<bool> gone_{false};
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_FAULT_INJECTOR_H_
