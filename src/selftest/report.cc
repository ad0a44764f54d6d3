// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/selftest/selftest.h"

namespace npu::selftest {
namespace {

std::string_view Tag(Verdict verdict) {
  if (verdict == Verdict::kSkip) return "skip";
  return verdict == Verdict::kPass ? "PASS" : "FAIL";
}

std::string CaseLines(const Report& report, bool all) {
  std::string out;
  for (const CaseResult& c : report.cases) {
    if (c.verdict == Verdict::kPass && !all) continue;
    if (c.verdict == Verdict::kSkip && !all) continue;
    out += fmt::format(
        "  {}  {:<36} {}\n", Tag(c.verdict), c.name,
        c.verdict == Verdict::kPass
            ? fmt::format("{} bytes, {} kicks, {:.2f} ms", c.compared, c.kicks, c.milliseconds)
            : c.reason);
    if (c.unspecified != 0) {
      out += fmt::format(
          "        {:<36} {} bytes that no check specifies differ from the "
          "simulator\n",
          "", c.unspecified);
    }
  }
  return out;
}

}  // namespace

std::string TextReport(const Report& report, bool all) {
  std::string out = fmt::format("rocket-npu selftest: {} ({})\n", report.device.provider,
                                report.device.description);
  out += report.golden.empty() ? "  golden cases: none found, built-in ones only (--golden DIR)\n\n"
                               : fmt::format("  golden cases: {}\n\n", report.golden);
  for (const StepResult& step : report.steps) {
    out +=
        fmt::format("  {}  {}  {:<18} {}\n", Tag(step.verdict), step.id, step.title, step.evidence);
  }
  if (const std::string lines = CaseLines(report, all); !lines.empty()) {
    out += fmt::format("\nCases\n{}", lines);
  }
  if (!report.answers.empty()) {
    out += report.device.simulated ? "\nOpen questions (a simulator only confirms itself)\n"
                                   : "\nOpen questions\n";
  }
  for (const MicroResult& answer : report.answers) {
    out += fmt::format("  open question {}: {}: {}\n", answer.id, ToString(answer.answer),
                       answer.text);
  }
  out += fmt::format("\n{}: {} cases passed, {} failed, {} skipped\n",
                     report.healthy() ? "Healthy" : "NOT healthy", report.Count(Verdict::kPass),
                     report.Count(Verdict::kFail), report.Count(Verdict::kSkip));
  return out;
}

std::string JsonReport(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"format", 1},
               {"device",
                {{"provider", report.device.provider},
                 {"chip", report.device.chip},
                 {"description", report.device.description},
                 {"simulated", report.device.simulated},
                 {"can_chain", report.device.can_chain},
                 {"cores", report.device.cores}}},
               {"golden", report.golden},
               {"healthy", report.healthy()},
               {"passed", report.Count(Verdict::kPass)},
               {"failed", report.Count(Verdict::kFail)},
               {"skipped", report.Count(Verdict::kSkip)},
               {"steps", Json::array()},
               {"cases", Json::array()},
               {"answers", Json::array()}};
  for (const StepResult& step : report.steps) {
    json["steps"].push_back({{"id", step.id},
                             {"title", step.title},
                             {"verdict", ToString(step.verdict)},
                             {"evidence", step.evidence}});
  }
  for (const CaseResult& c : report.cases) {
    json["cases"].push_back({{"name", c.name},
                             {"source", c.source},
                             {"verdict", ToString(c.verdict)},
                             {"reason", c.reason},
                             {"compared_bytes", c.compared},
                             {"differing_bytes", c.differing},
                             {"unspecified_differing_bytes", c.unspecified},
                             {"kicks", c.kicks},
                             {"milliseconds", c.milliseconds},
                             {"modelled_us", c.modelled_us}});
  }
  for (const MicroResult& answer : report.answers) {
    json["answers"].push_back(
        {{"question", answer.id}, {"answer", ToString(answer.answer)}, {"text", answer.text}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace npu::selftest
