// SPDX-License-Identifier: Apache-2.0
// What the simulator has to say about a command stream. Every finding has a stable id, so that
// tests and users can name it; docs/hardware/diagnostics.md lists them.
#ifndef SRC_SIM_DIAGNOSTICS_H_
#define SRC_SIM_DIAGNOSTICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::sim {

enum class Severity : uint8_t {
  kWarning,        // silicon runs it; it matches a documented trap or rests on something unmeasured
  kProgramError,   // silicon hangs, faults or computes something wrong
  kUnimplemented,  // the model does not cover it (yet); nothing is guessed
  kInternal,       // a bug of the simulator
};

struct Diagnostic {
  std::string_view id;  // "cna.data_banks", static storage
  Severity severity = Severity::kProgramError;
  uint32_t task = 0;                // index in the kick
  std::optional<uint32_t> command;  // index of the word in the task's list that wrote the register
  std::string reg;      // decoded register, "CNA.CBUF_CON0 = 0x00000093 {...}", or empty
  std::string message;  // what is wrong, and what silicon does
};

// "error cna.data_banks task 0 command 17: ... [CNA.CBUF_CON0 = ...]"
std::string ToString(const Diagnostic& diagnostic);
std::string_view ToString(Severity severity);

// True if any of them is worse than a warning.
bool HasErrors(const std::vector<Diagnostic>& diagnostics);

}  // namespace npu::sim

#endif  // SRC_SIM_DIAGNOSTICS_H_
