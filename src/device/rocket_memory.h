// SPDX-License-Identifier: Apache-2.0
// The buffers of one open rocket file.
#ifndef SRC_DEVICE_ROCKET_MEMORY_H_
#define SRC_DEVICE_ROCKET_MEMORY_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "npu/status.h"
#include "src/device/live_buffers.h"
#include "src/device/rocket_file.h"

namespace npu::device {

class RocketMemory;

// One buffer object and its one mapping. Cache maintenance covers the whole object, so it is only
// done where it is due: BeginCpuAccess is free unless a job wrote the object since the last one.
class RocketBuffer : public Buffer {
 public:
  RocketBuffer(std::shared_ptr<RocketMemory> memory, const uapi::RocketCreateBo& bo,
               std::span<std::byte> mapped, uint64_t size);
  ~RocketBuffer() override;  // waits for a job that uses it

  uint32_t iova() const override { return static_cast<uint32_t>(bo_.dma_address); }
  std::span<std::byte> bytes() const override { return mapped_.first(size_); }
  Status BeginCpuAccess() override;
  Status EndCpuAccess() override;

  uint32_t handle() const { return bo_.handle; }
  // A job wrote it; whether its waiter has made it readable already.
  void NoteWritten(bool readable) const { stale_.store(!readable, std::memory_order_release); }

 private:
  const std::shared_ptr<RocketMemory> memory_;
  const uapi::RocketCreateBo bo_;
  const std::span<std::byte> mapped_;
  const uint64_t size_;
  mutable std::atomic<bool> stale_{false};  // the CPU's cache may hold older bytes
};

// The objects of a file; buffers keep it, and it the file. Thread-safe.
class RocketMemory : public std::enable_shared_from_this<RocketMemory> {
 public:
  explicit RocketMemory(std::unique_ptr<RocketFile> file) : file_(std::move(file)) {}
  ~RocketMemory();

  RocketFile& file() const { return *file_; }
  // Takes address 0: some register programs read a zero address as "off", and a stray zero must
  // not hit a buffer (A.4). Before anything else.
  Status TakeGuard();
  // kInvalidArgument for 0 bytes, kOutOfMemory when memory or addresses end, kDeviceFault for
  // answers that cannot be.
  Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes);

  // Held while a job is checked. The buffers of LiveBuffers are RocketBuffers.
  std::mutex& mutex() { return mutex_; }
  const LiveBuffers& live() const { return live_; }  // by mutex
  // While true no buffer goes. By mutex.
  void SetBusy(bool busy);
  // A job that writes this object has not ended: freeing anything first waits for it once more.
  void NoteUnfinished(uint32_t handle);

 private:
  friend class RocketBuffer;
  void Release(const RocketBuffer& buffer, std::span<std::byte> mapped);
  Result<uapi::RocketCreateBo> CreateChecked(uint32_t bytes);
  Status CheckAnswer(const uapi::RocketCreateBo& bo, uint64_t mapped_bytes);
  void AwaitUnfinished();

  const std::unique_ptr<RocketFile> file_;
  std::vector<uint32_t> guards_;
  std::mutex mutex_;
  std::condition_variable idle_;
  bool busy_ = false;
  LiveBuffers live_;
  uint32_t unfinished_ = 0;  // handle; 0: none
};

}  // namespace npu::device

#endif  // SRC_DEVICE_ROCKET_MEMORY_H_
