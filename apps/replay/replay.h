// SPDX-License-Identifier: Apache-2.0
// Runs golden cases and saved jobs on the simulator, through the kernel model, and judges the
// outcome, with the semantics of golden/README.md section 2.
#ifndef APPS_REPLAY_REPLAY_H_
#define APPS_REPLAY_REPLAY_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/base/worker_pool.h"
#include "src/device/job_file.h"
#include "src/sim/simulator.h"

namespace npu::replay {

struct Options {
  std::string chip = "rk3588";  // cases of other chips are skipped
  sim::Path path = sim::Path::kClear;
  WorkerPool* pool = nullptr;  // borrowed
};

// What the kernel makes of a job. User space is told of a rejection only by extended kernels, and
// of a timeout by none: both look like success there.
enum class Verdict : uint8_t {
  kCompleted,  // the completion interrupt came; the data may be wrong
  kTimedOut,   // a hang, a page fault or too long: the watchdog reset the core
  kRejected,   // nothing ran
};
const char* ToString(Verdict verdict);

enum class CaseStatus : uint8_t { kPassed, kFailed, kSkipped };

struct CaseResult {
  std::string name, family, outcome;
  CaseStatus status = CaseStatus::kFailed;
  std::string kernel;  // verdict on the last job, "completed"
  std::string reason;  // why it failed, or the names of the missing features
  std::vector<std::string> diagnostics;
  uint32_t tasks = 0, kicks = 0;  // that completed; kicks started
  uint64_t macs = 0;
  double modelled_us = 0.0, seconds = 0.0;
};

struct Summary {
  uint32_t passed = 0, failed = 0, skipped = 0;
};
Summary Count(const std::vector<CaseResult>& results);
// "58 passed, 0 failed, 73 skipped"
std::string ToString(const Summary& summary);

// Runs one case in fresh memory on a fresh core behind a fresh kernel. It passes when every kick
// did what the case says: a positive case completes without errors and its checks and untouched
// ranges hold; a negative one shows its outcome and the kernel's verdict, with the expected
// diagnostic for the right task. A task the simulator does not model skips the case.
CaseResult RunCase(const device::JobFile& file, const Options& options);

// Case directories, case.json files and saved jobs named by `paths`, or below directories in them,
// sorted by path. kNotFound if a path does not exist or holds none.
Result<std::vector<std::filesystem::path>> FindCases(const std::vector<std::string>& paths);

// Reads and runs each; an unreadable file is a failed case.
std::vector<CaseResult> RunCases(const std::vector<std::filesystem::path>& cases,
                                 const Options& options);

// The report for machines: {"format": 1, "passed", "failed", "skipped", "cases": [...]}.
std::string JsonReport(const std::vector<CaseResult>& results, const Options& options);

}  // namespace npu::replay

#endif  // APPS_REPLAY_REPLAY_H_
