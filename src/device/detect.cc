// SPDX-License-Identifier: Apache-2.0
// Looking for a real NPU: accel nodes whose driver is `rocket` (kernel-interfaces A.1, E.3, F.1,
// F.2).
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "src/device/providers.h"

namespace npu::device {
namespace {

// What helps today: without a provider for boards no other remedy would end well.
constexpr std::string_view kUseSim =
    "this version cannot drive real hardware yet: set the option device=sim for the simulated NPU";

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

// struct drm_version of the kernel's interface (kernel-interfaces A.3).
struct DrmVersion {
  int32_t major, minor, patch, padding;
  uint64_t name_length;
  char* name;
  uint64_t date_length;
  char* date;
  uint64_t description_length;
  char* description;
};
static_assert(sizeof(void*) != 8 || sizeof(DrmVersion) == 64);

// The driver's name; empty if the node does not answer.
std::string DriverName(int fd) {
  char name[32] = {};
  DrmVersion version{};
  version.name = name;
  version.name_length = sizeof name - 1;
  const auto request = _IOWR('d', 0x00, DrmVersion);
  int result = 0;
  do {
    result = ioctl(fd, request, &version);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? std::string() : std::string(name);
}

std::vector<std::filesystem::path> Nodes(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> nodes;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename().string().starts_with("accel")) nodes.push_back(it->path());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Status NoDevice(std::string message) { return Status(ErrorCode::kNoDevice, std::move(message)); }

Status CannotOpen(const std::filesystem::path& node, int error) {
  const char* remedy = "check the kernel log";
  if (error == EACCES)
    remedy = "add the user to the group that owns the node (render) and log in again";
  if (error == EPERM) remedy = "pass the device into the container and add the group render to it";
  if (error == ENODEV) remedy = "the node is stale: load the module rocket again";
  return NoDevice(fmt::format("no usable NPU: {}: {} ({}); {}", node.string(), std::strerror(error),
                              remedy, kUseSim));
}

}  // namespace

Status FindRealDevice(const std::filesystem::path& dev_accel) {
  const std::vector<std::filesystem::path> nodes = Nodes(dev_accel);
  if (nodes.empty()) {
    return NoDevice(
        fmt::format("no NPU: {}: {} (the driver rocket of Linux 6.18 and later makes it); {}",
                    (dev_accel / "accel0").string(), std::strerror(ENOENT), kUseSim));
  }
  std::string others;
  for (const std::filesystem::path& node : nodes) {
    const Descriptor fd(open(node.c_str(), O_RDWR | O_CLOEXEC));
    if (fd.get() < 0) return CannotOpen(node, errno);
    const std::string driver = DriverName(fd.get());
    if (driver == "rocket") {
      return NoDevice(fmt::format("{} is a rocket NPU, but {}", node.string(), kUseSim));
    }
    others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", node.string(),
                          driver.empty() ? "no DRM driver" : driver);
  }
  return NoDevice(
      fmt::format("no NPU: none of {} belongs to the driver rocket; {}", others, kUseSim));
}

}  // namespace npu::device
