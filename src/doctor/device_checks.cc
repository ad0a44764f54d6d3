// SPDX-License-Identifier: Apache-2.0
// Is there a device? kernel-interfaces F.1.
#include <fmt/format.h>

#include <algorithm>

#include "src/doctor/check.h"
#include "src/doctor/facts.h"

namespace npu::doctor {
namespace {

constexpr int kRocketMajor = 6, kRocketMinor = 18;  // first released in Linux 6.18 (A)

Finding Pass(std::string evidence) { return {Verdict::kPass, std::move(evidence)}; }
Finding Fail(std::string evidence) { return {Verdict::kFail, std::move(evidence)}; }
Finding Skip(std::string reason) { return {Verdict::kSkip, std::move(reason)}; }
Finding Info(std::string evidence) { return {Verdict::kInfo, std::move(evidence)}; }

std::string Version(const NodeAnswer& node) {
  return fmt::format("{}.{}.{}", node.major, node.minor, node.patch);
}

Finding Board(const Facts& f) {
  if (f.chip != nullptr) {
    return Pass(fmt::format("{}: {} ({})", f.chip->name, f.chip_token, f.chip_source));
  }
  if (f.has_driver()) {
    return {Verdict::kWarn, "an NPU driver is here, but its chip is unknown"};
  }
  const std::string why =
      f.compatible.empty() ? "no device tree" : fmt::format("board {}", f.compatible.front());
  return Skip(fmt::format("{}, {}: not a Rockchip board with an NPU", f.architecture, why));
}

std::string ModulePath(const Facts& f, std::string_view list) {
  const std::string text =
      f.system.Read(fmt::format("/lib/modules/{}/{}", f.release, list), size_t{4} << 20)
          .value_or("");
  const std::string line = FindLine(text, {"/rocket.ko"});
  return line.substr(0, line.find(':'));
}

// "CONFIG_X is not set" of /boot/config-RELEASE, for the first of the three that is missing.
std::string MissingConfig(const Facts& f) {
  const auto config = f.system.Read("/boot/config-" + f.release);
  if (!config) return {};
  for (const std::string_view key :
       {"CONFIG_DRM_ACCEL", "CONFIG_DRM_ACCEL_ROCKET", "CONFIG_ROCKCHIP_IOMMU"}) {
    if (config->find(fmt::format("\n{}=", key)) == std::string::npos &&
        !config->starts_with(fmt::format("{}=", key))) {
      return fmt::format("/boot/config-{}: {} is not set", f.release, key);
    }
  }
  return {};
}

Finding KernelSupport(const Facts& f) {
  if (f.rocket) return Pass(fmt::format("{} answers as rocket", f.rocket->path));
  if (f.vendor) return Pass(fmt::format("{} answers as rknpu (BSP kernel)", f.vendor->path));
  if (!f.cores.empty() || f.system.Exists("/sys/module/rocket")) return Pass("rocket is loaded");
  if (!f.vendor_cores.empty()) return Pass("RKNPU is bound (BSP kernel)");
  if (f.chip != nullptr && !f.chip->mainline) {
    return {Verdict::kFail, fmt::format("no released mainline kernel drives the {}", f.chip->name),
            "install the board vendor's (BSP) kernel, or a kernel with the patches for this chip"};
  }
  const bool old = f.kernel_major < kRocketMajor ||
                   (f.kernel_major == kRocketMajor && f.kernel_minor < kRocketMinor);
  const std::string module = ModulePath(f, "modules.dep");
  const std::string builtin = ModulePath(f, "modules.builtin");
  if (!module.empty()) return Pass("module " + module);
  if (!builtin.empty()) return Pass("built in: " + builtin);
  if (old) {
    return Fail(fmt::format("Linux {}: the driver rocket came with {}.{}", f.release, kRocketMajor,
                            kRocketMinor));
  }
  if (const std::string missing = MissingConfig(f); !missing.empty()) return Fail(missing);
  return Fail(fmt::format("Linux {} has no rocket module, built in or loadable", f.release));
}

Finding ModuleLoaded(const Facts& f) {
  if (!f.vendor_cores.empty() || f.vendor) return Skip("a BSP kernel has no rocket");
  if (f.system.Exists("/sys/module/rocket")) return Pass("/sys/module/rocket");
  if (f.rocket || !f.cores.empty()) return Pass("built in");
  const std::string module = ModulePath(f, "modules.dep");
  if (!module.empty()) return Fail(module + " is not loaded");
  return Pass("built in");
}

// A property that says "okay" or is absent leaves a node enabled.
bool Enabled(std::string_view status) {
  const std::string word = Trimmed(status);
  return word.empty() || word == "okay" || word == "ok";
}

Finding DeviceTree(const Facts& f) {
  if (!f.cores.empty()) {
    std::string names;
    for (const BoundCore& core : f.cores) names += (names.empty() ? "" : " ") + core.name;
    return Pass(fmt::format("bound: {}", names));
  }
  if (!f.vendor_cores.empty()) return Pass("bound: " + f.vendor_cores.front().name);
  if (f.rocket || f.vendor) return Pass("a node answers");
  const std::vector<TreeProperty> nodes = DeviceTreeProperties(f.system, "npu@", "status");
  if (nodes.empty()) return Fail("the device tree has no npu@ node, and no core is bound");
  for (const TreeProperty& node : nodes) {
    if (!Enabled(node.value)) {
      return Fail(fmt::format("{}/status = {}", node.node, Trimmed(node.value)));
    }
  }
  return Pass(fmt::format("{} NPU nodes enabled", nodes.size()));
}

Finding ProbeErrors(const Facts& f) {
  const std::string deferred = f.system.Read("/sys/kernel/debug/devices_deferred").value_or("");
  if (const std::string line = FindLine(deferred, {".npu"}); !line.empty()) {
    return Fail("deferred: " + line);
  }
  if (!f.log) {
    if (!f.cores.empty() || f.rocket) return Pass("cores are bound");
    return Skip("the kernel log is not readable (K17)");
  }
  const std::string line =
      FindLine(*f.log, {"failed to get clocks", "failed to get resets",
                        "failed to get clocks/resets for core", "couldn't find PC",
                        "couldn't find CNA", "couldn't find CORE"});
  return line.empty() ? Pass("no probe error in the kernel log") : Fail(line);
}

Finding Regulator(const Facts& f) {
  constexpr std::string_view kClass = "/sys/class/regulator";
  std::string seen;
  for (const std::string& name : f.system.List(kClass)) {
    const std::string rail = f.system.Line(fmt::format("{}/{}/name", kClass, name));
    if (!rail.starts_with("vdd_npu")) continue;
    const std::string state = f.system.Line(fmt::format("{}/{}/state", kClass, name));
    if (state == "disabled") return Fail(fmt::format("{}: {}", rail, state));
    seen += fmt::format("{}{}: {}", seen.empty() ? "" : ", ", rail, state.empty() ? "?" : state);
  }
  if (f.log) {
    for (const std::string& line : Split(*f.log, '\n')) {
      if (line.find("vdd_npu") != std::string::npos &&
          line.find(": disabling") != std::string::npos) {
        return Fail(Trimmed(line));
      }
    }
  }
  return seen.empty() ? Skip("no vdd_npu regulator is listed") : Pass(seen);
}

Finding WhichKernel(const Facts& f) {
  if (f.rocket) return Pass(fmt::format("mainline: rocket {}", Version(*f.rocket)));
  if (f.vendor) {
    return Info(fmt::format("BSP: rknpu {} at {}", Version(*f.vendor), f.vendor->path));
  }
  if (!f.vendor_cores.empty()) return Info("BSP: RKNPU is bound, no node answers");
  return Skip("no node answers");
}

Finding VendorNode(const Facts& f) {
  if (f.system.Exists("/dev/rknpu")) return Pass("/dev/rknpu exists");
  if (f.vendor) return Info(fmt::format("no /dev/rknpu; {} is the NPU", f.vendor->path));
  return Skip("no node answers as rknpu");
}

Finding RenderNodes(const Facts& f) {
  std::string list;
  for (const NodeAnswer& node : f.render_nodes) {
    list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", node.path.substr(9),
                        node.driver.empty() ? "?" : node.driver);
  }
  return list.empty() ? Skip("no render nodes") : Info(list);
}

Finding CoreCount(const Facts& f) {
  if (f.chip == nullptr) return Skip("the chip is unknown");
  if (!f.vendor_cores.empty()) return Pass("one device stands for all cores (BSP)");
  const size_t bound = f.cores.size();
  if (bound == 0) {
    if (f.rocket) return Skip("sysfs lists no bound core");
    return Fail("no core is bound to rocket");
  }
  const uint32_t wanted = f.chip->one_core_only ? 1 : f.chip->cores;
  if (bound < wanted) {
    return {Verdict::kWarn,
            fmt::format("{} of {} cores of the {} are bound", bound, wanted, f.chip->name)};
  }
  return Pass(fmt::format("{} of {}", bound, f.chip->cores));
}

Finding TwoCores(const Facts& f) {
  if (f.chip == nullptr || !f.chip->one_core_only) return Skip("not an issue of this chip");
  if (f.cores.size() > 1) {
    return Fail(fmt::format("{} and {} are both bound: their results corrupt each other",
                            f.cores[0].name, f.cores[1].name));
  }
  return Pass("one core is bound");
}

Finding PowerDomains(const Facts& f) {
  if (f.chip == nullptr || f.chip->power_domains == 0) return Skip("not an issue of this chip");
  for (const BoundCore& core : f.cores) {
    if (core.name.starts_with("27710000")) {
      return Fail(core.name + ": this address belongs to another block");
    }
  }
  // Each entry is a phandle and an index, four bytes each.
  const auto nodes = DeviceTreeProperties(f.system, "npu@", "power-domains");
  for (const TreeProperty& node : nodes) {
    const size_t domains = node.value.size() / 8;
    if (domains < f.chip->power_domains) {
      return Fail(fmt::format("{}/power-domains names {} of {}", node.node, domains,
                              f.chip->power_domains));
    }
  }
  return nodes.empty() ? Skip("the device tree is not visible") : Pass("both domains are named");
}

constexpr std::string_view kGroup = "device";
constexpr Check kChecks[] = {
    {"D01", kGroup, "Rockchip board", Need::kNothing, Board,
     "use device=sim for the simulated NPU; without it models run on the CPU"},
    {"D02", kGroup, "kernel support", Need::kBoard, KernelSupport,
     "install a kernel with CONFIG_DRM_ACCEL_ROCKET (Linux 6.18 or later), or the BSP kernel"},
    {"D03", kGroup, "module loaded", Need::kBoard, ModuleLoaded,
     "sudo modprobe rocket, and add a line \"rocket\" to /etc/modules-load.d/rocket.conf"},
    {"D04", kGroup, "device tree", Need::kBoard, DeviceTree,
     "enable the core and its IOMMU node (status = \"okay\"); check that the boot loader loads the "
     "kernel's own dtb"},
    {"D05", kGroup, "driver probe", Need::kBoard, ProbeErrors,
     "the line names what the device tree lacks (clocks, resets or registers of a core)"},
    {"D06", kGroup, "NPU supply", Need::kBoard, Regulator,
     "set regulator-always-on for vdd_npu in the device tree, or build the driver in"},
    {"D07", kGroup, "kind of kernel", Need::kDriver, WhichKernel,
     "this release drives the mainline driver rocket"},
    {"D08", kGroup, "/dev/rknpu", Need::kVendor, VendorNode,
     "normal for this kernel: do not link the node"},
    {"D09", kGroup, "render nodes", Need::kVendor, RenderNodes,
     "pick the node by its driver's name, never by number"},
    {"D10", kGroup, "cores bound", Need::kBoard, CoreCount,
     "enable the other npu@ nodes of the device tree, if the chip has those cores"},
    {"D11", kGroup, "only one core", Need::kBoard, TwoCores,
     "disable core 1 in the device tree: two cores of this chip give wrong results"},
    {"D12", kGroup, "power domains", Need::kBoard, PowerDomains,
     "give every core node both NPU power domains and the right address"},
};

}  // namespace

std::span<const Check> DeviceChecks() { return kChecks; }

}  // namespace npu::doctor
