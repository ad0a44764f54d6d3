// SPDX-License-Identifier: Apache-2.0
// Pass 6: which tasks share a submit, which submits may be one kick, and what they would take.
#ifndef SRC_PLAN_JOBS_H_
#define SRC_PLAN_JOBS_H_

#include "src/chip/profile.h"
#include "src/plan/program.h"

namespace npu::plan {

// Splits NPU steps that would run too close to the kernel's job timeout at the slowest clock or
// exceed the task counter, marks the ones that may be chained, and fills the modelled times of the
// program and its reports. Before LinkProgram.
void FormJobs(const chip::Profile& chip, CompiledProgram* program);

}  // namespace npu::plan

#endif  // SRC_PLAN_JOBS_H_
