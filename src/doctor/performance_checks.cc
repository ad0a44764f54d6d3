// SPDX-License-Identifier: Apache-2.0
// Is it as fast as it can be? kernel-interfaces F.4.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "src/doctor/check.h"
#include "src/doctor/facts.h"

namespace npu::doctor {
namespace {

constexpr std::string_view kClock = "/sys/module/rocket/parameters/rocket_npu_clk_hz";
constexpr int64_t kValidatedHz = 600'000'000;  // the only validated value (B.6)
constexpr int64_t kShortSuspendMs = 200, kHotMilliCelsius = 85'000;
constexpr int64_t kLowMemoryKib = 256 * 1024;

Finding Pass(std::string evidence) { return {Verdict::kPass, std::move(evidence)}; }
Finding Skip(std::string reason) { return {Verdict::kSkip, std::move(reason)}; }
Finding Warn(std::string evidence) { return {Verdict::kWarn, std::move(evidence)}; }

Finding Clock(const Facts& f) {
  if (f.chip == nullptr || !f.chip->slow_clock) return Skip("not an issue of this chip");
  const auto hz = f.system.Number(kClock);
  const std::string line =
      FindLine(f.system.Read("/sys/kernel/debug/clk/clk_summary", size_t{1} << 20).value_or(""),
               {"scmi_clk_npu"});
  if (hz && *hz > 0) return Pass(fmt::format("rocket_npu_clk_hz = {}", *hz));
  if (!line.empty()) return Warn("200 MHz unless raised: " + line);
  return Warn(hz ? "rocket_npu_clk_hz = 0: the NPU stays at 200 MHz"
                 : "no rocket_npu_clk_hz: stock kernels keep the NPU at 200 MHz");
}

Finding ClockTooHigh(const Facts& f) {
  const auto hz = f.system.Number(kClock);
  if (!hz || *hz == 0) return Skip("no clock is requested");
  if (*hz > kValidatedHz) {
    return {Verdict::kFail, fmt::format("rocket_npu_clk_hz = {}: can lock the machine", *hz)};
  }
  return Pass(fmt::format("{} MHz requested", *hz / 1'000'000));
}

Finding Pinned(const Facts& f) {
  for (const BoundCore& core : f.cores) {
    if (f.system.Line(core.directory + "/power/control") == "on") {
      return Warn(core.name + "/power/control = on");
    }
  }
  return Pass("power/control = auto");
}

Finding Autosuspend(const Facts& f) {
  if (f.chip != nullptr && f.chip->power_procedure) return Skip("keep the delay on this chip");
  for (const BoundCore& core : f.cores) {
    const auto delay = f.system.Number(core.directory + "/power/autosuspend_delay_ms");
    if (delay && *delay >= 0 && *delay < kShortSuspendMs) {
      return Warn(
          fmt::format("{} suspends after {} ms: the next job pays a resume", core.name, *delay));
    }
  }
  return Pass("long enough");
}

Finding Governor(const Facts& f) {
  const std::string base = "/sys/devices/system/cpu";
  std::string slow;
  size_t seen = 0;
  for (const std::string& cpu : f.system.List(base)) {
    const std::string governor =
        f.system.Line(fmt::format("{}/{}/cpufreq/scaling_governor", base, cpu));
    if (governor.empty()) continue;
    ++seen;
    if (governor != "performance" && slow.empty()) slow = fmt::format("{}: {}", cpu, governor);
  }
  if (seen == 0) return Skip("no cpufreq");
  return slow.empty() ? Pass("performance") : Warn(slow);
}

// The largest cpu_capacity, and whether CPU `cpu` has at least 90 % of it (E.5).
bool IsBig(const Facts& f, int64_t cpu) {
  const std::string base = "/sys/devices/system/cpu";
  int64_t largest = 0;
  for (const std::string& name : f.system.List(base)) {
    largest = std::max(largest,
                       f.system.Number(fmt::format("{}/{}/cpu_capacity", base, name)).value_or(0));
  }
  const int64_t own =
      f.system.Number(fmt::format("{}/cpu{}/cpu_capacity", base, cpu)).value_or(largest);
  return own * 10 >= largest * 9;
}

Finding Interrupts(const Facts& f) {
  const std::string table = f.system.Read("/proc/interrupts").value_or("");
  size_t seen = 0;
  for (const std::string& line : Split(table, '\n')) {
    if (line.find(".npu") == std::string::npos) continue;
    ++seen;
    const std::string number = Trimmed(line.substr(0, line.find(':')));
    const std::string cpus = f.system.Line(fmt::format("/proc/irq/{}/smp_affinity_list", number));
    // The first CPU of the list serves it: "0-7", "4" or "4,6".
    if (!cpus.empty() && !IsBig(f, std::strtoll(cpus.c_str(), nullptr, 10))) {
      return Warn(fmt::format("interrupt {} is served by a little core (list {})", number, cpus));
    }
  }
  return seen == 0 ? Skip("/proc/interrupts lists no NPU") : Pass("on big cores");
}

Finding Thermal(const Facts& f) {
  const std::string base = "/sys/class/thermal";
  std::string hottest;
  int64_t highest = -1;
  for (const std::string& zone : f.system.List(base)) {
    const std::string type = f.system.Line(fmt::format("{}/{}/type", base, zone));
    if (type.find("npu") == std::string::npos && type.find("bigcore") == std::string::npos) {
      continue;
    }
    const int64_t temperature = f.system.Number(fmt::format("{}/{}/temp", base, zone)).value_or(-1);
    if (temperature > highest) {
      highest = temperature;
      hottest = type;
    }
  }
  if (highest < 0) return Skip("no NPU or big-core sensor");
  const std::string text =
      fmt::format("{} at {:.1f} C", hottest, static_cast<double>(highest) / 1000);
  return highest > kHotMilliCelsius ? Warn(text) : Pass(text);
}

Finding Memory(const Facts& f) {
  const std::string line = FindLine(f.system.Read("/proc/meminfo").value_or(""), {"MemAvailable:"});
  const std::vector<std::string> words = Split(line, ' ');
  const int64_t kib = words.size() > 1 ? std::strtoll(words[1].c_str(), nullptr, 10) : -1;
  if (kib < 0) return Skip("no MemAvailable");
  const std::string limit = f.system.Line("/sys/fs/cgroup/memory.max");
  const int64_t cgroup =
      limit.empty() || limit == "max" ? -1 : std::strtoll(limit.c_str(), nullptr, 10) / 1024;
  if (kib < kLowMemoryKib) return Warn(fmt::format("{} MiB available", kib / 1024));
  if (cgroup >= 0 && cgroup < kLowMemoryKib) {
    return Warn(fmt::format("memory.max = {} MiB", cgroup / 1024));
  }
  return Pass(fmt::format("{} MiB available", kib / 1024));
}

Finding NpuUsed(const Facts&) {
  return Skip("per run: the delegate's line \"claimed n of m nodes\" tells");
}

Finding ColdMeasurement(const Facts&) {
  return {Verdict::kInfo, "the first inference after a pause also pays power-up: do not count it"};
}

constexpr std::string_view kGroup = "performance";
constexpr Check kChecks[] = {
    {"P01", kGroup, "NPU clock", Need::kCores, Clock,
     "a kernel with the clock patch, and rocket_npu_clk_hz=600000000"},
    {"P02", kGroup, "clock limit", Need::kCores, ClockTooHigh,
     "write 600000000 into /sys/module/rocket/parameters/rocket_npu_clk_hz"},
    {"P03", kGroup, "power control", Need::kCores, Pinned, "write auto into power/control"},
    {"P04", kGroup, "autosuspend", Need::kCores, Autosuspend,
     "write 1000 into power/autosuspend_delay_ms, if your load comes in bursts"},
    {"P05", kGroup, "CPU governor", Need::kDriver, Governor,
     "sudo cpupower frequency-set -g performance"},
    {"P06", kGroup, "interrupts", Need::kDriver, Interrupts,
     "write a big core into /proc/irq/N/smp_affinity_list"},
    {"P07", kGroup, "temperature", Need::kDriver, Thermal, "cool the board"},
    {"P08", kGroup, "memory", Need::kDriver, Memory, "free memory, or raise the cgroup's limit"},
    {"P09", kGroup, "NPU used", Need::kDriver, NpuUsed,
     "the reasons are in the explain file (option explain=FILE.json)"},
    {"P10", kGroup, "measuring", Need::kDriver, ColdMeasurement, "discard the first inference"},
};

}  // namespace

std::span<const Check> PerformanceChecks() { return kChecks; }

}  // namespace npu::doctor
