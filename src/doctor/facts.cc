// SPDX-License-Identifier: Apache-2.0
#include "src/doctor/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/uapi/rocket.h"

namespace npu::doctor {
namespace {

constexpr std::string_view kRocketDriver = "/sys/bus/platform/drivers/rocket";
constexpr std::string_view kVendorDriver = "/sys/bus/platform/drivers/RKNPU";
constexpr std::string_view kVendorName = "rknpu";
constexpr std::string_view kVendorNode = "/dev/rknpu";
constexpr std::string_view kTree = "/proc/device-tree";

// kernel-interfaces E.1. The first prefix that matches decides: fused-down parts come first.
constexpr ChipRow kChips[] = {
    {.prefix = "rk3582",
     .name = "RK3582",
     .unit_address = {},
     .cores = 1,
     .mainline = true,
     .slow_clock = true},
    {.prefix = "rk3583",
     .name = "RK3583",
     .unit_address = {},
     .cores = 2,
     .mainline = true,
     .slow_clock = true},
    {.prefix = "rk3588",
     .name = "RK3588",
     .unit_address = "fda",
     .cores = 3,
     .mainline = true,
     .slow_clock = true},
    {.prefix = "rk3576",
     .name = "RK3576",
     .unit_address = "2770",
     .cores = 2,
     .patched_mainline = true,
     .one_core_only = true,
     .power_procedure = true,
     .power_domains = 2},
    {.prefix = "rk3568", .name = "RK3568", .unit_address = "fde4", .max_memory_gib = 4},
    {.prefix = "rk3566", .name = "RK3566", .unit_address = {}, .max_memory_gib = 4},
    {.prefix = "rk3562", .name = "RK3562", .unit_address = "ff30"},
    {.prefix = "rv1106", .name = "RV1106", .unit_address = "ff66"},
    {.prefix = "rv1103", .name = "RV1103", .unit_address = {}},
    {.prefix = "rv1126b", .name = "RV1126B", .unit_address = {}},
};

// "vendor,token" -> the row whose prefix begins the token.
const ChipRow* ChipOfToken(std::string_view token) {
  token.remove_prefix(std::min(token.find(',') + 1, token.size()));
  for (const ChipRow& chip : kChips) {
    if (token.starts_with(chip.prefix)) return &chip;
  }
  return nullptr;
}

std::vector<BoundCore> Bound(const System& system, std::string_view driver) {
  std::vector<BoundCore> cores;
  for (const std::string& name : system.List(driver)) {
    const std::string directory = fmt::format("{}/{}", driver, name);
    if (system.Exists(directory + "/power")) cores.push_back({name, directory});
  }
  return cores;
}

bool TakeChip(std::string_view token, std::string source, Facts* facts) {
  const ChipRow* chip = ChipOfToken(token);
  if (chip == nullptr) return false;
  facts->chip = chip;
  facts->chip_token = Trimmed(token);
  facts->chip_source = std::move(source);
  return true;
}

// The board's own tokens tell fused-down parts apart; the cores' uevent is visible in containers
// that mask the device tree (E.2).
void FindChip(const System& system, Facts* facts) {
  for (const std::string& token : facts->compatible) {
    if (TakeChip(token, fmt::format("{}/compatible", kTree), facts)) return;
  }
  for (const std::vector<BoundCore>* list : {&facts->cores, &facts->vendor_cores}) {
    for (const BoundCore& core : *list) {
      const std::string uevent = system.Read(core.directory + "/uevent").value_or("");
      for (const std::string& line : Split(uevent, '\n')) {
        if (!line.starts_with("OF_COMPATIBLE_") || line.starts_with("OF_COMPATIBLE_N=")) continue;
        const std::string token = line.substr(std::min(line.find('=') + 1, line.size()));
        if (TakeChip(token, "uevent of " + core.name, facts)) return;
      }
      for (const ChipRow& chip : kChips) {
        if (chip.unit_address.empty() || !core.name.starts_with(chip.unit_address)) continue;
        facts->chip = &chip;
        facts->chip_token = core.name;
        facts->chip_source = "address of the core";
        return;
      }
    }
  }
}

void FindNodes(const System& system, Facts* facts) {
  for (const std::string& name : system.List("/dev/accel")) {
    if (name.starts_with("accel")) facts->accel_nodes.push_back(system.Ask("/dev/accel/" + name));
  }
  for (const std::string& name : system.List("/dev/dri")) {
    if (name.starts_with("renderD")) facts->render_nodes.push_back(system.Ask("/dev/dri/" + name));
  }
  for (const NodeAnswer& node : facts->accel_nodes) {
    if (node.driver == uapi::kRocketName && !facts->rocket) facts->rocket = node;
  }
  for (const NodeAnswer& node : facts->render_nodes) {
    if (node.driver == kVendorName && !facts->vendor) facts->vendor = node;
  }
  if (!facts->vendor && system.Exists(kVendorNode)) {
    facts->vendor = system.Ask(kVendorNode);
    facts->vendor->driver = kVendorName;
  }
}

std::string ContainerSign(const System& system) {
  if (system.Exists("/.dockerenv")) return "/.dockerenv";
  if (system.Exists("/run/.containerenv")) return "/run/.containerenv";
  const std::string groups = system.Read("/proc/1/cgroup").value_or("");
  const std::string line = FindLine(groups, {"docker", "lxc", "kubepods", "containerd", "libpod"});
  return line.empty() ? "" : "/proc/1/cgroup: " + line;
}

// "Uid:\t1000\t..." and "Groups:\t4 27 ..." of the own process.
void FindUser(const System& system, Facts* facts) {
  const std::string status = system.Read("/proc/self/status").value_or("");
  const auto numbers = [&](std::string_view key) {
    std::vector<uint32_t> values;
    std::string line = FindLine(status, {key});
    std::replace(line.begin(), line.end(), '\t', ' ');
    for (const std::string& word : Split(line, ' ')) {
      uint32_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error == std::errc() && end == word.data() + word.size()) values.push_back(value);
    }
    return values;
  };
  const std::vector<uint32_t> uids = numbers("Uid:");
  if (!uids.empty()) facts->uid = uids.front();
  facts->groups = numbers("Groups:");
}

void ParseRelease(Facts* facts) {
  const std::vector<std::string> parts = Split(facts->release, '.');
  int* const targets[] = {&facts->kernel_major, &facts->kernel_minor};
  for (size_t i = 0; i < std::min<size_t>(parts.size(), 2); ++i) {
    std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), *targets[i]);
  }
}

