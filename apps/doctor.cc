// SPDX-License-Identifier: Apache-2.0
// rocket-npu doctor: what stands between this machine and its NPU.
#include "src/doctor/doctor.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"

namespace npu::apps {
namespace {

struct DoctorOptions {
  std::string root, library, baseline;
  bool json = false, all = false;
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
  const doctor::Report report = doctor::Examine(std::move(facts), {});
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
  command->add_option("--root", options->root,
                      "Examine a tree of files instead of this machine (see docs/doctor.md)");
  command->add_option("--library", options->library,
                      "The delegate to check; default: the one built with this program");
  command->add_option("--baseline", options->baseline,
                      "An earlier --json report, to notice a changed kernel");
  command->footer("Exit code: 0 healthy, 1 problems, 2 nothing to check or could not check.");
  command->callback([options, exit_code] { *exit_code = RunDoctor(*options); });
}

}  // namespace npu::apps
