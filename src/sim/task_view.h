// SPDX-License-Identifier: Apache-2.0
// The registers of one launch as its blocks see them, and the verdict on the launch: every check
// reports through it, so that each finding carries the register and the command that wrote it.
#ifndef SRC_SIM_TASK_VIEW_H_
#define SRC_SIM_TASK_VIEW_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gen/rk3588/registers.h"

#include "src/sim/diagnostics.h"
#include "src/sim/register_file.h"

namespace npu::sim {

// Collects the findings of a kick; of the same id in the same task only the first.
class DiagnosticSink {
 public:
  void Add(Diagnostic diagnostic);
  std::vector<Diagnostic> Take() { return std::move(list_); }
  const std::vector<Diagnostic>& list() const { return list_; }

 private:
  std::vector<Diagnostic> list_;
};

// One ENABLE word: the blocks it starts and the group each of them runs.
struct Launch {
  uint32_t mask = 0;  // by BlockInfo::enable_bit
  std::array<unsigned, 6> groups = {};
};

// What becomes of a launch, from harmless to fatal; the worst finding decides.
enum class Verdict : uint8_t {
  kRun,
  kGarbage,  // completes on silicon with wrong bytes nobody knows: the model writes none
  kHang,
  kFault,
  kUnimplemented,
};

// One launched task as the blocks see it: its registers, and where findings about it go.
class TaskView {
 public:
  TaskView(const RegisterFile& file, const Launch& launch, uint32_t task, uint64_t list,
           DiagnosticSink* sink)
      : file_(file), launch_(launch), task_(task), list_(list), sink_(sink) {}

  bool has(regs::Block block) const;
  const RegisterFile& file() const { return file_; }

  template <typename Reg>
  Reg Get() const {
    return regs::rk3588::Decode<Reg>(file_.Read(Reg::kBlock, Group(Reg::kBlock), Reg::kOffset));
  }

  template <typename Reg>
  void Warn(std::string_view id, const std::string& message) {
    Report(Severity::kWarning, Verdict::kRun, id, message, Reg::kBlock, Reg::kOffset);
  }
  template <typename Reg>
  void Garbage(std::string_view id, const std::string& message) {
    Report(Severity::kProgramError, Verdict::kGarbage, id, message, Reg::kBlock, Reg::kOffset);
  }
  // Silicon runs it and the model imitates it, but the result is not what anybody wants.
  template <typename Reg>
  void Wrong(std::string_view id, const std::string& message) {
    Report(Severity::kProgramError, Verdict::kRun, id, message, Reg::kBlock, Reg::kOffset);
  }
  template <typename Reg>
  void Hang(std::string_view id, const std::string& message) {
    Report(Severity::kProgramError, Verdict::kHang, id, message, Reg::kBlock, Reg::kOffset);
  }
  template <typename Reg>
  void Fault(std::string_view id, const std::string& message) {
    Report(Severity::kProgramError, Verdict::kFault, id, message, Reg::kBlock, Reg::kOffset);
  }
  // `id` is "unimplemented.<feature>"; `feature` its name in words.
  template <typename Reg>
  void Unimplemented(bool condition, std::string_view id, std::string_view feature) {
    if (!condition) return;
    Report(Severity::kUnimplemented, Verdict::kUnimplemented, id, std::string(feature), Reg::kBlock,
           Reg::kOffset);
  }

  Verdict verdict() const { return verdict_; }
  const std::string& reason() const { return reason_; }  // of the worst finding
  bool runs() const { return verdict_ == Verdict::kRun; }

 private:
  unsigned Group(regs::Block block) const;
  void Report(Severity severity, Verdict verdict, std::string_view id, std::string message,
              regs::Block block, uint16_t offset);

  const RegisterFile& file_;
  const Launch launch_;
  const uint32_t task_;
  const uint64_t list_;
  DiagnosticSink* const sink_;
  Verdict verdict_ = Verdict::kRun;
  std::string reason_;
};

}  // namespace npu::sim

#endif  // SRC_SIM_TASK_VIEW_H_
