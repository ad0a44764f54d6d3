// SPDX-License-Identifier: Apache-2.0
#include "src/device/rocket_memory.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/checked.h"
#include "src/device/host_buffer.h"

namespace npu::device {
namespace {

constexpr uint64_t kAddressSpaceBytes = uint64_t{1} << 32;
// For a buffer whose last job was waited for already, or whose file is about to close.
constexpr int64_t kLastWaitNs = 500'000'000;
// Address 0 comes first on every kernel read; one that shuffles may hand it out a little later.
constexpr int kMaxGuards = 4;

}  // namespace

RocketBuffer::RocketBuffer(std::shared_ptr<RocketMemory> memory, const uapi::RocketCreateBo& bo,
                           std::span<std::byte> mapped, uint64_t size)
    : memory_(std::move(memory)), bo_(bo), mapped_(mapped), size_(size) {}

RocketBuffer::~RocketBuffer() { memory_->Release(*this, mapped_); }

Status RocketBuffer::BeginCpuAccess() {
  if (!stale_.load(std::memory_order_acquire)) return OkStatus();
  RocketFile& file = memory_->file();
  NPU_ASSIGN_OR_RETURN(const bool idle,
                       file.Prep(bo_.handle, Deadline(file.sys().MonotonicNs(), kLastWaitNs)));
  if (!idle) {
    return Status(ErrorCode::kDeviceFault,
                  fmt::format("{}: the buffer at {:#x} is still being written", file.path(),
                              bo_.dma_address));
  }
  stale_.store(false, std::memory_order_release);
  return OkStatus();
}

Status RocketBuffer::EndCpuAccess() { return memory_->file().Fini(bo_.handle); }

RocketMemory::~RocketMemory() {
  AwaitUnfinished();
  for (const uint32_t handle : guards_) file_->CloseBo(handle);
}

Status RocketMemory::TakeGuard() {
  NPU_ASSIGN_OR_RETURN(const uapi::RocketCreateBo bo, file_->CreateBo(file_->sys().PageBytes()));
  guards_.push_back(bo.handle);
  return OkStatus();
}

Result<uapi::RocketCreateBo> RocketMemory::CreateChecked(uint32_t bytes) {
  for (;;) {
    NPU_ASSIGN_OR_RETURN(const uapi::RocketCreateBo bo, file_->CreateBo(bytes));
    if (bo.dma_address != 0) return bo;
    const std::lock_guard<std::mutex> lock(mutex_);
    guards_.push_back(bo.handle);
    if (guards_.size() > kMaxGuards) {
      return Status(ErrorCode::kDeviceFault,
                    fmt::format("{} hands out address 0 again and again", file_->path()));
    }
  }
}

// The kernel is believed in nothing that would let a job or the CPU reach foreign memory.
Status RocketMemory::CheckAnswer(const uapi::RocketCreateBo& bo, uint64_t mapped_bytes) {
  const uint64_t page = file_->sys().PageBytes();
  if (bo.handle != 0 && bo.dma_address % page == 0 && bo.offset % page == 0 &&
      bo.dma_address <= kAddressSpaceBytes - mapped_bytes &&
      !live_.Overlaps(bo.dma_address, mapped_bytes)) {
    return OkStatus();
  }
  return Status(ErrorCode::kDeviceFault,
                fmt::format("{} answered an allocation of {} bytes with handle {}, address {:#x} "
                            "and offset {:#x}, which cannot be; is this the driver rocket?",
                            file_->path(), mapped_bytes, bo.handle, bo.dma_address, bo.offset));
}

Result<std::unique_ptr<Buffer>> RocketMemory::Allocate(uint64_t bytes) {
  if (bytes == 0) return Status(ErrorCode::kInvalidArgument, "a buffer of 0 bytes was asked for");
  if (bytes > kMaxBufferBytes) {
    return Status(ErrorCode::kOutOfMemory,
                  fmt::format("a buffer of {} bytes is too large, the kernel takes {}", bytes,
                              kMaxBufferBytes));
  }
  NPU_ASSIGN_OR_RETURN(const uapi::RocketCreateBo bo, CreateChecked(static_cast<uint32_t>(bytes)));
  const uint64_t mapped_bytes = RoundUp<uint64_t>(bytes, file_->sys().PageBytes());
  const std::unique_lock<std::mutex> lock(mutex_);
  Status status = CheckAnswer(bo, mapped_bytes);
  if (status.ok()) {
    Result<std::span<std::byte>> mapped = file_->Map(bo, mapped_bytes);
    if (mapped.ok()) {
      auto buffer = std::make_unique<RocketBuffer>(shared_from_this(), bo, *mapped, bytes);
      live_.Add(buffer.get());
      return std::unique_ptr<Buffer>(std::move(buffer));
    }
    status = mapped.status();
  }
  if (bo.handle != 0) file_->CloseBo(bo.handle);
  return status;
}

void RocketMemory::SetBusy(bool busy) {
  busy_ = busy;
  if (!busy) idle_.notify_all();
}

void RocketMemory::NoteUnfinished(uint32_t handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  unfinished_ = handle;
}

// Stock kernels use freed memory when a file closes under a job (A.13).
void RocketMemory::AwaitUnfinished() {
  const uint32_t handle = std::exchange(unfinished_, 0);
  if (handle == 0) return;
  file_->AwaitAnyway(handle, Deadline(file_->sys().MonotonicNs(), kLastWaitNs));
}

void RocketMemory::Release(const RocketBuffer& buffer, std::span<std::byte> mapped) {
  if (!file_->forked()) {  // where the lock may be held by a thread that does not exist
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return !busy_; });
    AwaitUnfinished();
    live_.Remove(buffer.iova());
  }
  file_->Unmap(mapped);
  file_->CloseBo(buffer.handle());
}

}  // namespace npu::device
