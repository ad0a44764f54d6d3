// SPDX-License-Identifier: Apache-2.0
// The system calls the rocket provider makes, as an interface: tests replace them and inject every
// error. Failures are negative errno values; nothing retries here.
#ifndef SRC_DEVICE_ROCKET_SYS_H_
#define SRC_DEVICE_ROCKET_SYS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace npu::device {

// Thread-safe.
class RocketSys {
 public:
  virtual ~RocketSys() = default;
  virtual int Open(const char* path, int flags) = 0;  // a descriptor
  virtual int Close(int fd) = 0;
  virtual int Ioctl(int fd, uint32_t request, void* argument) = 0;
  // PROT_READ | PROT_WRITE, MAP_SHARED. Sets *address and returns 0.
  virtual int Map(int fd, uint64_t offset, size_t bytes, void** address) = 0;
  virtual int Unmap(void* address, size_t bytes) = 0;
  virtual int64_t MonotonicNs() = 0;  // CLOCK_MONOTONIC
  virtual int64_t ProcessId() = 0;
  virtual uint32_t PageBytes() = 0;
};

// The system itself.
std::shared_ptr<RocketSys> MakeRealSys();

}  // namespace npu::device

#endif  // SRC_DEVICE_ROCKET_SYS_H_
