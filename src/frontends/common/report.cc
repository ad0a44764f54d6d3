// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/common/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "gen/version.h"

namespace npu::frontends {
namespace {

// One kind of refusal: how often, and an example for people.
struct Refusal {
  std::string key;
  size_t count = 0;
  std::string text;
};

std::vector<Refusal> Refusals(const ClaimReport& report) {
  std::vector<Refusal> all;
  for (const NodeEntry& node : report.nodes) {
    if (node.claimed) continue;
    const std::string key = fmt::format("{} [{}]", node.op, node.reason);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Refusal& r) { return r.key == key; });
    if (found != all.end()) {
      ++found->count;
    } else {
      all.push_back({key, 1, node.text});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Refusal& a, const Refusal& b) { return a.count > b.count; });
  return all;
}

// "; 3 submits an inference, split by 2 LEAKY_RELU on the host".
std::string Submits(const ClaimReport& report) {
  size_t submits = 0;
  std::map<std::string, uint32_t> splits;
  for (const PartitionEntry& partition : report.partitions) {
    submits += partition.submits;
    for (const auto& [op, count] : partition.splits) splits[op] += count;
  }
  if (submits == 0) return {};
  std::string text = fmt::format("; {} an inference", CountOf(submits, "submit"));
  std::string_view separator = ", split by ";
  for (const auto& [op, count] : splits) {
    text += fmt::format("{}{} {}", separator, count, op);
    separator = ", ";
  }
  if (!splits.empty()) text += " on the host";
  return text;
}

}  // namespace

std::string CountOf(size_t n, std::string_view word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string_view LibraryVersion() { return kVersion; }

size_t ClaimReport::claimed() const {
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const NodeEntry& n) { return n.claimed; }));
}

std::string SummaryLine(const ClaimReport& report, size_t max_reasons) {
  std::string line =
      fmt::format("claimed {} of {} in {}", report.claimed(), CountOf(report.nodes.size(), "node"),
                  CountOf(report.partitions.size(), "partition"));
  line += fmt::format(" on {}", report.device.provider);
  if (!report.device.chip.empty()) line += fmt::format(" {}", report.device.chip);
  line += fmt::format(" (rocket-npu {}, numerics.requant={})", LibraryVersion(),
                      report.options.requant == plan::Requant::kExact ? "exact" : "chip");
  line += Submits(report);
  const std::vector<Refusal> refusals = Refusals(report);
  const size_t shown = std::min(max_reasons, refusals.size());
  for (size_t i = 0; i < shown; ++i) {
    line += fmt::format("{}{} {}: {}", i == 0 ? "; declined: " : "; ", refusals[i].count,
                        refusals[i].key, refusals[i].text);
  }
  if (shown < refusals.size()) {
    line += fmt::format("; and {} (explain=FILE lists all)",
                        CountOf(refusals.size() - shown, "other reason"));
  }
  return line;
}

std::string ProfileText(const PartitionTimes& times) {
  return fmt::format("partition {}: {}, {:.3f} ms each ({:.3f} to {:.3f}), NPU modelled {:.1f} us",
                     times.partition, CountOf(times.runs, "run"), times.mean_ms, times.min_ms,
                     times.max_ms, times.modelled_us);
}

}  // namespace npu::frontends
