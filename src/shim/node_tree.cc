// SPDX-License-Identifier: Apache-2.0
#include "src/shim/node_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/chip/profile.h"
#include "src/kmodel/platform.h"
#include "src/shim/descriptors.h"
#include "src/shim/real.h"
#include "src/uapi/rocket.h"

namespace npu::shim {
namespace {

constexpr std::string_view kDriver = "/sys/bus/platform/drivers/rocket";
constexpr std::string_view kModule = "/sys/module/rocket";
constexpr std::string_view kClass = "/sys/class/accel";
constexpr std::string_view kDeviceTree = "/proc/device-tree";
constexpr std::string_view kCharDevice = "/sys/dev/char/261:0";
constexpr std::string_view kDebug = "/sys/kernel/debug/accel";
constexpr std::string_view kFirmwareTree = "/sys/firmware/devicetree/base";

bool IsBelow(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// The directory of a path: "/dev/accel" of "/dev/accel/accel0".
std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? path : path.substr(0, slash);
}

}  // namespace

std::string NodeTree::Redirect(const char* text) {
  if (text == nullptr || text[0] != '/') return {};
  const std::string_view path = text;
  bool ours = path == config_.node;
  // A node outside /dev/accel is alone: its directory stays the system's.
  ours = ours || IsBelow(path, "/dev/accel");
  for (const std::string_view directory :
       {kDriver, kModule, kClass, kDeviceTree, kCharDevice, kDebug, kFirmwareTree}) {
    ours = ours || IsBelow(path, directory);
  }
  if (!ours || !Make()) return {};
  return root_ + std::string(path);
}

std::string NodeTree::Original(std::string_view path) const {
  if (!made_ || !path.starts_with(root_)) return std::string(path);
  return std::string(path.substr(root_.size()));
}

bool NodeTree::IsNodeFile(std::string_view path) const {
  return made_ && path == root_ + config_.node;
}

bool NodeTree::IsNodeInode(uint64_t device, uint64_t inode) const {
  return inode != 0 && inode == node_inode_ && device == node_device_;
}

std::string NodeTree::CoreDirectory(uint32_t core) const {
  const kmodel::Platform* const platform = kmodel::FindPlatform(config_.npu.chip);
  return std::string(kDriver) + "/" + (platform == nullptr ? "" : CoreName(*platform, core));
}

uint32_t NodeTree::AutosuspendMs(uint32_t core) {
  constexpr uint32_t kDefault = 50;
  if (!Make()) return kDefault;
  const std::string path = root_ + CoreDirectory(core) + "/power/autosuspend_delay_ms";
  const int fd = Real().openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kDefault;
  std::array<char, 16> text{};
  const ssize_t got = read(fd, text.data(), text.size() - 1);
  Real().close(fd);
  return got <= 0 ? kDefault : static_cast<uint32_t>(std::strtoul(text.data(), nullptr, 10));
}

int NodeTree::RuntimeStatusOf(std::string_view path) const {
  if (!path.ends_with("/power/runtime_status")) return -1;
  for (uint32_t core = 0; core < 8; ++core) {
    if (path == CoreDirectory(core) + "/power/runtime_status") return static_cast<int>(core);
  }
  return -1;
}

void NodeTree::WriteRuntimeStatus(uint32_t core, bool active) {
  if (Make())
    Write(CoreDirectory(core) + "/power/runtime_status", active ? "active\n" : "suspended\n");
}

bool NodeTree::Make() {
  if (made_) return true;
  const SignalSafeLock lock(&mutex_);
  if (made_) return true;
  const int before = errno;
  std::error_code error;
  std::string name = std::filesystem::temp_directory_path(error).string() + "/rocket-node-XXXXXX";
  const bool ok = !error && mkdtemp(name.data()) != nullptr;
  if (ok) {
    root_ = name;
    Populate();
    made_ = true;
  }
  errno = before;
  return ok;
}

void NodeTree::Write(const std::string& path, std::string_view content) {
  const std::string full = root_ + path;
  std::error_code ignored;
  std::filesystem::create_directories(std::string(ParentOf(full)), ignored);
  const int fd =
      Real().openat(AT_FDCWD, full.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, content.data(), content.size());
  Real().close(fd);
}

void NodeTree::Populate() {
  Write(config_.node, "");
  struct stat status {};
  if (Real().stat((root_ + config_.node).c_str(), &status) == 0) {
    node_device_ = status.st_dev;
    node_inode_ = status.st_ino;
  }
  PopulateCores();
  PopulateClass();
  const kmodel::Platform* const platform = kmodel::FindPlatform(config_.npu.chip);
  const std::string soc(platform == nullptr ? "rockchip,unknown" : platform->soc_compatible);
  for (const std::string_view tree : {kDeviceTree, kFirmwareTree}) {
    const std::string base(tree);
    // NUL-terminated strings, as device-tree properties are.
    Write(base + "/compatible", std::string("rocket-npu,simulated") + '\0' + soc + '\0');
    Write(base + "/model", std::string("Simulated NPU board") + '\0');
  }
}

void NodeTree::PopulateCores() {
  const std::string driver(kDriver), module(kModule);
  for (const char* file : {"/bind", "/unbind", "/uevent"}) Write(driver + file, "");
  Write(driver + "/module/initstate", "live\n");
  Write(module + "/initstate", "live\n");
  if (config_.npu.version.AtLeast(1, 1)) {
    Write(module + "/parameters/rocket_batch_submit", config_.npu.batch_submit ? "1\n" : "0\n");
  }
  const kmodel::Platform* const platform = kmodel::FindPlatform(config_.npu.chip);
  const chip::Profile* const profile = chip::FindChip(config_.npu.chip);
  if (platform == nullptr || profile == nullptr) return;
  const uint32_t cores = config_.npu.cores == 0 ? profile->cores : config_.npu.cores;
  for (uint32_t core = 0; core < cores; ++core) {
    const std::string directory = CoreDirectory(core);
    const std::string compatible(platform->core_compatible);
    Write(directory + "/of_node/compatible", compatible + '\0');
    Write(directory + "/of_node/status", std::string("okay") + '\0');
    Write(directory + "/uevent",
          "DRIVER=rocket\nOF_COMPATIBLE_0=" + compatible + "\nOF_COMPATIBLE_N=1\n");
    Write(directory + "/power/autosuspend_delay_ms", "50\n");
    Write(directory + "/power/runtime_status", "suspended\n");
    Write(directory + "/power/control", "auto\n");
  }
}

void NodeTree::PopulateClass() {
  const std::string number = fmt::format("{}:0\n", uapi::kAccelMajor);
  const std::string event = fmt::format(
      "MAJOR={}\nMINOR=0\nDEVNAME=accel/accel0\nDEVTYPE=accel_minor\n", uapi::kAccelMajor);
  for (const std::string& directory : {std::string(kClass) + "/accel0", std::string(kCharDevice)}) {
    Write(directory + "/dev", number);
    Write(directory + "/uevent", event);
    Write(directory + "/device/uevent", "DRIVER=rknn\nMODALIAS=platform:rknn\n");
  }
  Write(std::string(kDebug) + "/0/name", "rocket dev=rknn unique=rknn\n");
}

void NodeTree::Remove() {
  const SignalSafeLock lock(&mutex_);
  if (!made_) return;
  made_ = false;
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

void NodeTree::Disown() {
  made_ = false;
  node_inode_ = 0;
}

}  // namespace npu::shim
