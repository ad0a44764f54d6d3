// SPDX-License-Identifier: Apache-2.0
// rocket-npu doctor: what stands between this machine and its NPU.
#include "src/doctor/doctor.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command.h"
#include "apps/selftest.h"

namespace npu::apps {
namespace {

struct DoctorOptions {
  std::string root, library, baseline;
  bool json = false, all = false, selftest = false;
};

// The delegate that was built with this program, if it is where a build or an installation puts it.
std::string FindLibrary() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path beside =
      self.parent_path().parent_path() / "lib" / "libtflite_rocket.so";
  return std::filesystem::exists(beside, error) ? beside.string() : std::string();
}

doctor::Finding FindingOf(const selftest::StepResult& step) {
  doctor::Finding finding{doctor::Verdict::kSkip, step.evidence};
  if (step.verdict == selftest::Verdict::kPass) finding.verdict = doctor::Verdict::kPass;
  if (step.verdict == selftest::Verdict::kFail) finding.verdict = doctor::Verdict::kFail;
  return finding;
}

// S8: what the kernel log gained while the self-test ran.
doctor::Finding LogFinding(int before, int after) {
  if (before < 0 || after < 0) return {doctor::Verdict::kSkip, "the kernel log is not readable"};
  if (after > before) {
    return {doctor::Verdict::kFail, fmt::format("{} new timeouts or faults", after - before)};
  }
  return {doctor::Verdict::kPass, "no new timeout or fault"};
}

// The rows S1 to S8. Submits work, unlike everything else here.
std::vector<doctor::Finding> SelfTest(const doctor::System& system) {
  const int before = doctor::CountDeviceErrors(system);
  selftest::Options options = SelfTestDefaults("auto", "rk3588", "");
  options.micro_tests = false;
  const auto report = selftest::Run(options);
  std::vector<doctor::Finding> findings;
  for (const doctor::Check& check : doctor::SelfTestChecks()) {
    doctor::Finding finding{doctor::Verdict::kSkip, "not run"};
    if (!report.ok()) finding = {doctor::Verdict::kFail, report.status().message()};
    if (report.ok()) {
      for (const selftest::StepResult& step : report->steps) {
        if (step.id == check.id) finding = FindingOf(step);
      }
    }
    findings.push_back(std::move(finding));
    if (!report.ok()) return findings;  // one line is enough: nothing ran
  }
  findings.back() = LogFinding(before, doctor::CountDeviceErrors(system));
  return findings;
}

int RunDoctor(const DoctorOptions& options) {
  if (!options.root.empty() && !std::filesystem::is_directory(options.root)) {
    return ReportError({ErrorCode::kNotFound, fmt::format("{}: no such directory", options.root)});
  }
  const doctor::System system(options.root);
  doctor::Facts facts =
      doctor::Gather(system, options.library.empty() ? FindLibrary() : options.library);
  if (!options.baseline.empty()) {
    const auto text = doctor::System().Read(options.baseline, size_t{16} << 20);
    if (text) facts.baseline_release = doctor::BaselineRelease(*text);
    if (facts.baseline_release.empty()) {
      return ReportError(
          {ErrorCode::kCorruptData, fmt::format("{}: no report of the doctor", options.baseline)});
    }
  }
  std::vector<doctor::Finding> self_test;
  // Without a node that answers there is nothing to submit to: the other checks say why.
  if (options.selftest && facts.rocket) self_test = SelfTest(system);
  const doctor::Report report = doctor::Examine(std::move(facts), std::move(self_test));
  fmt::print("{}",
             options.json ? doctor::JsonReport(report) : doctor::TextReport(report, options.all));
  return report.exit_code();
}

}  // namespace

void AddDoctor(CLI::App& parent, int* exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = parent.add_subcommand(
      "doctor", "Check device, access, kernel, speed and libraries, and say what to do");
  command->add_flag("--json", options->json, "Print JSON (format 1) instead of text");
  command->add_flag("--all", options->all, "Also show every skipped check on a line of its own");
  CLI::Option* selftest =
      command->add_flag("--selftest", options->selftest, "Also run the self-test on the NPU");
  command
      ->add_option("--root", options->root,
                   "Examine a tree of files instead of this machine (see docs/doctor.md)")
      ->excludes(selftest);
  command->add_option("--library", options->library,
                      "The delegate to check; default: the one built with this program");
  command->add_option("--baseline", options->baseline,
                      "An earlier --json report, to notice a changed kernel");
  command->footer("Exit code: 0 healthy, 1 problems, 2 nothing to check or could not check.");
  command->callback([options, exit_code] { *exit_code = RunDoctor(*options); });
}

}  // namespace npu::apps
