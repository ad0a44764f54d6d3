// SPDX-License-Identifier: Apache-2.0
#include "src/doctor/system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "src/uapi/rocket.h"

namespace npu::doctor {
namespace {

constexpr int kReadAll = 3, kBufferSize = 10;  // actions of syslog(2)

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// kernel-interfaces A.1: the driver names itself; nothing else identifies a node.
void AskDriver(int fd, NodeAnswer* answer) {
  std::array<char, 64> name{};
  uapi::DrmVersion version;
  version.name = reinterpret_cast<uintptr_t>(name.data());
  version.name_len = name.size() - 1;
  int result = 0;
  do {
    result = ioctl(fd, static_cast<unsigned long>(uapi::kIoctlVersion), &version);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return;
  answer->driver = name.data();
  answer->major = version.major;
  answer->minor = version.minor;
  answer->patch = version.patch;
}

// A node of a tree: "rocket 1.1.0", or the name of an errno.
void ParseAnswer(std::string_view text, NodeAnswer* answer) {
  constexpr std::array<std::pair<std::string_view, int>, 5> kErrors = {{{"EACCES", EACCES},
                                                                        {"EPERM", EPERM},
                                                                        {"ENODEV", ENODEV},
                                                                        {"ENOMEM", ENOMEM},
                                                                        {"EINVAL", EINVAL}}};
  for (const auto& [word, error] : kErrors) {
    if (text == word) answer->error = error;
  }
  if (answer->error != 0) return;
  const std::vector<std::string> words = Split(text, ' ');
  if (words.empty()) return;
  answer->driver = words[0];
  if (words.size() < 2) return;
  const std::vector<std::string> numbers = Split(words[1], '.');
  int* const targets[] = {&answer->major, &answer->minor, &answer->patch};
  for (size_t i = 0; i < std::min<size_t>(numbers.size(), 3); ++i) {
    std::from_chars(numbers[i].data(), numbers[i].data() + numbers[i].size(), *targets[i]);
  }
}

std::string UserName(uid_t id) {
  const passwd* entry = getpwuid(id);
  return entry != nullptr ? entry->pw_name : fmt::format("{}", id);
}

std::string GroupName(gid_t id) {
  const group* entry = getgrgid(id);
  return entry != nullptr ? entry->gr_name : fmt::format("{}", id);
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks(" \t\r\n\0", 5);
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1));
}

std::string FindLine(std::string_view text, std::initializer_list<std::string_view> words) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    for (const std::string_view word : words) {
      if (line.find(word) != std::string_view::npos) return Trimmed(line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::optional<std::string> System::Read(std::string_view path, size_t limit) const {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(At(path).c_str(), "rbe"));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> block{};
  while (text.size() < limit) {
    const size_t got =
        std::fread(block.data(), 1, std::min(block.size(), limit - text.size()), file.get());
    text.append(block.data(), got);
    if (got == 0) break;
  }
  // A directory opens, but cannot be read.
  if (text.empty() && std::ferror(file.get()) != 0) return std::nullopt;
  return text;
}

std::string System::Line(std::string_view path) const {
  const std::optional<std::string> text = Read(path, 4096);
  if (!text) return {};
  return Trimmed(std::string_view(*text).substr(0, text->find('\n')));
}

std::optional<int64_t> System::Number(std::string_view path) const {
  const std::string line = Line(path);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || end == line.data()) return std::nullopt;
  return value;
}

bool System::Exists(std::string_view path) const {
  struct stat status {};
  return stat(At(path).c_str(), &status) == 0;
}

bool System::Writable(std::string_view path) const {
  if (live()) return access(At(path).c_str(), W_OK) == 0;
  struct stat status {};
  return stat(At(path).c_str(), &status) == 0 && (status.st_mode & 0222u) != 0;
}

std::string System::Owner(std::string_view path) const {
  struct stat status {};
  if (stat(At(path).c_str(), &status) != 0) return {};
  return fmt::format("{}:{} {:04o}", UserName(status.st_uid), GroupName(status.st_gid),
                     status.st_mode & 07777u);
}

std::optional<std::string> System::Link(std::string_view path) const {
  std::array<char, 1024> target{};
  const ssize_t size = readlink(At(path).c_str(), target.data(), target.size());
  if (size < 0) return std::nullopt;
  return std::string(target.data(), static_cast<size_t>(size));
}

std::vector<std::string> System::List(std::string_view directory) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDirectory> open(opendir(At(directory).c_str()));
  if (!open) return names;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

NodeAnswer System::Ask(std::string_view node) const {
  NodeAnswer answer;
  answer.path = node;
  if (!live()) {
    ParseAnswer(Line(node), &answer);
    return answer;
  }
  const Descriptor fd(open(At(node).c_str(), O_RDWR | O_CLOEXEC));
  if (fd.get() < 0) {
    answer.error = errno;
  } else {
    AskDriver(fd.get(), &answer);
  }
  return answer;
}

std::optional<std::string> System::KernelLog(std::string* error) const {
  if (!live()) {
    *error = "the tree has no /dev/kmsg";
    return Read("/dev/kmsg", size_t{8} << 20);
  }
  const int size = klogctl(kBufferSize, nullptr, 0);
  if (size > 0) {
    std::string text(static_cast<size_t>(size), '\0');
    const int got = klogctl(kReadAll, text.data(), size);
    if (got >= 0) {
      text.resize(static_cast<size_t>(got));
      return text;
    }
  }
  *error = fmt::format("reading the kernel log: {}", std::strerror(errno));
  return std::nullopt;
}

std::string System::Architecture() const {
  if (!live()) return Line("/proc/sys/kernel/arch");
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

std::string System::Release() const {
  if (!live()) return Line("/proc/sys/kernel/osrelease");
  utsname name{};
  return uname(&name) == 0 ? name.release : "";
}

}  // namespace npu::doctor
