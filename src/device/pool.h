// SPDX-License-Identifier: Apache-2.0
// The devices of one kind that a process uses: a core works for one open file at a time, so k cores
// need k of them (kernel-interfaces A.10).
#ifndef SRC_DEVICE_POOL_H_
#define SRC_DEVICE_POOL_H_

#include <memory>
#include <mutex>
#include <vector>

#include "npu/status.h"
#include "src/device/open.h"

namespace npu::device {

// Hands out devices, a new one as long as there are fewer than cores, then the one with the fewest
// users. A device is closed with its last user. Thread-safe; opens nothing before the first Get.
class Pool {
 public:
  explicit Pool(OpenOptions options) : options_(std::move(options)) {}

  // Errors: as Open.
  Result<std::shared_ptr<Device>> Get();

 private:
  const OpenOptions options_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Device>> devices_;  // by mutex_
};

}  // namespace npu::device

#endif  // SRC_DEVICE_POOL_H_
