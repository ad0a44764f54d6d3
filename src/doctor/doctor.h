// SPDX-License-Identifier: Apache-2.0
// Runs the table of checks and reports it: kernel-interfaces part F.
#ifndef SRC_DOCTOR_DOCTOR_H_
#define SRC_DOCTOR_DOCTOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/doctor/check.h"
#include "src/doctor/facts.h"

namespace npu::doctor {

struct Row {
  const Check* check = nullptr;
  Finding finding;
  // What to do; empty unless the verdict asks for something.
  std::string fix() const;
};

// What the whole comes to, worst first.
enum class Health : uint8_t {
  kHealthy,   // nothing keeps the NPU from working (warnings allowed)
  kProblems,  // a check failed
  kUnknown,   // nothing to check: no NPU here, or it could not be told
};

struct Report {
  Facts facts;
  std::vector<Row> rows;  // in table order
  Health health = Health::kUnknown;
  std::string summary;  // one sentence: what it comes to and what to do next
  // 0 healthy, 1 problems, 2 could not check.
  int exit_code() const;
};

// Runs every group; the first failure of a group skips the rest of it. `self_test`: rows of F.6
// from the self-test, in table order; empty: it did not run.
Report Examine(Facts facts, std::vector<Finding> self_test);

// How many lines of the kernel log report a timed-out job or an IOMMU fault; -1: not readable.
int CountDeviceErrors(const System& system);

// The release of the kernel in an earlier JSON report; empty if there is none in it.
std::string BaselineRelease(std::string_view json);

// For people: aligned columns, skipped checks gathered in one line a group unless `all`.
std::string TextReport(const Report& report, bool all);
// {"format": 1, "machine": {...}, "checks": [...], "health": "...", "summary": "..."}
std::string JsonReport(const Report& report);

}  // namespace npu::doctor

#endif  // SRC_DOCTOR_DOCTOR_H_
