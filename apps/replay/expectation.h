// SPDX-License-Identifier: Apache-2.0
// What a negative case must show: golden/README.md section 6.
#ifndef APPS_REPLAY_EXPECTATION_H_
#define APPS_REPLAY_EXPECTATION_H_

#include <cstdint>
#include <string_view>

#include "apps/replay/replay.h"
#include "src/device/job_file.h"
#include "src/sim/simulator.h"

namespace npu::replay {

struct Expectation {
  std::string_view name;                       // of the case
  std::string_view diagnostic;                 // id
  uint32_t task = 0;                           // in the job
  sim::Outcome outcome = sim::Outcome::kHang;  // of the job's last kick
  Verdict verdict = Verdict::kTimedOut;        // of the kernel on the job
};

// Null for a positive case and for negative ones nobody has written an expectation for.
const Expectation* FindExpectation(const device::JobFile& file);

}  // namespace npu::replay

#endif  // APPS_REPLAY_EXPECTATION_H_
