// SPDX-License-Identifier: Apache-2.0
// One NPU core as the driver runs it: a kick for each task, or one for all of a batched job
// (kernel-interfaces A.11, B.2), until the job is done or the watchdog would end it.
#ifndef SRC_KMODEL_CORE_H_
#define SRC_KMODEL_CORE_H_

#include <memory>
#include <string>

#include "src/base/worker_pool.h"
#include "src/chip/profile.h"
#include "src/cost/model.h"
#include "src/kmodel/job.h"
#include "src/kmodel/options.h"
#include "src/kmodel/reporter.h"

namespace npu::kmodel {

// Registers, pointers and on-chip memory persist from job to job, whatever file they come from, and
// are lost at a reset. Used by one thread.
class Core {
 public:
  Core(const Options& options, const chip::Profile& profile, uint32_t index, Reporter* reporter);

  // Never waits: a hang returns at once with timed_out, and the caller plays the watchdog.
  JobOutcome Run(const Job& job);
  void Reset() { simulator_.Reset(); }
  // What the log calls it: "fdab0000.npu".
  const std::string& name() const { return name_; }

 private:
  // The address space of a job at the start of a kick, with what keeps its memory alive.
  struct View {
    std::vector<std::shared_ptr<BufferObject>> objects;
    sim::AddressSpace space;
  };
  View MakeView(const Job& job) const;
  bool RunKick(const Job& job, size_t task, JobOutcome* outcome);
  void ExplainFault(const Job& job, std::string_view message);

  const Options& options_;
  const chip::Profile& profile_;
  Reporter* const reporter_;
  const uint32_t index_;
  const std::string name_;
  const cost::Model model_;
  WorkerPool pool_;
  sim::Simulator simulator_;
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_CORE_H_
