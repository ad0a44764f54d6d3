// SPDX-License-Identifier: Apache-2.0
// rocket-npu selftest: cases and open questions on a device, compared with the simulator.
#include "apps/selftest.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "src/device/open.h"

namespace npu::apps {
namespace {

struct SelfTestOptions {
  std::string device = "auto", chip = "rk3588", golden, json;
  std::vector<std::string> cases;
  int runs = 200;
  bool list = false, all = false, allow_hangs = false, no_questions = false;
};

Status Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return OkStatus();
  return {ErrorCode::kIoError, fmt::format("{}: cannot write: {}", path, std::strerror(errno))};
}

int RunSelfTest(const SelfTestOptions& options) {
  selftest::Options run = SelfTestDefaults(options.device, options.chip, options.golden);
  run.filters = options.cases;
  run.runs = options.runs;
  run.allow_hangs = options.allow_hangs;
  run.micro_tests = !options.no_questions;
  if (!options.golden.empty() && run.golden.empty()) {
    return ReportError({ErrorCode::kNotFound, fmt::format("{}: no golden cases of the {}",
                                                          options.golden, options.chip)});
  }
  if (options.list) {
    const auto names = selftest::List(run);
    if (!names.ok()) return ReportError(names.status());
    fmt::print("{}", *names);
    return kExitOk;
  }
  const auto report = selftest::Run(run);
  if (!report.ok()) return ReportError(report.status());
  const std::string json = selftest::JsonReport(*report);
  if (options.json == "-") {
    fmt::print("{}", json);
  } else {
    fmt::print("{}", selftest::TextReport(*report, options.all));
    if (!options.json.empty()) {
      if (const Status status = Write(options.json, json); !status.ok()) return ReportError(status);
    }
  }
  return report->healthy() ? kExitOk : kExitFailed;
}

}  // namespace

selftest::Options SelfTestDefaults(const std::string& device, const std::string& chip,
                                   const std::string& golden) {
  selftest::Options options;
  options.open = [device, chip](selftest::Mode mode) {
    device::OpenOptions open;
    open.provider = device;
    open.chip = chip;
    open.strict = mode == selftest::Mode::kCases;
    open.completes_ppu = mode != selftest::Mode::kStockKernel;
    // A hang must be told from a slow simulated node: these programs take microseconds.
    if (mode == selftest::Mode::kStockKernel) open.time_scale = 1;
    open.can_chain = true;
    return device::Open(open);
  };
  options.reference = [chip](selftest::Mode mode) {
    device::OpenOptions open;
    open.provider = "sim";
    open.chip = chip;
    open.strict = mode == selftest::Mode::kCases;
    open.completes_ppu = mode != selftest::Mode::kStockKernel;
    open.can_chain = true;
    open.sim_fast = false;  // the definition, whatever the device under test runs
    return device::Open(open);
  };
  std::vector<std::filesystem::path> places = {golden};
  if (golden.empty()) places = {"tests/golden", "../shared"};
  options.golden = selftest::FindGolden(places, chip);
  return options;
}

void AddSelfTest(CLI::App& parent, int* exit_code) {
  auto options = std::make_shared<SelfTestOptions>();
  CLI::App* command = parent.add_subcommand(
      "selftest", "Run cases and open questions on a device and compare with the simulator");
  command->add_option("--device", options->device, "As the delegate's option device=")
      ->capture_default_str();
  command->add_option("--chip", options->chip, "Which chip device=sim stands for")
      ->capture_default_str();
  command->add_option("--golden", options->golden,
                      "Golden cases; default: tests/golden or ../shared, if there");
  command->add_option("--case", options->cases,
                      "Only cases, steps (S1 to S7) and questions whose name contains this");
  command->add_option("--json", options->json, "Write a report to FILE ('-': instead of the text)")
      ->type_name("FILE");
  command->add_option("--runs", options->runs, "Runs of the timed case")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_flag("--list", options->list, "Print what could run");
  command->add_flag("--all", options->all, "Print every case, not only those that failed");
  command->add_flag("--no-questions", options->no_questions, "Leave out the open questions");
  command->add_flag("--allow-hangs", options->allow_hangs,
                    "On a board also ask questions that may end in the kernel's timeout");
  command->footer("Exit code: 0 healthy, 1 something failed, 2 no device.");
  command->callback([options, exit_code] { *exit_code = RunSelfTest(*options); });
}

}  // namespace npu::apps
