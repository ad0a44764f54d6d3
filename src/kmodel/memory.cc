// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace npu::kmodel {
namespace {

// Where the private descriptor goes, out of the way of programs that count on small numbers.
constexpr int kHighDescriptor = 900;

int MoveUp(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (high < 0) return fd;
  close(fd);
  return high;
}

}  // namespace

std::shared_ptr<DeviceMemory> DeviceMemory::Create(uint64_t page_bytes) {
  const int fd = memfd_create("rocket-npu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return nullptr;
  // Clients hold descriptors of this file: one that truncates it would take everybody's pages. A
  // system without seals loses this protection only.
  (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  return std::shared_ptr<DeviceMemory>(new DeviceMemory(MoveUp(fd), page_bytes));
}

DeviceMemory::~DeviceMemory() { close(fd_); }

int DeviceMemory::Reserve(uint64_t bytes, uint64_t* offset) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ftruncate(fd_, static_cast<off_t>(next_ + bytes)) != 0) return -errno;
  *offset = next_;
  next_ += bytes + page_bytes_;  // a page between two objects belongs to nobody
  return 0;
}

int Pages::Map(uint64_t bytes, int flags, int fd) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd,
                        static_cast<off_t>(offset_));
  if (at == MAP_FAILED) return -errno;
  bytes_ = {static_cast<std::byte*>(at), bytes};
  return 0;
}

int Pages::Create(std::shared_ptr<DeviceMemory> memory, uint64_t bytes,
                  std::unique_ptr<Pages>* out) {
  std::unique_ptr<Pages> pages(new Pages);
  if (const int r = memory->Reserve(bytes, &pages->offset_); r != 0) return r;
  const int fd = memory->fd();
  pages->memory_ = std::move(memory);
  if (const int r = pages->Map(bytes, MAP_SHARED, fd); r != 0) return r;
  *out = std::move(pages);
  return 0;
}

int Pages::CreatePrivate(uint64_t bytes, std::unique_ptr<Pages>* out) {
  std::unique_ptr<Pages> pages(new Pages);
  if (const int r = pages->Map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1); r != 0) return r;
  *out = std::move(pages);
  return 0;
}

Pages::~Pages() {
  if (bytes_.empty()) return;
  munmap(bytes_.data(), bytes_.size());
  if (memory_ == nullptr) return;
  // The file never shrinks; this gives the memory back. Failure would only cost memory.
  (void)fallocate(memory_->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset_), static_cast<off_t>(bytes_.size()));
}

}  // namespace npu::kmodel
