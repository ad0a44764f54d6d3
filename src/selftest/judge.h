// SPDX-License-Identifier: Apache-2.0
// Compares what a device computed with the recorded expectation and with the simulator.
#ifndef SRC_SELFTEST_JUDGE_H_
#define SRC_SELFTEST_JUDGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "src/device/job_file.h"
#include "src/selftest/bench.h"

namespace npu::selftest {

enum class Verdict : uint8_t { kPass, kFail, kSkip };
// "passed", "failed", "skipped"
std::string_view ToString(Verdict verdict);

struct CaseResult {
  std::string name, source;  // source: "built-in", "golden"
  Verdict verdict = Verdict::kFail;
  std::string reason;        // why it failed or was skipped
  uint64_t compared = 0;     // bytes that had to be right
  uint64_t differing = 0;    // of those
  uint64_t unspecified = 0;  // other bytes of the outputs that differ from the simulator's
  uint32_t kicks = 0;
  double milliseconds = 0, modelled_us = 0;
};

// `reference`: the same file on the simulator; null where the simulator does not model it, then
// only the recorded expectation is compared. A file without checks must equal the reference in
// every byte of its outputs.
CaseResult Judge(const device::JobFile& file, const Execution& found, const Execution* reference);

// The first byte in which two runs of a file differ, in words; empty if none.
std::string FirstDifference(const Execution& found, const Execution& reference);

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_JUDGE_H_
