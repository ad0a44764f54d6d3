// SPDX-License-Identifier: Apache-2.0
// A client of the kernel interface, in process or through a descriptor: typed calls of the ioctls,
// golden cases as jobs.
#ifndef TESTS_KERNEL_CLIENT_CLIENT_H_
#define TESTS_KERNEL_CLIENT_CLIENT_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/device/job_file.h"
#include "src/uapi/rocket.h"

namespace npu::kernel_client {

inline constexpr int64_t kMillisecond = 1'000'000;

// The node as a client sees it: what its ioctl and mmap do. Converts from a kmodel::File* or from a
// descriptor of the node. Copies share nothing but what they refer to.
class Endpoint {
 public:
  // What holds a mapping beside its pages.
  using Keep = std::shared_ptr<const void>;

  template <typename File>
  Endpoint(File* file)  // NOLINT(runtime/explicit)
      : ioctl_([file](uint32_t request, void* argument) {
          return file->Ioctl(request, reinterpret_cast<uint64_t>(argument));
        }),
        map_([file](uint64_t length, uint64_t offset, Keep* keep) -> std::byte* {
          const auto mapping = file->Map(length, PROT_READ | PROT_WRITE, MAP_SHARED, offset);
          *keep = mapping.keep;
          return mapping.error != 0 ? nullptr : MapPages(length, mapping.fd, mapping.offset);
        }) {}
  Endpoint(int fd);  // NOLINT(runtime/explicit)

  // 0 or a negative errno.
  int Ioctl(uint32_t request, void* argument) const { return ioctl_(request, argument); }
  // Null if refused.
  std::byte* Map(uint64_t length, uint64_t offset, Keep* keep) const {
    return map_(length, offset, keep);
  }

 private:
  static std::byte* MapPages(uint64_t length, int fd, uint64_t offset);

  std::function<int(uint32_t, void*)> ioctl_;
  std::function<std::byte*(uint64_t, uint64_t, Keep*)> map_;
};

struct Bo {
  uint32_t handle = 0;
  uint64_t iova = 0, offset = 0;
};

// Calls with the results of the ioctl: 0 or a negative errno.
int Create(const Endpoint& node, uint32_t size, Bo* out);
Bo Create(const Endpoint& node, uint32_t size);  // a test failure if it fails
int Close(const Endpoint& node, uint32_t handle);
int Prep(const Endpoint& node, uint32_t handle, int64_t deadline_ns, uint32_t reserved = 0);
int Fini(const Endpoint& node, uint32_t handle, uint32_t reserved = 0);

// A job in user space; the vectors must stay until the submit.
struct UserJob {
  std::vector<uapi::RocketTask> tasks;
  std::vector<uint32_t> in, out;
  uint32_t flags = 0;
  uapi::RocketJob words() const;
};
int Submit(const Endpoint& node, const UserJob& job);
int Submit(const Endpoint& node, const std::vector<UserJob>& jobs);

// The buffers of a golden case at exactly its addresses, mapped.
class PlacedCase {
 public:
  // Place before the file has any object.
  PlacedCase(const std::string& name, Endpoint node);
  ~PlacedCase();
  PlacedCase(const PlacedCase&) = delete;
  PlacedCase& operator=(const PlacedCase&) = delete;

  // Fills the buffers of submission 0 and flushes them.
  void Load(bool flush = true);
  UserJob Job() const;
  // Elements of all checks that differ from what is mapped.
  size_t Mismatches() const;
  uint32_t output() const { return Job().out.front(); }
  uint32_t handle(uint32_t id) const { return buffers_.at(id).bo.handle; }
  std::byte* bytes(uint32_t id) const { return buffers_.at(id).bytes; }
  const device::JobFile& file() const { return case_; }

 private:
  struct Buffer {
    Bo bo;
    std::byte* bytes = nullptr;
    uint64_t size = 0;
    std::shared_ptr<const void> keep;
  };
  device::JobFile case_;
  const Endpoint node_;
  std::map<uint32_t, Buffer> buffers_;  // by the case's id
};

// A small convolution whose result is known.
inline constexpr char kSmallCase[] = "conv_i8_1x1_32x8x8_32";

}  // namespace npu::kernel_client

#endif  // TESTS_KERNEL_CLIENT_CLIENT_H_
