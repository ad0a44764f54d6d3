// SPDX-License-Identifier: Apache-2.0
#include "src/device/host_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/checked.h"

namespace npu::device {

Result<HostPages> HostPages::Allocate(uint64_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    return Status(ErrorCode::kOutOfMemory, fmt::format("out of host memory: {} bytes asked for: {}",
                                                       bytes, std::strerror(errno)));
  }
  HostPages pages;
  pages.bytes_ = {static_cast<std::byte*>(p), bytes};
  return pages;
}

HostPages::~HostPages() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

HostPages::HostPages(HostPages&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

HostPages& HostPages::operator=(HostPages&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

class BufferRegistry::Owned : public Buffer {
 public:
  Owned(std::shared_ptr<BufferRegistry> registry, HostPages pages, uint64_t size, uint32_t iova)
      : registry_(std::move(registry)), pages_(std::move(pages)), size_(size), iova_(iova) {}
  ~Owned() override { registry_->Release(iova_); }

  uint32_t iova() const override { return iova_; }
  std::span<std::byte> bytes() const override { return pages_.bytes().first(size_); }
  Status BeginCpuAccess() override { return OkStatus(); }
  Status EndCpuAccess() override { return OkStatus(); }

  std::span<std::byte> mapped() const { return pages_.bytes(); }

 private:
  std::shared_ptr<BufferRegistry> registry_;
  HostPages pages_;
  uint64_t size_;
  uint32_t iova_;
};

BufferRegistry::BufferRegistry(uint64_t space_bytes, uint32_t page_bytes, Hooks hooks)
    : addresses_(space_bytes, page_bytes), hooks_(std::move(hooks)), page_bytes_(page_bytes) {}

Result<std::unique_ptr<Buffer>> BufferRegistry::Allocate(uint64_t bytes) {
  if (bytes > kMaxBufferBytes) {
    return Status(ErrorCode::kOutOfMemory,
                  fmt::format("a buffer of {} bytes is too large, the kernel takes {}", bytes,
                              kMaxBufferBytes));
  }
  const uint64_t rounded = RoundUp<uint64_t>(bytes, page_bytes_);
  const std::lock_guard<std::mutex> lock(mutex_);
  NPU_ASSIGN_OR_RETURN(const uint32_t iova, addresses_.Allocate(bytes));
  Result<HostPages> pages = HostPages::Allocate(rounded);
  if (pages.ok() && hooks_.on_map) {
    if (Status mapped = hooks_.on_map(iova, pages->bytes()); !mapped.ok())
      pages = std::move(mapped);
  }
  if (!pages.ok()) {
    addresses_.Free(iova);
    return pages.status();
  }
  auto buffer = std::make_unique<Owned>(shared_from_this(), *std::move(pages), bytes, iova);
  live_.Add(buffer.get());
  return std::unique_ptr<Buffer>(std::move(buffer));
}

void BufferRegistry::Release(uint32_t iova) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!live_.Remove(iova)) return;
  if (hooks_.on_unmap) hooks_.on_unmap(iova);
  addresses_.Free(iova);
}

}  // namespace npu::device
