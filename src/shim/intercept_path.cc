// SPDX-License-Identifier: Apache-2.0
// Everything else that takes a path: probing, links, directories, and stdio, which opens files
// without the symbol `open`.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "src/shim/process.h"
#include "src/shim/real.h"

namespace npu::shim {
namespace {

NodeTree& Tree() { return Process::Get().tree(); }

// Calls f with the path to use.
template <typename F>
auto With(const char* path, F&& f) {
  const std::string redirected = Tree().Redirect(path);
  return f(redirected.empty() ? path : redirected.c_str());
}

ssize_t ReadLink(int directory, const char* path, char* buffer, size_t size) {
  return With(path, [&](const char* p) { return Real().readlinkat(directory, p, buffer, size); });
}

// The name the client would see: without the temporary directory in front.
char* RealPath(const char* path, char* resolved) {
  const std::string redirected = Tree().Redirect(path);
  if (redirected.empty()) return Real().realpath(path, resolved);
  char* const found = Real().realpath(redirected.c_str(), resolved);
  if (found == nullptr) return nullptr;
  const std::string original = Tree().Original(found);
  std::memcpy(found, original.c_str(), original.size() + 1);  // never longer than what is there
  return found;
}

// A pattern is redirected if the part before its first wildcard lies in the tree.
int Glob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* found) {
  if (pattern == nullptr) return Real().glob(pattern, flags, on_error, found);
  const std::string_view text = pattern;
  const size_t wildcard = std::min(text.find_first_of("*?["), text.size());
  const size_t slash = text.rfind('/', wildcard == 0 ? 0 : wildcard - 1);
  if (slash == std::string_view::npos) return Real().glob(pattern, flags, on_error, found);
  const std::string directory(text.substr(0, slash));
  const std::string redirected = Tree().Redirect(directory.c_str());
  if (redirected.empty()) return Real().glob(pattern, flags, on_error, found);
  const size_t before = (flags & GLOB_APPEND) != 0 ? found->gl_pathc : 0;
  const std::string full = redirected + std::string(text.substr(slash));
  const int result = Real().glob(full.c_str(), flags, on_error, found);
  if (result != 0) return result;
  const size_t offset = (flags & GLOB_DOOFFS) != 0 ? found->gl_offs : 0;
  for (size_t i = before; i < found->gl_pathc; ++i) {
    char* const path = found->gl_pathv[offset + i];
    const std::string original = Tree().Original(path);
    std::memcpy(path, original.c_str(), original.size() + 1);
  }
  return result;
}

// Flags of open() for a mode of fopen().
int FlagsOf(const char* mode) {
  const bool both = std::strchr(mode, '+') != nullptr;
  int flags = mode[0] == 'r' ? (both ? O_RDWR : O_RDONLY) : (both ? O_RDWR : O_WRONLY);
  if (std::strchr(mode, 'e') != nullptr) flags |= O_CLOEXEC;
  return flags;
}

FILE* OpenStream(const char* path, const char* mode) {
  Process& process = Process::Get();
  if (process.IsNodePath(path)) {
    const int fd = process.OpenNode(FlagsOf(mode));
    return fd < 0 ? nullptr : fdopen(fd, mode);
  }
  if (const int core = Tree().RuntimeStatusOf(path == nullptr ? "" : path); core >= 0) {
    const auto index = static_cast<uint32_t>(core);
    Tree().WriteRuntimeStatus(index, process.CoreActive(index));
  }
  return With(path, [&](const char* p) { return Real().fopen(p, mode); });
}

FILE* ReopenStream(const char* path, const char* mode, FILE* stream) {
  return With(path, [&](const char* p) { return Real().freopen(p, mode, stream); });
}

using Filter = int (*)(const dirent*);
using Order = int (*)(const dirent**, const dirent**);

int ScanDirectory(const char* path, dirent*** names, Filter filter, Order order) {
  return With(path, [&](const char* p) { return Real().scandir(p, names, filter, order); });
}

}  // namespace
}  // namespace npu::shim

using npu::shim::Real;
using npu::shim::With;

NPU_INTERPOSE(int, access, const char* path, int mode) {
  return With(path, [=](const char* p) { return Real().access(p, mode); });
}

NPU_INTERPOSE(int, euidaccess, const char* path, int mode) {
  return With(path, [=](const char* p) { return Real().euidaccess(p, mode); });
}

NPU_INTERPOSE(int, eaccess, const char* path, int mode) {
  return With(path, [=](const char* p) { return Real().euidaccess(p, mode); });
}

NPU_INTERPOSE(int, faccessat, int directory, const char* path, int mode, int flags) {
  return With(path, [=](const char* p) { return Real().faccessat(directory, p, mode, flags); });
}

NPU_INTERPOSE(ssize_t, readlink, const char* path, char* buffer, size_t size) {
  return npu::shim::ReadLink(AT_FDCWD, path, buffer, size);
}

NPU_INTERPOSE(ssize_t, readlinkat, int directory, const char* path, char* buffer, size_t size) {
  return npu::shim::ReadLink(directory, path, buffer, size);
}

NPU_INTERPOSE(ssize_t, __readlink_chk, const char* path, char* buffer, size_t size, size_t) {
  return npu::shim::ReadLink(AT_FDCWD, path, buffer, size);
}

NPU_INTERPOSE(char*, realpath, const char* path, char* resolved) {
  return npu::shim::RealPath(path, resolved);
}

NPU_INTERPOSE(char*, __realpath_chk, const char* path, char* resolved, size_t) {
  return npu::shim::RealPath(path, resolved);
}

NPU_INTERPOSE(char*, canonicalize_file_name, const char* path) {
  return npu::shim::RealPath(path, nullptr);
}

NPU_INTERPOSE(DIR*, opendir, const char* path) {
  return With(path, [](const char* p) { return Real().opendir(p); });
}

NPU_INTERPOSE(int, scandir, const char* path, dirent*** names, npu::shim::Filter filter,
              npu::shim::Order order) {
  return npu::shim::ScanDirectory(path, names, filter, order);
}

NPU_INTERPOSE(int, scandir64, const char* path, dirent*** names, npu::shim::Filter filter,
              npu::shim::Order order) {
  return npu::shim::ScanDirectory(path, names, filter, order);
}

NPU_INTERPOSE(int, glob, const char* pattern, int flags, int (*on_error)(const char*, int),
              glob_t* found) {
  return npu::shim::Glob(pattern, flags, on_error, found);
}

NPU_INTERPOSE(int, glob64, const char* pattern, int flags, int (*on_error)(const char*, int),
              glob_t* found) {
  return npu::shim::Glob(pattern, flags, on_error, found);
}

NPU_INTERPOSE(FILE*, fopen, const char* path, const char* mode) {
  return npu::shim::OpenStream(path, mode);
}

NPU_INTERPOSE(FILE*, fopen64, const char* path, const char* mode) {
  return npu::shim::OpenStream(path, mode);
}

NPU_INTERPOSE(FILE*, freopen, const char* path, const char* mode, FILE* stream) {
  return npu::shim::ReopenStream(path, mode, stream);
}

NPU_INTERPOSE(FILE*, freopen64, const char* path, const char* mode, FILE* stream) {
  return npu::shim::ReopenStream(path, mode, stream);
}
