// SPDX-License-Identifier: Apache-2.0
// The stat family: redirected paths, and the disguise of our memory file as a character device.
// Programs linked against old C libraries call the __xstat names.
#include <fcntl.h>
#include <sys/sysmacros.h>

#include <string>

#include "src/shim/process.h"
#include "src/shim/real.h"
#include "src/uapi/rocket.h"

namespace npu::shim {
namespace {

// What a successful stat says of one of ours.
int Disguised(int result, struct stat* status) {
  Process& process = Process::Get();
  if (result == 0 && (process.IsMemoryFile(status->st_dev, status->st_ino) ||
                      process.tree().IsNodeInode(status->st_dev, status->st_ino))) {
    process.Disguise(status);
  }
  return result;
}

// The path to look at: the redirected one, kept in *storage, or the client's own.
const char* Seen(const char* path, std::string* storage) {
  *storage = Process::Get().tree().Redirect(path);
  return storage->empty() ? path : storage->c_str();
}

int Stat(const char* path, struct stat* status) {
  std::string storage;
  return Disguised(Real().stat(Seen(path, &storage), status), status);
}

int Lstat(const char* path, struct stat* status) {
  std::string storage;
  return Disguised(Real().lstat(Seen(path, &storage), status), status);
}

int Fstat(int fd, struct stat* status) { return Disguised(Real().fstat(fd, status), status); }

int FstatAt(int directory, const char* path, struct stat* status, int flags) {
  std::string storage;
  return Disguised(Real().fstatat(directory, Seen(path, &storage), status, flags), status);
}

int Statx(int directory, const char* path, int flags, unsigned mask, struct statx* status) {
  std::string storage;
  const int result = Real().statx(directory, Seen(path, &storage), flags, mask, status);
  if (result != 0) return result;
  Process& process = Process::Get();
  const uint64_t device = makedev(status->stx_dev_major, status->stx_dev_minor);
  if (!process.IsMemoryFile(device, status->stx_ino) &&
      !process.tree().IsNodeInode(device, status->stx_ino)) {
    return result;
  }
  struct stat plain {};
  process.Disguise(&plain);
  status->stx_mode = static_cast<uint16_t>(plain.st_mode);
  status->stx_rdev_major = major(plain.st_rdev);
  status->stx_rdev_minor = minor(plain.st_rdev);
  status->stx_size = 0;
  status->stx_blocks = 0;
  return result;
}

}  // namespace
}  // namespace npu::shim

using npu::shim::Fstat;
using npu::shim::FstatAt;
using npu::shim::Lstat;
using npu::shim::Stat;

NPU_INTERPOSE(int, stat, const char* path, struct stat* status) { return Stat(path, status); }
NPU_INTERPOSE(int, stat64, const char* path, struct stat* status) { return Stat(path, status); }
NPU_INTERPOSE(int, lstat, const char* path, struct stat* status) { return Lstat(path, status); }
NPU_INTERPOSE(int, lstat64, const char* path, struct stat* status) { return Lstat(path, status); }
NPU_INTERPOSE(int, fstat, int fd, struct stat* status) { return Fstat(fd, status); }
NPU_INTERPOSE(int, fstat64, int fd, struct stat* status) { return Fstat(fd, status); }

NPU_INTERPOSE(int, fstatat, int directory, const char* path, struct stat* status, int flags) {
  return FstatAt(directory, path, status, flags);
}

NPU_INTERPOSE(int, fstatat64, int directory, const char* path, struct stat* status, int flags) {
  return FstatAt(directory, path, status, flags);
}

NPU_INTERPOSE(int, statx, int directory, const char* path, int flags, unsigned mask,
              struct statx* status) {
  return npu::shim::Statx(directory, path, flags, mask, status);
}

NPU_INTERPOSE(int, __xstat, int, const char* path, struct stat* status) {
  return Stat(path, status);
}
NPU_INTERPOSE(int, __xstat64, int, const char* path, struct stat* status) {
  return Stat(path, status);
}
NPU_INTERPOSE(int, __lxstat, int, const char* path, struct stat* status) {
  return Lstat(path, status);
}
NPU_INTERPOSE(int, __lxstat64, int, const char* path, struct stat* status) {
  return Lstat(path, status);
}
NPU_INTERPOSE(int, __fxstat, int, int fd, struct stat* status) { return Fstat(fd, status); }
NPU_INTERPOSE(int, __fxstat64, int, int fd, struct stat* status) { return Fstat(fd, status); }

NPU_INTERPOSE(int, __fxstatat, int, int directory, const char* path, struct stat* status,
              int flags) {
  return FstatAt(directory, path, status, flags);
}

NPU_INTERPOSE(int, __fxstatat64, int, int directory, const char* path, struct stat* status,
              int flags) {
  return FstatAt(directory, path, status, flags);
}