void Walk(const System& system, const std::string& directory, std::string_view prefix,
          std::string_view file, int depth, std::vector<TreeProperty>* found) {
  for (const std::string& name : system.List(directory)) {
    const std::string path = fmt::format("{}/{}", directory, name);
    if (name.starts_with(prefix)) {
      if (const auto value = system.Read(path + "/" + std::string(file))) {
        found->push_back({path, *value});
      } else if (system.Exists(path + "/compatible")) {
        found->push_back({path, ""});  // the node is there, the property is not
      }
    } else if (depth > 0 && !system.List(path).empty()) {
      Walk(system, path, prefix, file, depth - 1, found);
    }
  }
}

}  // namespace

std::vector<TreeProperty> DeviceTreeProperties(const System& system, std::string_view prefix,
                                               std::string_view file) {
  std::vector<TreeProperty> found;
  Walk(system, std::string(kTree), prefix, file, 2, &found);
  return found;
}

Facts Gather(const System& system, std::string library) {
  Facts facts;
  facts.system = system;
  facts.library = std::move(library);
  facts.architecture = system.Architecture();
  facts.release = system.Release();
  ParseRelease(&facts);
  facts.model = system.Line(fmt::format("{}/model", kTree));
  facts.compatible = Split(system.Read(fmt::format("{}/compatible", kTree)).value_or(""), '\0');
  facts.cores = Bound(system, kRocketDriver);
  facts.vendor_cores = Bound(system, kVendorDriver);
  FindChip(system, &facts);
  FindNodes(system, &facts);
  facts.container = ContainerSign(system);
  facts.log = system.KernelLog(&facts.log_error);
  FindUser(system, &facts);
  return facts;
}

}  // namespace npu::doctor
