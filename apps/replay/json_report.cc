// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "apps/replay/replay.h"

namespace npu::replay {
namespace {

const char* StatusName(CaseStatus status) {
  switch (status) {
    case CaseStatus::kPassed:
      return "passed";
    case CaseStatus::kFailed:
      return "failed";
    case CaseStatus::kSkipped:
      break;
  }
  return "skipped";
}

}  // namespace

std::string JsonReport(const std::vector<CaseResult>& results, const Options& options) {
  const Summary summary = Count(results);
  nlohmann::ordered_json report = {
      {"format", 1},
      {"chip", options.chip},
      {"path", options.path == sim::Path::kFast ? "fast" : "clear"},
      {"passed", summary.passed},
      {"failed", summary.failed},
      {"skipped", summary.skipped},
      {"cases", nlohmann::ordered_json::array()},
  };
  for (const CaseResult& result : results) {
    report["cases"].push_back({
        {"name", result.name},
        {"family", result.family},
        {"outcome", result.outcome},
        {"kernel", result.kernel},
        {"status", StatusName(result.status)},
        {"reason", result.reason},
        {"kicks", result.kicks},
        {"tasks", result.tasks},
        {"macs", result.macs},
        {"modelled_us", result.modelled_us},
        {"seconds", result.seconds},
        {"diagnostics", result.diagnostics},
    });
  }
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace npu::replay
