// SPDX-License-Identifier: Apache-2.0
#include "src/shim/real.h"

#include <dlfcn.h>

namespace npu::shim {
namespace {

template <typename F>
void Resolve(F** function, const char* name) {
  *function = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

RealCalls ResolveAll() {
  RealCalls real;
  Resolve(&real.openat, "openat");
  Resolve(&real.ioctl, "ioctl");
  Resolve(&real.close, "close");
  Resolve(&real.close_range, "close_range");
  Resolve(&real.closefrom, "closefrom");
  Resolve(&real.dup, "dup");
  Resolve(&real.dup2, "dup2");
  Resolve(&real.dup3, "dup3");
  Resolve(&real.fcntl, "fcntl");
  Resolve(&real.mmap, "mmap");
  Resolve(&real.munmap, "munmap");
  Resolve(&real.mremap, "mremap");
  Resolve(&real.stat, "stat");
  Resolve(&real.lstat, "lstat");
  Resolve(&real.fstat, "fstat");
  Resolve(&real.fstatat, "fstatat");
  Resolve(&real.statx, "statx");
  Resolve(&real.access, "access");
  Resolve(&real.euidaccess, "euidaccess");
  Resolve(&real.faccessat, "faccessat");
  Resolve(&real.readlinkat, "readlinkat");
  Resolve(&real.realpath, "realpath");
  Resolve(&real.opendir, "opendir");
  Resolve(&real.scandir, "scandir");
  Resolve(&real.glob, "glob");
  Resolve(&real.fopen, "fopen");
  Resolve(&real.freopen, "freopen");
  return real;
}

}  // namespace

const RealCalls& Real() {
  static const RealCalls real = ResolveAll();
  return real;
}

}  // namespace npu::shim
