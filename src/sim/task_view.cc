// SPDX-License-Identifier: Apache-2.0
#include "src/sim/task_view.h"

#include <algorithm>
#include <utility>

#include "src/regs/command.h"

namespace npu::sim {

void DiagnosticSink::Add(Diagnostic diagnostic) {
  const bool known = std::any_of(list_.begin(), list_.end(), [&](const Diagnostic& d) {
    return d.task == diagnostic.task && d.id == diagnostic.id;
  });
  if (!known) list_.push_back(std::move(diagnostic));
}

bool TaskView::has(regs::Block block) const {
  const std::optional<unsigned> bit = regs::EnableBitOf(block);
  return bit && ((launch_.mask >> *bit) & 1) != 0;
}

unsigned TaskView::Group(regs::Block block) const {
  return launch_.groups[BankedIndex(block).value_or(0)];
}

void TaskView::Report(Severity severity, Verdict verdict, std::string_view id, std::string message,
                      regs::Block block, uint16_t offset) {
  if (verdict > verdict_) {
    verdict_ = verdict;
    reason_ = message;
  }
  Diagnostic d;
  d.id = id;
  d.severity = severity;
  d.task = task_;
  d.message = std::move(message);
  if (BankedIndex(block)) {
    const unsigned group = Group(block);
    const std::optional<WriteOrigin> origin = file_.Origin(block, group, offset);
    if (origin && origin->list == list_) d.command = origin->command;
    if (const regs::RegisterInfo* info = regs::FindRegister(offset)) {
      d.reg = DecodeText(*info, file_.Read(block, group, offset));
      if (!origin) d.reg += ", never written";
      if (origin && origin->list != list_) d.reg += ", inherited from an earlier task";
    }
  }
  sink_->Add(std::move(d));
}

}  // namespace npu::sim
