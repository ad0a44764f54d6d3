// SPDX-License-Identifier: Apache-2.0
#include "src/device/pool.h"

#include <utility>

namespace npu::device {

Result<std::shared_ptr<Device>> Pool::Get() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Devices that are gone, or that belong to the process this one was forked from, are no use.
  std::erase_if(devices_, [](const std::weak_ptr<Device>& weak) {
    const std::shared_ptr<Device> device = weak.lock();
    return !device || !device->Ready().ok();
  });
  std::shared_ptr<Device> idlest;
  long fewest = 0;
  for (const std::weak_ptr<Device>& weak : devices_) {
    const long users = weak.use_count();
    std::shared_ptr<Device> device = weak.lock();
    if (!device || (idlest && users >= fewest)) continue;
    idlest = std::move(device);
    fewest = users;
  }
  if (idlest && devices_.size() >= idlest->info().cores) return idlest;
  Result<std::shared_ptr<Device>> opened = Open(options_);
  if (opened.ok()) {
    devices_.push_back(*opened);
  } else if (idlest) {  // sharing a core beats failing
    return idlest;
  }
  return opened;
}

}  // namespace npu::device
