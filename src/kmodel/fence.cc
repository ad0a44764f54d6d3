// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/fence.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <limits>

namespace npu::kmodel {
namespace {

constexpr int64_t kNanoseconds = 1'000'000'000;

}  // namespace

int64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * kNanoseconds + now.tv_nsec;
}

void Fence::Signal() {
  state_.store(1, std::memory_order_release);
  syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

int Fence::Wait(int64_t deadline_ns) {
  const timespec until{.tv_sec = deadline_ns / kNanoseconds, .tv_nsec = deadline_ns % kNanoseconds};
  const bool forever = deadline_ns == std::numeric_limits<int64_t>::max();
  while (!signalled()) {
    // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC.
    const long r = syscall(SYS_futex, &state_, FUTEX_WAIT_BITSET_PRIVATE, 0,
                           forever ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
    if (r == 0 || errno == EAGAIN) continue;
    if (errno == ETIMEDOUT && signalled()) return 0;
    return errno == ETIMEDOUT ? -ETIMEDOUT : -EINTR;
  }
  return 0;
}

}  // namespace npu::kmodel
