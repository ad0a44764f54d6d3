// SPDX-License-Identifier: Apache-2.0
// The functions behind ours, and the macro that defines ours. A function is defined under a name of
// its own with the C library's name as its symbol: so the prototypes of the headers, their
// exception specifications and their large-file renaming do not get in the way.
#ifndef SRC_SHIM_REAL_H_
#define SRC_SHIM_REAL_H_

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdio>

#define NPU_INTERPOSE(result, name, ...)            \
  extern "C" __attribute__((visibility("default"))) \
  result shim_##name(__VA_ARGS__) __asm__(#name);   \
  extern "C" result shim_##name(__VA_ARGS__)

namespace npu::shim {

// The next definitions after ours in the search order: the C library's, or those of a sanitizer.
struct RealCalls {
  int (*openat)(int, const char*, int, ...) = nullptr;
  int (*ioctl)(int, unsigned long, ...) = nullptr;
  int (*close)(int) = nullptr;
  int (*close_range)(unsigned, unsigned, int) = nullptr;
  void (*closefrom)(int) = nullptr;
  int (*dup)(int) = nullptr;
  int (*dup3)(int, int, int) = nullptr;
  int (*dup2)(int, int) = nullptr;
  int (*fcntl)(int, int, ...) = nullptr;
  void* (*mmap)(void*, size_t, int, int, int, off_t) = nullptr;
  int (*munmap)(void*, size_t) = nullptr;
  void* (*mremap)(void*, size_t, size_t, int, ...) = nullptr;
  int (*stat)(const char*, struct stat*) = nullptr;
  int (*lstat)(const char*, struct stat*) = nullptr;
  int (*fstat)(int, struct stat*) = nullptr;
  int (*fstatat)(int, const char*, struct stat*, int) = nullptr;
  int (*statx)(int, const char*, int, unsigned, struct statx*) = nullptr;
  int (*access)(const char*, int) = nullptr;
  int (*euidaccess)(const char*, int) = nullptr;
  int (*faccessat)(int, const char*, int, int) = nullptr;
  ssize_t (*readlinkat)(int, const char*, char*, size_t) = nullptr;
  char* (*realpath)(const char*, char*) = nullptr;
  DIR* (*opendir)(const char*) = nullptr;
  int (*scandir)(const char*, dirent***, int (*)(const dirent*),
                 int (*)(const dirent**, const dirent**)) = nullptr;
  int (*glob)(const char*, int, int (*)(const char*, int), glob_t*) = nullptr;
  FILE* (*fopen)(const char*, const char*) = nullptr;
  FILE* (*freopen)(const char*, const char*, FILE*) = nullptr;
};

// Resolved once, at the first call (the library's constructor, unless something is faster).
const RealCalls& Real();

}  // namespace npu::shim

#endif  // SRC_SHIM_REAL_H_
