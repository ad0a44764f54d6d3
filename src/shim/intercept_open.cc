// SPDX-License-Identifier: Apache-2.0
// open and its relatives: the node becomes a descriptor of the simulator, paths of the synthetic
// tree are redirected, everything else passes.
#include <fcntl.h>

#include <cstdarg>
#include <cstring>
#include <string>

#include "src/shim/process.h"
#include "src/shim/real.h"

namespace npu::shim {
namespace {

bool NeedsMode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// The status of a core is written when somebody looks at it.
void RefreshStatus(const char* path) {
  Process& process = Process::Get();
  const int core = process.tree().RuntimeStatusOf(path);
  if (core < 0) return;
  const auto index = static_cast<uint32_t>(core);
  process.tree().WriteRuntimeStatus(index, process.CoreActive(index));
}

// A file opened relative to a directory of the tree may be the one that stands for the node.
int ReplacePlaceholder(int fd, int flags) {
  struct stat status {};
  Process& process = Process::Get();
  if (fd < 0 || Real().fstat(fd, &status) != 0 ||
      !process.tree().IsNodeInode(status.st_dev, status.st_ino) || (flags & O_PATH) != 0) {
    return fd;
  }
  Real().close(fd);
  return process.OpenNode(flags);
}

int OpenAt(int directory, const char* path, int flags, mode_t mode) {
  Process& process = Process::Get();
  if (process.IsNodePath(path) && (flags & O_PATH) == 0) return process.OpenNode(flags);
  const std::string redirected = process.tree().Redirect(path);
  if (redirected.empty()) {
    const int fd = Real().openat(directory, path, flags, mode);
    return path != nullptr && path[0] != '/' ? ReplacePlaceholder(fd, flags) : fd;
  }
  RefreshStatus(path);
  return Real().openat(directory, redirected.c_str(), flags, mode);
}

}  // namespace
}  // namespace npu::shim

namespace {

// The mode argument exists only with some flags.
#define NPU_MODE(last)                                  \
  mode_t mode = 0;                                      \
  if (npu::shim::NeedsMode(last)) {                     \
    va_list arguments;                                  \
    va_start(arguments, last);                          \
    mode = static_cast<mode_t>(va_arg(arguments, int)); \
    va_end(arguments);                                  \
  }

}  // namespace

NPU_INTERPOSE(int, open, const char* path, int flags, ...) {
  NPU_MODE(flags)
  return npu::shim::OpenAt(AT_FDCWD, path, flags, mode);
}

NPU_INTERPOSE(int, open64, const char* path, int flags, ...) {
  NPU_MODE(flags)
  return npu::shim::OpenAt(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

NPU_INTERPOSE(int, openat, int directory, const char* path, int flags, ...) {
  NPU_MODE(flags)
  return npu::shim::OpenAt(directory, path, flags, mode);
}

NPU_INTERPOSE(int, openat64, int directory, const char* path, int flags, ...) {
  NPU_MODE(flags)
  return npu::shim::OpenAt(directory, path, flags | O_LARGEFILE, mode);
}

// What fortified programs call; they never pass a mode.
NPU_INTERPOSE(int, __open_2, const char* path, int flags) {
  return npu::shim::OpenAt(AT_FDCWD, path, flags, 0);
}

NPU_INTERPOSE(int, __open64_2, const char* path, int flags) {
  return npu::shim::OpenAt(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

NPU_INTERPOSE(int, __openat_2, int directory, const char* path, int flags) {
  return npu::shim::OpenAt(directory, path, flags, 0);
}

NPU_INTERPOSE(int, __openat64_2, int directory, const char* path, int flags) {
  return npu::shim::OpenAt(directory, path, flags | O_LARGEFILE, 0);
}

NPU_INTERPOSE(int, creat, const char* path, mode_t mode) {
  return npu::shim::OpenAt(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

NPU_INTERPOSE(int, creat64, const char* path, mode_t mode) {
  return npu::shim::OpenAt(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_LARGEFILE, mode);
}
