// SPDX-License-Identifier: Apache-2.0
// Runs a job file on any device: its buffers are allocated there, its command lists relocated.
#ifndef SRC_SELFTEST_BENCH_H_
#define SRC_SELFTEST_BENCH_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/device/device.h"
#include "src/device/job_file.h"

namespace npu::selftest {

// Memory of the buffers that one submission wrote or has expectations for, by buffer id.
struct Submission {
  std::map<uint32_t, std::vector<std::byte>> before, after;
};

// What became of a job file. `submissions` has one element a submission that completed.
struct Execution {
  Status status;         // of allocation, or of the first job that failed
  bool modelled = true;  // false: the simulated device does not model a task; status says which
  std::string skipped;   // why this device cannot run it; then nothing else is set
  std::string intruded;  // a guard zone or an input that was written; empty: none
  std::vector<Submission> submissions;
  std::vector<std::string> diagnostics;  // findings of a simulated device
  std::chrono::nanoseconds elapsed{0};   // of all jobs
  double modelled_us = 0;
  uint32_t kicks = 0;
};

// Guard bytes before and behind every buffer, and what they hold.
inline constexpr uint32_t kGuardBytes = 4096;
inline constexpr std::byte kGuardByte{0xC3};

struct ExecuteOptions {
  bool any_task = false;  // also tasks that the device may not see complete
  // Let the device mark the first bytes of the first output: a kernel reports a job that it ended
  // or dropped as done. Only for programs that write them if they run at all.
  bool canary = false;
};

// Runs all submissions in order, until one fails. The file has passed ValidateJobFile. Addresses in
// the lists are found by register: the address fields whose value lies in a buffer of the file.
//
// A list that starts only the PPU is not run on a device that is not known to see it complete
// (kernel-interfaces A.12), unless options.any_task.
Execution Execute(device::Device& device, const device::JobFile& file,
                  const ExecuteOptions& options = {});

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_BENCH_H_
