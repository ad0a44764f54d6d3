// SPDX-License-Identifier: Apache-2.0
// The subcommands of rocket-npu. To add one: a file apps/<name>.cc that defines Add<Name>, and a
// line in apps/command_list.inc.
#ifndef APPS_COMMAND_H_
#define APPS_COMMAND_H_

#include "npu/status.h"

namespace CLI {
class App;
}

namespace npu::apps {

// Exit codes of every subcommand.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // it ran, and what it tested or converted is wrong
inline constexpr int kExitError = 2;   // it could not run: bad arguments, unreadable files

// Adds the subcommand and its options to `parent`; its callback sets *exit_code. Strings and flags
// of the options live in objects owned by the callback.
using AddCommand = void (*)(CLI::App& parent, int* exit_code);

#define NPU_COMMAND(name) void Add##name(CLI::App& parent, int* exit_code);
#include "apps/command_list.inc"
#undef NPU_COMMAND

// "rocket-npu: MESSAGE" on stderr; returns kExitError.
int ReportError(const Status& status);

}  // namespace npu::apps

#endif  // APPS_COMMAND_H_
