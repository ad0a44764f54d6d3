// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/doctor/doctor.h"

namespace npu::doctor {
namespace {

std::string Heading(std::string_view group) {
  if (group == "device") return "Is there an NPU?";
  if (group == "access") return "May this user use it?";
  if (group == "kernel") return "Is the kernel's side well?";
  if (group == "performance") return "Is it fast?";
  if (group == "userspace") return "Do our libraries fit?";
  return "Does it compute?";
}

std::string Machine(const Facts& f) {
  std::string out =
      fmt::format("rocket-npu doctor: {}, Linux {}, {}\n",
                  f.model.empty() ? "this machine" : f.model, f.release, f.architecture);
  if (f.chip != nullptr) out += fmt::format("  chip  {}\n", f.chip->name);
  if (f.rocket) {
    out += fmt::format("  node  {}, driver rocket {}.{}.{}\n", f.rocket->path, f.rocket->major,
                       f.rocket->minor, f.rocket->patch);
  } else if (f.vendor) {
    out += fmt::format("  node  {}, driver rknpu\n", f.vendor->path);
  }
  return out;
}

// The rows of one group.
struct Group {
  std::string shown;
  std::vector<std::pair<std::string, std::string>> skipped;  // reason, ids

  void Add(const Row& row, bool all) {
    if (row.finding.verdict == Verdict::kSkip && !all && row.check->id != "D01") {
      Skip(row);
      return;
    }
    shown += fmt::format("  {}  {:<3}  {:<17} {}\n", ToString(row.finding.verdict), row.check->id,
                         row.check->title, row.finding.evidence);
    if (const std::string fix = row.fix(); !fix.empty()) {
      shown += fmt::format("             {:<17} -> {}\n", "", fix);
    }
  }

 private:
  // "after D04: D05 D06", in the order of the table.
  void Skip(const Row& row) {
    const auto at = std::find_if(skipped.begin(), skipped.end(),
                                 [&](const auto& s) { return s.first == row.finding.evidence; });
    if (at != skipped.end()) {
      at->second += fmt::format(" {}", row.check->id);
    } else {
      skipped.emplace_back(row.finding.evidence, row.check->id);
    }
  }
};

}  // namespace

std::string TextReport(const Report& report, bool all) {
  std::string out = Machine(report.facts);
  size_t hidden = 0;
  for (size_t i = 0; i < report.rows.size();) {
    const std::string_view name = report.rows[i].check->group;
    const size_t first = i;
    Group group;
    for (; i < report.rows.size() && report.rows[i].check->group == name; ++i) {
      group.Add(report.rows[i], all);
    }
    // Without a driver nearly everything is skipped for that reason: say so once.
    if (!report.facts.has_driver() && report.facts.chip == nullptr && !all) {
      hidden +=
          i - first - static_cast<size_t>(std::count(group.shown.begin(), group.shown.end(), '\n'));
      group.skipped.clear();
      if (group.shown.empty()) continue;
    } else if (group.shown.empty() && group.skipped.size() == 1) {
      out +=
          fmt::format("\n{}\n  skip  {} to {} ({})\n", Heading(name), report.rows[first].check->id,
                      report.rows[i - 1].check->id, group.skipped[0].first);
      continue;
    }
    out += fmt::format("\n{}\n{}", Heading(name), group.shown);
    for (const auto& [reason, ids] : group.skipped) {
      out += fmt::format("  skip  {} ({})\n", ids, reason);
    }
  }
  if (hidden != 0)
    out += fmt::format("\n{} other checks do not apply (--all lists them).\n", hidden);
  return out + fmt::format("\n{}\n", report.summary);
}

}  // namespace npu::doctor
