// SPDX-License-Identifier: Apache-2.0
// rocket-npu: one command, one subcommand a task.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <string_view>

#include "apps/command.h"

namespace npu::apps {
namespace {

constexpr AddCommand kCommands[] = {
#define NPU_COMMAND(name) Add##name,
#include "apps/command_list.inc"
#undef NPU_COMMAND
};

// CLI11 answers a mistyped command with "A subcommand is required": say it better, or nothing.
Status CheckCommand(const CLI::App& app, std::string_view name) {
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return OkStatus();
    known += fmt::format("{}{}", known.empty() ? "" : ", ", command->get_name());
  }
  return {ErrorCode::kInvalidArgument,
          fmt::format("unknown command '{}'; the commands are {}", name, known)};
}

int Main(int argc, char** argv) {
  CLI::App app("Tools for Rockchip NPUs and their simulator", "rocket-npu");
  app.set_version_flag("--version", "rocket-npu " NPU_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands");
  int exit_code = kExitOk;
  for (const AddCommand add : kCommands) add(app, &exit_code);
  if (argc > 1 && argv[1][0] != '-') {
    if (const Status status = CheckCommand(app, argv[1]); !status.ok()) return ReportError(status);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitError;
  }
  return exit_code;
}

}  // namespace

int ReportError(const Status& status) {
  fmt::print(stderr, "rocket-npu: {}\n", status.message());
  return kExitError;
}

}  // namespace npu::apps

int main(int argc, char** argv) { return npu::apps::Main(argc, argv); }
