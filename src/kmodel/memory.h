// SPDX-License-Identifier: Apache-2.0
// The pages of buffer objects: ranges of one anonymous file (memfd) of the device, so that a client
// maps them with a plain mmap of its descriptor (kernel-interfaces C.3).
#ifndef SRC_KMODEL_MEMORY_H_
#define SRC_KMODEL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace npu::kmodel {

// Thread-safe. Ranges are never reused: a stale offset fails or reads zeros, never another object.
class DeviceMemory {
 public:
  // Null if the system refuses; errno is set.
  static std::shared_ptr<DeviceMemory> Create(uint64_t page_bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  int fd() const { return fd_; }
  uint64_t page_bytes() const { return page_bytes_; }
  // Makes [*offset, + bytes) of the file exist; bytes is a multiple of the page. 0 or -errno.
  int Reserve(uint64_t bytes, uint64_t* offset);

 private:
  DeviceMemory(int fd, uint64_t page_bytes) : fd_(fd), page_bytes_(page_bytes) {}

  const int fd_;
  const uint64_t page_bytes_;
  std::mutex mutex_;
  // At and above 4 GiB, as on a real kernel: an offset cut to 32 bits fails at once.
  uint64_t next_ = uint64_t{1} << 32;
};

// Zeroed pages, mapped here; the memory goes back to the system with the object.
class Pages {
 public:
  // Shared with clients through `memory`. 0 or -errno.
  static int Create(std::shared_ptr<DeviceMemory> memory, uint64_t bytes,
                    std::unique_ptr<Pages>* out);
  // Private to the model (the device image of strict coherency).
  static int CreatePrivate(uint64_t bytes, std::unique_ptr<Pages>* out);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  uint64_t offset() const { return offset_; }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  Pages() = default;
  int Map(uint64_t bytes, int flags, int fd);

  std::shared_ptr<DeviceMemory> memory_;  // null: private
  uint64_t offset_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_MEMORY_H_
