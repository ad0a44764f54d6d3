// SPDX-License-Identifier: Apache-2.0
// The completion of a job. Signalled once, with success or error; waiters cannot tell which.
#ifndef SRC_KMODEL_FENCE_H_
#define SRC_KMODEL_FENCE_H_

#include <atomic>
#include <cstdint>

namespace npu::kmodel {

// Thread-safe.
class Fence {
 public:
  void Signal();
  bool signalled() const { return state_.load(std::memory_order_acquire) != 0; }

  // Waits until signalled or until the absolute CLOCK_MONOTONIC deadline, in one interruptible
  // system call, as the kernel's wait behaves (kernel-interfaces A.7). 0, -ETIMEDOUT or -EINTR.
  // A deadline of INT64_MAX is none at all.
  int Wait(int64_t deadline_ns);

 private:
  std::atomic<uint32_t> state_{0};  // a futex word
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
};

// CLOCK_MONOTONIC in nanoseconds.
int64_t MonotonicNow();

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_FENCE_H_
