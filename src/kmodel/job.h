// SPDX-License-Identifier: Apache-2.0
// A job inside the kernel, and what became of it.
#ifndef SRC_KMODEL_JOB_H_
#define SRC_KMODEL_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/kmodel/buffer_object.h"
#include "src/kmodel/fault_injector.h"
#include "src/kmodel/fence.h"
#include "src/sim/simulator.h"
#include "src/uapi/rocket.h"

namespace npu::kmodel {

struct Job {
  std::vector<uapi::RocketTask> tasks;  // at least one
  bool batched = false;                 // one kick for all tasks
  std::vector<std::shared_ptr<BufferObject>> in, out;
  std::shared_ptr<Domain> domain;
  std::vector<std::shared_ptr<Fence>> waits_for;
  std::shared_ptr<Fence> done = std::make_shared<Fence>();
  JobFaults faults;
};

// What the kernel knows of a job at its end. User space is told none of it.
struct JobOutcome {
  bool timed_out = false;
  std::string reason;  // of the timeout: "hang: ...", "fault: ...", "unimplemented: ...", ...
  std::vector<sim::KickResult> kicks;
  double modelled_us = 0;  // on the hardware, all kicks
  uint32_t core = 0;
  int64_t start_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC: on the core, until its fence signals
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_JOB_H_
