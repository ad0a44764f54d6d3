// SPDX-License-Identifier: Apache-2.0
#include "src/sim/diagnostics.h"

#include <algorithm>

namespace npu::sim {

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kWarning:
      return "warning";
    case Severity::kProgramError:
      return "error";
    case Severity::kUnimplemented:
      return "unimplemented";
    case Severity::kInternal:
      break;
  }
  return "internal";
}

std::string ToString(const Diagnostic& d) {
  std::string text = std::string(ToString(d.severity)) + " " + std::string(d.id) + " task " +
                     std::to_string(d.task);
  if (d.command) text += " command " + std::to_string(*d.command);
  text += ": " + d.message;
  if (!d.reg.empty()) text += " [" + d.reg + "]";
  return text;
}

bool HasErrors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity != Severity::kWarning; });
}

}  // namespace npu::sim
