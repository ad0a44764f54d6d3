// SPDX-License-Identifier: Apache-2.0
// Is the kernel's side healthy? kernel-interfaces F.3.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "src/doctor/check.h"
#include "src/doctor/facts.h"

namespace npu::doctor {
namespace {

Finding Pass(std::string evidence) { return {Verdict::kPass, std::move(evidence)}; }
Finding Skip(std::string reason) { return {Verdict::kSkip, std::move(reason)}; }
Finding Warn(std::string evidence) { return {Verdict::kWarn, std::move(evidence)}; }
Finding Fail(std::string evidence) { return {Verdict::kFail, std::move(evidence)}; }

// A finding when the kernel log has a line with one of the words.
Finding LogLine(const Facts& f, Verdict found, std::initializer_list<std::string_view> words,
                std::string_view none) {
  const std::string line = FindLine(*f.log, words);
  if (!line.empty()) return {found, line};
  return Pass(std::string(none));
}

Finding Stock(const Facts& f) {
  const NodeAnswer& node = *f.rocket;
  const std::string version = fmt::format("rocket {}.{}.{}", node.major, node.minor, node.patch);
  if (node.major >= 1) return Pass(version);
  return Warn(version + ": stock interface, it drops malformed jobs silently or crashes");
}

Finding Extensions(const Facts& f) {
  const NodeAnswer& node = *f.rocket;
  if (node.major < 1) return {Verdict::kInfo, "none: one kick a task, whole-buffer cache upkeep"};
  std::string list = "per-job errors";
  const std::string batch = f.system.Line("/sys/module/rocket/parameters/rocket_batch_submit");
  if (node.minor >= 1) {
    list += batch == "0" || batch == "N" ? ", chained kicks (switched off)" : ", chained kicks";
  }
  if (node.minor >= 5) list += ", ranged cache upkeep";
  return {Verdict::kInfo, list};
}

Finding HeaderSkew(const Facts&) { return Skip("needs a job: the self-test tells"); }

// The running module against the one on disk; a compressed file is not opened.
Finding StaleModule(const Facts& f) {
  const std::string running = f.system.Line("/sys/module/rocket/srcversion");
  if (running.empty()) return Skip("built in, or without a srcversion");
  const std::string base = fmt::format("/lib/modules/{}/", f.release);
  const std::string list = f.system.Read(base + "modules.dep", size_t{4} << 20).value_or("");
  const std::string line = FindLine(list, {"/rocket.ko"});
  const std::string path = line.substr(0, line.find(':'));
  if (path.empty()) return Skip("the module's file is not listed");
  if (!path.ends_with(".ko")) return Skip(path + " is compressed");
  const std::string module = f.system.Read(base + path, size_t{64} << 20).value_or("");
  constexpr std::string_view kKey = "srcversion=";
  const size_t at = module.find(kKey);
  if (at == std::string::npos) return Skip(path + " has no srcversion");
  const std::string on_disk(module.c_str() + at + kKey.size());
  if (on_disk == running) return Pass("srcversion " + running);
  return Fail(fmt::format("running {}, on disk {}", running, on_disk));
}

Finding Refused(const Facts& f) {
  return LogLine(f, Verdict::kFail,
                 {"rocket: disagrees about version of symbol", "rocket: Exec format error",
                  "rocket: version magic", "Key was rejected"},
                 "no refused module");
}

Finding Crashes(const Facts& f) {
  // Bits of /proc/sys/kernel/tainted: 7 a crash (Oops), 9 a kernel warning.
  const int64_t taint = f.system.Number("/proc/sys/kernel/tainted").value_or(0);
  Finding log = LogLine(f, Verdict::kWarn,
                        {"drm_mm_takedown", "rocket_postclose", "Object already free",
                         "Oops:", "__iommu_group_set_core_domain"},
                        "");
  if (log.verdict == Verdict::kWarn) return log;
  if ((taint & (1 << 7)) != 0)
    return Warn(fmt::format("tainted = {}: the kernel crashed once", taint));
  if ((taint & (1 << 9)) != 0) return Pass(fmt::format("tainted = {}: a warning, not ours", taint));
  return Pass(fmt::format("tainted = {}, no crash in the log", taint));
}

Finding Timeouts(const Facts& f) {
  return LogLine(f, Verdict::kFail, {"NPU job timed out"}, "no \"NPU job timed out\"");
}

Finding Faults(const Facts& f) {
  for (const std::string& line : Split(*f.log, '\n')) {
    const bool iommu =
        line.find("rk_iommu") != std::string::npos || line.find("iommu") != std::string::npos;
    if (iommu && (line.find("Page fault at") != std::string::npos ||
                  line.find("Enable stall request timed out") != std::string::npos ||
                  line.find("MMU_DTE_ADDR is not functioning") != std::string::npos)) {
      return Fail(Trimmed(line));
    }
  }
  return Pass("no IOMMU fault");
}

// A core that nobody uses suspends within its delay; ask again after it on this machine.
Finding PinnedActive(const Facts& f) {
  constexpr int64_t kLongestWaitMs = 300;
  std::string active;
  for (int attempt = 0; attempt < 2; ++attempt) {
    active.clear();
    int64_t delay = 50;
    for (const BoundCore& core : f.cores) {
      const std::string power = core.directory + "/power";
      if (f.system.Line(power + "/runtime_status") != "active") continue;
      active = core.name;
      delay = f.system.Number(power + "/autosuspend_delay_ms").value_or(delay);
    }
    if (active.empty()) return Pass("the cores suspend");
    if (!f.system.live() || delay * 2 > kLongestWaitMs || delay < 0) break;
    if (attempt == 0) usleep(static_cast<useconds_t>(delay * 2000));
  }
  for (const BoundCore& core : f.cores) {
    if (f.system.Line(core.directory + "/power/control") == "on") {
      return Skip("power/control is on: see P03");
    }
  }
  return Warn(active + " stays active; unless another program uses it, a reference leaked");
}

Finding VendorVersion(const Facts& f) {
  const NodeAnswer& node = *f.vendor;
  if (node.major == 0 && node.minor == 0) return Skip("the node does not tell its version");
  const std::string version = fmt::format("rknpu {}.{}.{}", node.major, node.minor, node.patch);
  const int number = node.major * 10000 + node.minor * 100 + node.patch;
  if (number < 906) return Fail(version + " (0.9.6 is the oldest that can work)");
  if (number < 907) return Warn(version + " (0.9.7 keeps the address space from fragmenting)");
  return Pass(version);
}

Finding VendorIommu(const Facts& f) {
  if (!f.log) return Skip("the kernel log is not readable (K17)");
  return LogLine(f, Verdict::kFail, {"using non-iommu mode"}, "no \"using non-iommu mode\"");
}

Finding VendorWindow(const Facts& f) {
  if (!f.log) return Skip("the kernel log is not readable (K17)");
  return LogLine(f, Verdict::kWarn, {"failed to allocate iova", "iova alloc failed"},
                 "no failed IOVA allocation in the log");
}

Finding VendorNoise(const Facts& f) {
  if (!f.log) return Skip("the kernel log is not readable (K17)");
  return LogLine(f, Verdict::kInfo,
                 {"can't request region for resource", "failed to find power_model node"},
                 "none of the harmless lines");
}

Finding TooMuchMemory(const Facts& f) {
  if (f.chip == nullptr || f.chip->max_memory_gib == 0) return Skip("not an issue of this chip");
  const std::string line = FindLine(f.system.Read("/proc/meminfo").value_or(""), {"MemTotal:"});
  const std::vector<std::string> words = Split(line, ' ');
  const int64_t kib = words.size() > 1 ? std::strtoll(words[1].c_str(), nullptr, 10) : 0;
  if (kib > int64_t{f.chip->max_memory_gib} * 1024 * 1024) return Warn(line);
  return Pass(line);
}

Finding DomainPanic(const Facts& f) {
  return LogLine(f, Verdict::kFail, {"failed to get ack on domain 'npu'"}, "no power domain error");
}

Finding KernelChanged(const Facts& f) {
  if (f.baseline_release.empty()) return Skip("no earlier report (--baseline)");
  if (f.baseline_release == f.release) return Pass(f.release + " as before");
  return {Verdict::kInfo, fmt::format("was {}, is {}", f.baseline_release, f.release)};
}

Finding LogReadable(const Facts& f) {
  if (f.log) return Pass("readable");
  return Skip(f.log_error);
}

constexpr std::string_view kGroup = "kernel";
constexpr Check kChecks[] = {
    {"K01", kGroup, "interface", Need::kRocket, Stock,
     "nothing: rocket-npu checks every job itself; other programs can still crash this kernel"},
    {"K02", kGroup, "extensions", Need::kRocket, Extensions, "used where present"},
    {"K03", kGroup, "job structure", Need::kRocket, HeaderSkew,
     "rebuild the module with its own header"},
    {"K04", kGroup, "module file", Need::kRocket, StaleModule,
     "sudo rmmod rocket && sudo modprobe rocket, or reboot"},
    {"K05", kGroup, "module accepted", Need::kLog, Refused,
     "rebuild the module for exactly this kernel, and sign it"},
    {"K06", kGroup, "earlier crashes", Need::kLog, Crashes, "reboot before you trust results"},
    {"K07", kGroup, "job timeouts", Need::kLog, Timeouts,
     "run rocket-npu selftest; report the program that timed out"},
    {"K08", kGroup, "IOMMU faults", Need::kLog, Faults,
     "run rocket-npu selftest; reboot if the line comes again"},
    {"K09", kGroup, "cores suspend", Need::kCores, PinnedActive, "reboot"},
    {"K10", kGroup, "BSP version", Need::kVendor, VendorVersion, "update the BSP kernel"},
    {"K11", kGroup, "BSP IOMMU", Need::kVendor, VendorIommu,
     "enable the NPU's IOMMU node, or reserve enough CMA"},
    {"K12", kGroup, "BSP addresses", Need::kVendor, VendorWindow, "reboot"},
    {"K13", kGroup, "BSP log noise", Need::kVendor, VendorNoise, "harmless"},
    {"K14", kGroup, "memory size", Need::kDriver, TooMuchMemory,
     "use a kernel that keeps the IOMMU's tables below 4 GiB"},
    {"K15", kGroup, "power domain", Need::kLog, DomainPanic,
     "correct npu-supply and the power domain in the device tree"},
    {"K16", kGroup, "kernel changed", Need::kDriver, KernelChanged,
     "if it worked before: boot the earlier kernel and compare"},
    {"K17", kGroup, "kernel log", Need::kDriver, LogReadable,
     "join the group adm, or run the doctor as root"},
};

}  // namespace

std::span<const Check> KernelChecks() { return kChecks; }

}  // namespace npu::doctor
