// SPDX-License-Identifier: Apache-2.0
#include "src/plan/jobs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/cost/model.h"

namespace npu::plan {
namespace {

// The kernel gives a job 500 ms, all its tasks together, whatever the clock: 200 ms at the 200 MHz
// of a stock kernel leaves room for a shared memory bus (kernel-interfaces A.12, E.4).
constexpr double kMaxJobUs = 200e3;
constexpr double kSlowestClockMhz = 200;

std::vector<cost::TaskTerms> TermsOf(const NpuOp& op) {
  std::vector<cost::TaskTerms> terms;
  for (const encode::TaskProgram& task : op.op->tasks) terms.push_back(task.terms);
  return terms;
}

double KicksUs(const cost::Model& model, const std::vector<cost::TaskTerms>& tasks) {
  double us = 0.0;
  for (const cost::TaskTerms& task : tasks) us += model.KickUs({&task, 1});
  return us;
}

// One operation is never split: its time is bounded by the largest layer a partition may have.
std::vector<NpuStep> SplitStep(NpuStep step, const cost::Model& slow, const chip::Profile& chip) {
  std::vector<NpuStep> parts(1);
  double us = 0.0;
  size_t tasks = 0;
  for (NpuOp& op : step.ops) {
    const double op_us = KicksUs(slow, TermsOf(op));
    const bool full =
        us + op_us > kMaxJobUs || tasks + op.op->tasks.size() > chip.memory.tasks_per_kick_max;
    if (full && !parts.back().ops.empty()) {
      parts.emplace_back();
      us = 0.0;
      tasks = 0;
    }
    us += op_us;
    tasks += op.op->tasks.size();
    parts.back().ops.push_back(std::move(op));
  }
  return parts;
}

// Chained tasks with raw integer sums computed only their first task right on silicon
// (kernel-interfaces B.2, G.6); tasks that return to 8 bits are the vendor's normal mode. What the
// end of a kick raises that has tasks of the pooling unit is not known (open question
// chain_ends_in_pool).
bool MayChain(const NpuStep& step) {
  size_t tasks = 0;
  for (const NpuOp& op : step.ops) {
    if (op.op->output.element_bytes != 1) return false;
    if (std::holds_alternative<encode::SiliconPool>(op.op->silicon)) return false;
    tasks += op.op->tasks.size();
  }
  return tasks > 1;
}

void ModelStep(const NpuStep& step, const cost::Model& model, CompiledProgram* program) {
  std::vector<cost::TaskTerms> all;
  double kicks_us = 0.0;
  for (const NpuOp& op : step.ops) {
    const std::vector<cost::TaskTerms> terms = TermsOf(op);
    const double op_us = KicksUs(model, terms);
    program->reports[static_cast<size_t>(op.node)].modelled_us = op_us;
    kicks_us += op_us;
    all.insert(all.end(), terms.begin(), terms.end());
  }
  const auto tasks = static_cast<uint32_t>(all.size());
  const double stock_us = model.SubmitUs(model.JobUs(kicks_us, tasks), 0, 0);
  program->modelled_us += stock_us;
  program->modelled_chained_us +=
      step.chainable ? model.SubmitUs(model.JobUs(model.KickUs(all), 1), 0, 0) : stock_us;
}

}  // namespace

void FormJobs(const chip::Profile& chip, CompiledProgram* program) {
  const cost::Model nominal(chip.cost);
  const cost::Model slow(chip.cost, {.clock_mhz = kSlowestClockMhz});
  std::vector<Step> steps;
  for (Step& step : program->steps) {
    auto* npu = std::get_if<NpuStep>(&step);
    if (npu == nullptr) {
      steps.push_back(std::move(step));
      continue;
    }
    for (NpuStep& part : SplitStep(std::move(*npu), slow, chip)) {
      part.chainable = MayChain(part);
      ModelStep(part, nominal, program);
      steps.emplace_back(std::move(part));
    }
  }
  program->steps = std::move(steps);
}

}  // namespace npu::plan
