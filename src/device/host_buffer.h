// SPDX-License-Identifier: Apache-2.0
// Buffers of the providers that live in this process, and the registry that knows which exist.
#ifndef SRC_DEVICE_HOST_BUFFER_H_
#define SRC_DEVICE_HOST_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "npu/status.h"
#include "src/device/address_allocator.h"
#include "src/device/device.h"
#include "src/device/live_buffers.h"

namespace npu::device {

// The kernel keeps the mapped length in a signed 32-bit variable (kernel-interfaces A.5).
inline constexpr uint64_t kMaxBufferBytes = (uint64_t{1} << 31) - 4096;

// Zeroed pages of anonymous memory, taken from the system when first touched. RAII.
class HostPages {
 public:
  HostPages() = default;
  ~HostPages();
  HostPages(HostPages&& other) noexcept;
  HostPages& operator=(HostPages&& other) noexcept;

  // kOutOfMemory when the system refuses.
  static Result<HostPages> Allocate(uint64_t bytes);
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// The live buffers of one device. Buffers keep it alive, so a device may be closed before them.
class BufferRegistry : public std::enable_shared_from_this<BufferRegistry> {
 public:
  // Called with the lock held when a buffer appears and before it goes.
  struct Hooks {
    std::function<Status(uint32_t iova, std::span<std::byte> bytes)> on_map;
    std::function<void(uint32_t iova)> on_unmap;
  };

  BufferRegistry(uint64_t space_bytes, uint32_t page_bytes, Hooks hooks);

  // Contents zero. kInvalidArgument for 0 bytes, kOutOfMemory when memory or addresses end.
  Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes);

  // Held while a job runs: no buffer appears or goes meanwhile.
  std::mutex& mutex() { return mutex_; }
  // Needs the mutex to be held.
  const LiveBuffers& live() const { return live_; }

 private:
  class Owned;
  void Release(uint32_t iova);

  std::mutex mutex_;
  AddressAllocator addresses_;
  Hooks hooks_;
  uint32_t page_bytes_;
  LiveBuffers live_;
};

}  // namespace npu::device

#endif  // SRC_DEVICE_HOST_BUFFER_H_
