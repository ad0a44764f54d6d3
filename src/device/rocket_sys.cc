// SPDX-License-Identifier: Apache-2.0
#include "src/device/rocket_sys.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace npu::device {
namespace {

int Outcome(int result) { return result < 0 ? -errno : result; }

class RealSys : public RocketSys {
 public:
  int Open(const char* path, int flags) override { return Outcome(open(path, flags)); }
  int Close(int fd) override { return Outcome(close(fd)); }
  int Ioctl(int fd, uint32_t request, void* argument) override {
    return Outcome(ioctl(fd, static_cast<unsigned long>(request), argument));
  }
  int Map(int fd, uint64_t offset, size_t bytes, void** address) override {
    if (offset > static_cast<uint64_t>(INT64_MAX)) return -EOVERFLOW;
    void* const p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (p == MAP_FAILED) return -errno;
    *address = p;
    return 0;
  }
  int Unmap(void* address, size_t bytes) override { return Outcome(munmap(address, bytes)); }
  int64_t MonotonicNs() override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  int64_t ProcessId() override { return getpid(); }
  uint32_t PageBytes() override { return static_cast<uint32_t>(sysconf(_SC_PAGESIZE)); }
};

}  // namespace

std::shared_ptr<RocketSys> MakeRealSys() { return std::make_shared<RealSys>(); }

}  // namespace npu::device
