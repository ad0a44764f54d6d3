// SPDX-License-Identifier: Apache-2.0
// mmap of the node by the rules of the driver, and the life of its mappings: each keeps its object
// and its open file.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/checked.h"
#include "src/shim/process.h"
#include "src/shim/real.h"

namespace npu::shim {
namespace {

void* Failed(int error) {
  errno = error;
  return MAP_FAILED;
}

uintptr_t PageEnd(uintptr_t begin, size_t length) {
  return begin + RoundUp<size_t>(length, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

// Drops the mappings in the range once `unmap` has taken the pages away.
template <typename F>
auto Forgetting(void* address, size_t length, F&& unmap) {
  Process& process = Process::Get();
  std::vector<Mappings::Keep> dropped;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const bool aligned = begin % static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) == 0 && length != 0;
  if (aligned && !process.mappings().empty() && process.owns_memory()) {
    dropped = process.mappings().Cut(begin, PageEnd(begin, length));
  }
  const auto result = unmap();
  const int error = errno;
  dropped.clear();
  errno = error;
  return result;
}

void* MapNode(const Entry& entry, void* address, size_t length, int protection, int flags, int fd,
              off_t offset) {
  if (entry.dead) return Failed(EIO);
  kmodel::File::Mapping mapping;
  if (entry.file != nullptr) {
    mapping = entry.file->Map(length, protection, flags, static_cast<uint64_t>(offset));
  } else {
    // An exported object is mapped from its start.
    const uint64_t bytes = entry.exported->bytes();
    const auto from = static_cast<uint64_t>(offset);
    if (from > bytes || length > bytes - from) return Failed(EINVAL);
    mapping.offset = entry.exported->offset() + from;
    mapping.keep = entry.exported;
    fd = Process::Get().memory_fd();
  }
  if (mapping.error != 0) return Failed(-mapping.error);
  void* const at =
      Real().mmap(address, length, protection, flags, fd, static_cast<off_t>(mapping.offset));
  if (at == MAP_FAILED) return at;
  const auto begin = reinterpret_cast<uintptr_t>(at);
  Process::Get().mappings().Add(begin, PageEnd(begin, length), std::move(mapping.keep));
  return at;
}

void* Map(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  Process& process = Process::Get();
  const auto map = [&] {
    if (process.descriptors().MayBe(fd)) {
      if (const std::optional<Entry> entry = process.descriptors().Find(fd)) {
        return MapNode(*entry, address, length, protection, flags, fd, offset);
      }
    }
    return Real().mmap(address, length, protection, flags, fd, offset);
  };
  return (flags & MAP_FIXED) != 0 ? Forgetting(address, length, map) : map();
}

// The driver's mappings may move and shrink, never grow.
void* Remap(void* from, size_t old_size, size_t new_size, int flags, void* wanted) {
  Process& process = Process::Get();
  const auto remap = [&] { return Real().mremap(from, old_size, new_size, flags, wanted); };
  if (process.mappings().empty()) return remap();
  Mappings::Keep keep = process.mappings().Find(reinterpret_cast<uintptr_t>(from));
  if (keep == nullptr) return remap();
  if (new_size > old_size) return Failed(EFAULT);
  void* const at = remap();
  if (at == MAP_FAILED) return at;
  const auto begin = reinterpret_cast<uintptr_t>(from), moved = reinterpret_cast<uintptr_t>(at);
  const std::vector<Mappings::Keep> dropped =
      process.mappings().Cut(begin, PageEnd(begin, old_size));
  process.mappings().Add(moved, PageEnd(moved, new_size), std::move(keep));
  return at;
}

}  // namespace
}  // namespace npu::shim

NPU_INTERPOSE(void*, mmap, void* address, size_t length, int protection, int flags, int fd,
              off_t offset) {
  return npu::shim::Map(address, length, protection, flags, fd, offset);
}

NPU_INTERPOSE(void*, mmap64, void* address, size_t length, int protection, int flags, int fd,
              off_t offset) {
  return npu::shim::Map(address, length, protection, flags, fd, offset);
}

NPU_INTERPOSE(int, munmap, void* address, size_t length) {
  return npu::shim::Forgetting(address, length,
                               [=] { return npu::shim::Real().munmap(address, length); });
}

NPU_INTERPOSE(void*, mremap, void* from, size_t old_size, size_t new_size, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  return npu::shim::Remap(from, old_size, new_size, flags, wanted);
}
