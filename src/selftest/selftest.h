// SPDX-License-Identifier: Apache-2.0
// The whole self-test of one device: steps, cases, open questions.
#ifndef SRC_SELFTEST_SELFTEST_H_
#define SRC_SELFTEST_SELFTEST_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/device/device.h"
#include "src/selftest/judge.h"
#include "src/selftest/micro_tests.h"
#include "src/selftest/steps.h"

namespace npu::selftest {

struct Options {
  Opener open;                       // the device under test
  Opener reference;                  // the simulator of the same chip, clear path, able to chain
  std::filesystem::path golden;      // directory of golden cases; empty: built-in ones only
  std::vector<std::string> filters;  // run only what contains one of them; empty: everything
  bool micro_tests = true;
  bool allow_hangs = false;  // also micro-tests that may end in the kernel's timeout
  int runs = 200;            // of the timed case
};

struct Report {
  device::DeviceInfo device;
  std::string golden;  // directory used, or empty
  std::vector<StepResult> steps;
  std::vector<CaseResult> cases;
  std::vector<MicroResult> answers;

  uint32_t Count(Verdict verdict) const;  // of the cases
  bool healthy() const;                   // no step and no case failed, and something ran
};

// Errors: no device, or one of an unknown chip; everything later is in the report.
Result<Report> Run(const Options& options);

// Names of everything that could run: steps, cases, open questions, one a line.
Result<std::string> List(const Options& options);

// The first of these that holds golden cases of the chip: DIR/CHIP, DIR/golden/CHIP, DIR; empty if
// none does.
std::filesystem::path FindGolden(const std::vector<std::filesystem::path>& directories,
                                 std::string_view chip);

// For people; every case on a line of its own if `all`.
std::string TextReport(const Report& report, bool all);
// {"format": 1, "device": {...}, "healthy", "steps", "cases", "answers"}: can be kept as the
// board's profile.
std::string JsonReport(const Report& report);

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_SELFTEST_H_
