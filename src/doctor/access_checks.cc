// SPDX-License-Identifier: Apache-2.0
// May this user and this process use the device? kernel-interfaces F.2.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "src/doctor/check.h"
#include "src/doctor/facts.h"

namespace npu::doctor {
namespace {

constexpr int64_t kEnoughDescriptors = 4096, kEnoughMappings = 65530;

Finding Pass(std::string evidence) { return {Verdict::kPass, std::move(evidence)}; }
Finding Skip(std::string reason) { return {Verdict::kSkip, std::move(reason)}; }

// The node that has to open: a refused accel node may be the NPU's.
const NodeAnswer* Node(const Facts& f) {
  if (f.rocket) return &*f.rocket;
  if (f.vendor) return &*f.vendor;
  for (const auto* list : {&f.accel_nodes, &f.render_nodes}) {
    for (const NodeAnswer& node : *list) {
      if (node.error != 0) return &node;
    }
  }
  return nullptr;
}

std::string GroupList(const Facts& f) {
  std::string list;
  for (const uint32_t group : f.groups) list += fmt::format("{}{}", list.empty() ? "" : " ", group);
  return list.empty() ? "none" : list;
}

Finding Open(const Facts& f) {
  const NodeAnswer* node = Node(f);
  if (node == nullptr) {
    if (!f.container.empty()) return Skip("in a container without the node: see A02");
    return {Verdict::kFail, "the driver is bound, but there is no node in /dev/accel or /dev/dri",
            "check that /dev is a devtmpfs and that udev runs (udevadm trigger)"};
  }
  if (node->error == 0) {
    return Pass(fmt::format("{} opens for reading and writing ({})", node->path,
                            f.system.Owner(node->path)));
  }
  if (node->error == EPERM && !f.container.empty()) return Skip("see A02");
  Finding finding{Verdict::kFail, fmt::format("{}: {}; node {}, user {} in groups {}", node->path,
                                              std::strerror(node->error),
                                              f.system.Owner(node->path), f.uid, GroupList(f))};
  if (node->error == ENODEV) finding.fix = "the node is stale: load the module rocket again";
  if (node->error == ENOMEM)
    finding.fix = "free memory: the kernel could not make an address space";
  if (node->error == EINVAL) finding.fix = "the module is being unloaded: load it again";
  return finding;
}

Finding Container(const Facts& f) {
  if (f.container.empty()) return Skip("not in a container");
  const NodeAnswer* node = Node(f);
  if (node == nullptr) {
    return {Verdict::kFail,
            fmt::format("container ({}): the device node was not passed in", f.container)};
  }
  if (node->error != 0) {
    return {Verdict::kFail, fmt::format("container ({}): {}: {}", f.container, node->path,
                                        std::strerror(node->error))};
  }
  return Pass(fmt::format("container ({}): the node is passed in", f.container));
}

Finding ChipVisible(const Facts& f) {
  if (f.container.empty()) return Skip("not in a container");
  if (f.chip != nullptr) return Pass(fmt::format("{} from {}", f.chip->name, f.chip_source));
  return {Verdict::kFail, "neither uevent files of /sys nor /proc/device-tree tell the chip"};
}

// The environment as the kernel keeps it: evidence here, never configuration.
Finding Sudo(const Facts& f) {
  const std::string text = f.system.Read("/proc/self/environ").value_or("");
  bool sudo = false, ours = false;
  for (const std::string& variable : Split(text, '\0')) {
    sudo = sudo || variable.starts_with("SUDO_USER=");
    ours = ours || variable.starts_with("ROCKET_");
  }
  if (!sudo) return Pass("not under sudo");
  if (ours) return Pass("under sudo, ROCKET_ variables are kept");
  return {Verdict::kWarn, "under sudo, and no ROCKET_ variable came through"};
}

Finding PowerFile(const Facts& f) {
  if (f.chip == nullptr || !f.chip->power_procedure) return Skip("not needed on this chip");
  for (const BoundCore& core : f.cores) {
    const std::string file = core.directory + "/power/autosuspend_delay_ms";
    if (!f.system.Writable(file)) {
      return {Verdict::kWarn, file + " is not writable: 226 ms instead of 14 after some jobs"};
    }
  }
  return Pass("power/autosuspend_delay_ms is writable");
}

Finding Descriptors(const Facts& f) {
  const std::string limits = f.system.Read("/proc/self/limits").value_or("");
  const std::string line = FindLine(limits, {"Max open files"});
  const std::vector<std::string> words = Split(line, ' ');
  int64_t limit = 0;
  if (words.size() > 3) {
    if (words[3] == "unlimited") return Pass("unlimited");
    std::from_chars(words[3].data(), words[3].data() + words[3].size(), limit);
  }
  if (limit == 0) return Skip("no limit is listed");
  const bool per_buffer = f.vendor && f.vendor->path == "/dev/rknpu";
  if (per_buffer && limit < kEnoughDescriptors) {
    return {Verdict::kWarn, fmt::format("{} open files; this driver takes one a buffer", limit)};
  }
  return Pass(fmt::format("{} open files; one a core is enough", limit));
}

Finding Mappings(const Facts& f) {
  const auto limit = f.system.Number("/proc/sys/vm/max_map_count");
  if (!limit) return Skip("no limit is listed");
  if (*limit < kEnoughMappings)
    return {Verdict::kWarn, fmt::format("vm.max_map_count = {}", *limit)};
  return Pass(fmt::format("vm.max_map_count = {}", *limit));
}

constexpr std::string_view kGroup = "access";
constexpr Check kChecks[] = {
    {"A01", kGroup, "node opens", Need::kDriver, Open,
     "sudo usermod -aG render $USER (the node's group), log in again; if the node is root's alone, "
     "install the udev rule of docs/doctor.md"},
    {"A02", kGroup, "container", Need::kDriver, Container,
     "docker run --device /dev/accel/accel0 --group-add $(stat -c %g /dev/accel/accel0) ..."},
    {"A03", kGroup, "chip visible", Need::kDriver, ChipVisible,
     "let the container see /sys (it is read-only anyway)"},
    {"A04", kGroup, "environment", Need::kDriver, Sudo,
     "sudo -E, if you set ROCKET_ variables; else nothing"},
    {"A05", kGroup, "power file", Need::kCores, PowerFile,
     "install the udev rule for power/autosuspend_delay_ms of docs/doctor.md"},
    {"A06", kGroup, "descriptors", Need::kDriver, Descriptors, "ulimit -n 4096 or more"},
    {"A07", kGroup, "mappings", Need::kDriver, Mappings, "sudo sysctl vm.max_map_count=65530"},
};

}  // namespace

std::span<const Check> AccessChecks() { return kChecks; }

}  // namespace npu::doctor
