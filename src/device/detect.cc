// SPDX-License-Identifier: Apache-2.0
#include "src/device/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace npu::device {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUseSim = "device=sim runs the simulated NPU";

// Names that a chip of the family has in compatible strings, with any letters behind them, and the
// unit address of its first cores (E.1).
struct Family {
  std::string_view token;
  std::string_view family;
};
constexpr std::array kTokens = {
    Family{"rk3588", "rk3588"},   Family{"rk3583", "rk3588"}, Family{"rk3582", "rk3588"},
    Family{"rk3576", "rk3576"},   Family{"rk3568", "rk3568"}, Family{"rk3566", "rk3568"},
    Family{"rk3562", "rk3562"},   Family{"rv1106", "rv1106"}, Family{"rv1103", "rv1106"},
    Family{"rv1126b", "rv1126b"},
};
constexpr std::array kAddresses = {
    Family{"fdab", "rk3588"}, Family{"fdac", "rk3588"}, Family{"fdad", "rk3588"},
    Family{"2770", "rk3576"}, Family{"fde4", "rk3568"}, Family{"ff30", "rk3562"},
};

std::vector<fs::path> Entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// "rockchip,rk3588s-rknn-core" -> rk3588.
std::optional<std::string_view> FamilyOf(std::string_view compatible) {
  compatible.remove_prefix(std::min(compatible.size(), compatible.find(',') + 1));
  compatible = compatible.substr(0, compatible.find('-'));
  for (const Family& known : kTokens) {
    if (!compatible.starts_with(known.token)) continue;
    const std::string_view rest = compatible.substr(known.token.size());
    if (rest.empty() || std::isalpha(static_cast<unsigned char>(rest[0]))) return known.family;
  }
  return std::nullopt;
}

// The first family named by the pieces of `text` between `separator`s that begin with `prefix` up
// to '='; all pieces where it is empty.
std::optional<std::string_view> FamilyIn(std::string_view text, char separator,
                                         std::string_view prefix) {
  while (!text.empty()) {
    std::string_view piece = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
    if (!prefix.empty()) {
      const size_t equals = piece.find('=');
      if (!piece.starts_with(prefix) || equals == std::string_view::npos) continue;
      piece.remove_prefix(equals + 1);
    }
    if (const auto family = FamilyOf(piece)) return family;
  }
  return std::nullopt;
}

// What librocket_node.so puts into its device tree before the chip's name.
constexpr std::string_view kSimulatedBoard = "rocket-npu,simulated";

std::optional<std::string_view> FamilyAt(std::string_view unit) {
  for (const Family& known : kAddresses) {
    if (unit.starts_with(known.token)) return known.family;
  }
  return std::nullopt;
}

Status NoDevice(std::string message) { return Status(ErrorCode::kNoDevice, std::move(message)); }

Status NoNode(const fs::path& root, const fs::path& directory) {
  std::error_code ignored;
  const bool vendor = fs::exists(root / "sys/bus/platform/drivers/RKNPU", ignored);
  return NoDevice(fmt::format(
      "no NPU: {}: {}; {}; {}", (directory / "accel0").string(), ErrnoText(ENOENT),
      vendor ? "this kernel has the vendor's driver (RKNPU), which this version does not drive: "
               "boot a mainline kernel of 6.18 or later"
             : "the driver rocket of Linux 6.18 and later makes it: load it with modprobe rocket, "
               "and enable the NPU in the device tree",
      kUseSim));
}

}  // namespace

Result<std::unique_ptr<RocketFile>> FindRocketNode(const std::shared_ptr<RocketSys>& sys,
                                                   const fs::path& root, const std::string& node) {
  const fs::path directory = root / "dev/accel";
  std::vector<fs::path> nodes;
  if (!node.empty()) {
    nodes.emplace_back(node);
  } else {
    for (const fs::path& entry : Entries(directory)) {
      if (entry.filename().string().starts_with("accel")) nodes.push_back(entry);
    }
  }
  if (nodes.empty()) return NoNode(root, directory);
  std::string others;
  for (const fs::path& path : nodes) {
    Result<std::unique_ptr<RocketFile>> file = RocketFile::Open(sys, path.string());
    if (file.ok() && (*file)->driver() == uapi::kRocketName) return file;
    others += others.empty() ? "" : "; ";
    if (!file.ok()) {
      others += file.status().message();
    } else {
      const std::string& driver = (*file)->driver();
      others += fmt::format("{} belongs to {}", path.string(),
                            driver.empty() ? "no DRM driver" : "the driver " + driver);
    }
  }
  return NoDevice(fmt::format("no usable NPU of the driver rocket: {}; {}", others, kUseSim));
}

Result<DetectedChip> DetectChip(const fs::path& root) {
  DetectedChip found;
  const fs::path tree = root / "proc/device-tree/compatible";
  const std::string compatible = ReadText(tree);
  found.simulated = compatible.starts_with(kSimulatedBoard);
  for (const fs::path& core : Entries(root / "sys/bus/platform/drivers/rocket")) {
    std::error_code ignored;
    if (!fs::exists(core / "power", ignored)) continue;  // bind, module, uevent ...
    ++found.cores;
    if (!found.name.empty()) continue;
    // uevent first: of_node leads into /sys/firmware, which containers mask.
    auto family = FamilyIn(ReadText(core / "uevent"), '\n', "OF_COMPATIBLE_");
    if (!family) family = FamilyAt(core.filename().string());
    if (!family) continue;
    found.name = *family;
    found.evidence = core.string();
  }
  if (!found.name.empty()) return found;
  if (const auto family = FamilyIn(compatible, '\0', "")) {
    found.name = *family;
    found.evidence = tree.string();
    return found;
  }
  std::string shown = compatible;
  std::replace(shown.begin(), shown.end(), '\0', ' ');
  return NoDevice(fmt::format(
      "the NPU's chip is unknown: {}; nothing is submitted to an unknown chip. Name it with the "
      "option chip (in a container keep /sys visible)",
      shown.empty() ? "neither the cores of the driver rocket in sysfs nor the device tree name it"
                    : "the device tree says " + shown));
}

bool ChainsAllowed(const fs::path& root) {
  const std::string text = ReadText(root / "sys/module/rocket/parameters/rocket_batch_submit");
  return text.empty() || (text[0] != '0' && text[0] != 'N');
}

}  // namespace npu::device
