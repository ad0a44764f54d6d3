// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/fault_injector.h"

namespace npu::kmodel {

bool FaultInjector::Hits(FaultKind kind, uint64_t count, uint32_t* value) const {
  for (const Fault& fault : faults_) {
    if (fault.kind != kind || (fault.nth != 0 && fault.nth != count)) continue;
    if (value != nullptr) *value = fault.value;
    return true;
  }
  return false;
}

JobFaults FaultInjector::NextJob() {
  const uint64_t count = ++jobs_;
  JobFaults faults;
  faults.drop = Hits(FaultKind::kDropJob, count);
  faults.timeout = Hits(FaultKind::kTimeoutJob, count);
  faults.lost_wakeup = Hits(FaultKind::kLostWakeup, count);
  faults.reset = Hits(FaultKind::kResetJob, count);
  Hits(FaultKind::kDelayJob, count, &faults.delay_ms);
  return faults;
}

FaultInjector::CreateFaults FaultInjector::NextCreate() {
  const uint64_t count = ++creates_;
  return {Hits(FaultKind::kNoMemory, count), Hits(FaultKind::kShortObject, count)};
}

bool FaultInjector::NodeGoneAtNextIoctl() {
  const uint64_t count = ++ioctls_;
  for (const Fault& fault : faults_) {
    if (fault.kind == FaultKind::kNodeGone && count > fault.nth) gone_ = true;
  }
  return gone_;
}

}  // namespace npu::kmodel
