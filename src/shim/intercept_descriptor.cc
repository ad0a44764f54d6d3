// SPDX-License-Identifier: Apache-2.0
// ioctl, and what makes, copies and closes descriptors.
#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdarg>
#include <vector>

#include "src/shim/process.h"
#include "src/shim/real.h"

namespace npu::shim {
namespace {

int Ioctl(int fd, unsigned long request, void* argument) {
  Process& process = Process::Get();
  if (process.descriptors().MayBe(fd)) {
    if (const std::optional<Entry> entry = process.descriptors().Find(fd)) {
      return process.Ioctl(*entry, request, argument);
    }
  }
  return Real().ioctl(fd, request, argument);
}

// Closes with `close_them`, then drops what the numbers stood for: an open file's teardown may wait
// for its jobs.
template <typename F>
int CloseRange(unsigned first, unsigned last, F&& close_them) {
  Process& process = Process::Get();
  std::vector<Entry> dropped;
  if (process.owns_memory()) dropped = process.descriptors().Remove(first, last);
  const int result = close_them();
  const int error = errno;
  dropped.clear();
  errno = error;
  return result;
}

int Close(int fd) {
  if (!Process::Get().descriptors().MayBe(fd)) return Real().close(fd);
  return CloseRange(static_cast<unsigned>(fd), static_cast<unsigned>(fd),
                    [fd] { return Real().close(fd); });
}

// After a duplication that succeeded.
int Duplicated(int from, int to) {
  Process& process = Process::Get();
  if (to >= 0 && from != to && process.descriptors().MayBe(from) && process.owns_memory()) {
    process.descriptors().Duplicate(from, to);
  }
  return to;
}

// dup2 closes the target silently.
template <typename F>
int DuplicateTo(int from, int to, F&& duplicate) {
  Process& process = Process::Get();
  std::vector<Entry> dropped;
  const int result = duplicate();
  const int error = errno;
  if (result >= 0 && from != to && process.descriptors().MayBe(to) && process.owns_memory()) {
    dropped = process.descriptors().Remove(static_cast<unsigned>(to), static_cast<unsigned>(to));
  }
  Duplicated(from, result);
  dropped.clear();
  errno = error;
  return result;
}

int Fcntl(int fd, int command, void* argument) {
  const int result = Real().fcntl(fd, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) Duplicated(fd, result);
  return result;
}

}  // namespace
}  // namespace npu::shim

NPU_INTERPOSE(int, ioctl, int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return npu::shim::Ioctl(fd, request, argument);
}

NPU_INTERPOSE(int, close, int fd) { return npu::shim::Close(fd); }

NPU_INTERPOSE(int, close_range, unsigned first, unsigned last, int flags) {
  const auto close_them = [=] { return npu::shim::Real().close_range(first, last, flags); };
  constexpr int kOnlyMark = 4;  // CLOSE_RANGE_CLOEXEC: nothing is closed now
  if ((flags & kOnlyMark) != 0) return close_them();
  return npu::shim::CloseRange(first, last, close_them);
}

NPU_INTERPOSE(void, closefrom, int first) {
  npu::shim::CloseRange(first < 0 ? 0u : static_cast<unsigned>(first), ~0u, [=] {
    npu::shim::Real().closefrom(first);
    return 0;
  });
}

NPU_INTERPOSE(int, dup, int fd) { return npu::shim::Duplicated(fd, npu::shim::Real().dup(fd)); }

NPU_INTERPOSE(int, dup2, int from, int to) {
  return npu::shim::DuplicateTo(from, to, [=] { return npu::shim::Real().dup2(from, to); });
}

NPU_INTERPOSE(int, dup3, int from, int to, int flags) {
  return npu::shim::DuplicateTo(from, to, [=] { return npu::shim::Real().dup3(from, to, flags); });
}

NPU_INTERPOSE(int, fcntl, int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return npu::shim::Fcntl(fd, command, argument);
}

NPU_INTERPOSE(int, fcntl64, int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return npu::shim::Fcntl(fd, command, argument);
}
