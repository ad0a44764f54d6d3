// SPDX-License-Identifier: Apache-2.0
#include "src/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace npu::doctor {
namespace {

constexpr std::string_view kSimHint = "device=sim runs the simulated NPU";

// Why a check cannot run; empty if it can.
std::string Missing(const Facts& f, Need need) {
  switch (need) {
    case Need::kNothing:
      return {};
    case Need::kBoard:
      return f.chip != nullptr || f.has_driver() ? "" : "no Rockchip board";
    case Need::kDriver:
      return f.has_driver() ? "" : "no NPU driver";
    case Need::kRocket:
      return f.rocket ? "" : "no node answers as rocket";
    case Need::kVendor:
      return f.vendor ? "" : "not a BSP kernel";
    case Need::kCores:
      return f.cores.empty() ? "no core is bound to rocket" : "";
    case Need::kLog:
      if (!f.has_driver()) return "no NPU driver";
      return f.log ? "" : "the kernel log is not readable (K17)";
  }
  return {};
}

void RunGroup(const Facts& facts, std::span<const Check> checks, std::vector<Row>* rows) {
  std::string_view failed;
  for (const Check& check : checks) {
    Row row{&check, {}};
    std::string missing = Missing(facts, check.need);
    if (!failed.empty()) {
      row.finding = {Verdict::kSkip, fmt::format("after {}", failed)};
    } else if (!missing.empty()) {
      row.finding = {Verdict::kSkip, std::move(missing)};
    } else {
      row.finding = check.probe(facts);
    }
    if (row.finding.verdict == Verdict::kFail) failed = check.id;
    rows->push_back(std::move(row));
  }
}

const Row* First(const Report& report, Verdict verdict) {
  const auto at = std::find_if(report.rows.begin(), report.rows.end(),
                               [&](const Row& row) { return row.finding.verdict == verdict; });
  return at == report.rows.end() ? nullptr : &*at;
}

size_t Count(const Report& report, Verdict verdict) {
  return static_cast<size_t>(
      std::count_if(report.rows.begin(), report.rows.end(),
                    [&](const Row& row) { return row.finding.verdict == verdict; }));
}

std::string Plural(size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

void Summarise(Report* report) {
  const Facts& f = report->facts;
  const Row* fail = First(*report, Verdict::kFail);
  if (f.chip == nullptr && !f.has_driver()) {
    report->health = Health::kUnknown;
    report->summary = fmt::format("No NPU on this machine. Models run on the CPU; {}.", kSimHint);
    if (fail != nullptr) {
      report->summary += fmt::format(" {} needs attention: {}", fail->check->id, fail->fix());
    }
    return;
  }
  if (fail != nullptr) {
    report->health = Health::kProblems;
    report->summary =
        fmt::format("{}. Next, for {}: {}", Plural(Count(*report, Verdict::kFail), "problem"),
                    fail->check->id, fail->fix());
    return;
  }
  if (!f.rocket) {
    report->health = f.vendor ? Health::kProblems : Health::kUnknown;
    report->summary = f.vendor
                          ? fmt::format(
                                "The NPU answers through the BSP driver, which this "
                                "release does not drive; {}.",
                                kSimHint)
                          : fmt::format("No NPU answers, and no check says why; {}.", kSimHint);
    return;
  }
  report->health = Health::kHealthy;
  const size_t warnings = Count(*report, Verdict::kWarn);
  report->summary =
      warnings == 0 ? "Healthy." : fmt::format("Healthy, {}.", Plural(warnings, "warning"));
  const bool tested = std::any_of(report->rows.begin(), report->rows.end(), [](const Row& row) {
    return row.check->group == SelfTestChecks().front().group &&
           row.finding.verdict == Verdict::kPass;
  });
  report->summary += tested ? " device=auto uses this NPU." : " Next: rocket-npu selftest";
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "PASS";
    case Verdict::kInfo:
      return "INFO";
    case Verdict::kWarn:
      return "WARN";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kSkip:
      break;
  }
  return "SKIP";
}

std::string Row::fix() const {
  if (finding.verdict != Verdict::kWarn && finding.verdict != Verdict::kFail) return {};
  return finding.fix.empty() ? std::string(check->remedy) : finding.fix;
}

int Report::exit_code() const { return static_cast<int>(health); }

Report Examine(Facts facts, std::vector<Finding> self_test) {
  Report report;
  report.facts = std::move(facts);
  for (const auto checks :
       {DeviceChecks(), AccessChecks(), KernelChecks(), PerformanceChecks(), UserspaceChecks()}) {
    RunGroup(report.facts, checks, &report.rows);
  }
  for (size_t i = 0; i < SelfTestChecks().size(); ++i) {
    const bool ran = i < self_test.size();
    report.rows.push_back(
        {&SelfTestChecks()[i],
         ran ? std::move(self_test[i]) : Finding{Verdict::kSkip, "not asked for (--selftest)"}});
  }
  Summarise(&report);
  return report;
}

int CountDeviceErrors(const System& system) {
  std::string error;
  const std::optional<std::string> log = system.KernelLog(&error);
  if (!log) return -1;
  int count = 0;
  for (const std::string& line : Split(*log, '\n')) {
    const bool ours = line.find("NPU job timed out") != std::string::npos ||
                      line.find("Page fault at") != std::string::npos;
    count += ours ? 1 : 0;
  }
  return count;
}

}  // namespace npu::doctor
