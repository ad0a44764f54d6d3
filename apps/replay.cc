// SPDX-License-Identifier: Apache-2.0
// rocket-npu replay: golden cases and saved jobs on the simulator.
#include "apps/replay/replay.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "src/chip/profile.h"

namespace npu::apps {
namespace {

struct ReplayOptions {
  std::vector<std::string> paths;
  std::string json, path = "clear", chip = "rk3588";
  unsigned threads = 0;
  bool verbose = false;
};

Status WriteText(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
    return OkStatus();
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return OkStatus();
  return {ErrorCode::kIoError, fmt::format("{}: cannot write: {}", path, std::strerror(errno))};
}

// Where the report goes to the standard output, the lines for people go to the standard error.
void PrintLines(const std::vector<replay::CaseResult>& results, bool verbose, std::FILE* out) {
  std::map<std::string, int> skipped;
  for (const replay::CaseResult& result : results) {
    if (result.status == replay::CaseStatus::kFailed) {
      fmt::print(out, "failed {}: {}\n", result.name, result.reason);
    } else if (result.status == replay::CaseStatus::kSkipped) {
      ++skipped[result.reason];
      if (verbose) fmt::print(out, "skipped {}: {}\n", result.name, result.reason);
    } else if (verbose) {
      fmt::print(out, "passed {} (kernel: {})\n", result.name, result.kernel);
    }
    if (!verbose) continue;
    for (const std::string& text : result.diagnostics) fmt::print(out, "    {}\n", text);
  }
  for (const auto& [feature, count] : skipped) {
    fmt::print(out, "{} skipped for: {}\n", count, feature);
  }
  fmt::print(out, "{}\n", replay::ToString(replay::Count(results)));
}

int Run(const ReplayOptions& options) {
  if (chip::FindChip(options.chip) == nullptr) {
    std::string known;
    for (const chip::Profile* chip : chip::AllChips()) known += fmt::format(" {}", chip->name);
    return ReportError({ErrorCode::kInvalidArgument,
                        fmt::format("unknown chip '{}'; known:{}", options.chip, known)});
  }
  const auto cases = replay::FindCases(options.paths);
  if (!cases.ok()) return ReportError(cases.status());
  WorkerPool pool(options.threads);
  replay::Options run;
  run.chip = options.chip;
  run.path = options.path == "fast" ? sim::Path::kFast : sim::Path::kClear;
  run.pool = &pool;
  const std::vector<replay::CaseResult> results = replay::RunCases(*cases, run);
  if (!options.json.empty()) {
    const Status status = WriteText(options.json, replay::JsonReport(results, run));
    if (!status.ok()) return ReportError(status);
  }
  PrintLines(results, options.verbose, options.json == "-" ? stderr : stdout);
  return replay::Count(results).failed == 0 ? kExitOk : kExitFailed;
}

}  // namespace

void AddReplay(CLI::App& parent, int* exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = parent.add_subcommand(
      "replay", "Run golden cases and saved jobs on the simulator and check their results");
  command->add_option("PATH", options->paths, "Case directories, saved jobs, directories of them")
      ->required();
  command->add_option("--json", options->json, "Write a report to FILE ('-': standard output)")
      ->type_name("FILE");
  command->add_option("--path", options->path, "Which implementation of the datapath")
      ->check(CLI::IsMember({"clear", "fast"}))
      ->capture_default_str();
  command->add_option("--chip", options->chip, "Cases of other chips are skipped")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of the fast path (0: all cores)")
      ->check(CLI::Range(0u, 64u));
  command->add_flag("-v,--verbose", options->verbose, "Print every case and its diagnostics");
  command->callback([options, exit_code] { *exit_code = Run(*options); });
}

}  // namespace npu::apps
