// SPDX-License-Identifier: Apache-2.0
// The steps of the self-test as rows: kernel-interfaces F.6. The findings come from src/selftest.
#include "src/doctor/check.h"

namespace npu::doctor {
namespace {

constexpr std::string_view kGroup = "selftest";
constexpr Check kChecks[] = {
    {"S1", kGroup, "buffers", Need::kNothing, nullptr,
     "see the A and K checks; out of memory: P08"},
    {"S2", kGroup, "CPU round trip", Need::kNothing, nullptr,
     "cache upkeep is broken: report the kernel and the board"},
    {"S3", kGroup, "results", Need::kNothing, nullptr,
     "run rocket-npu selftest --json FILE and report it; use device=none meanwhile"},
    {"S4", kGroup, "time of a job", Need::kNothing, nullptr,
     "jobs run into the kernel's timeout: see K07 and D06"},
    {"S5", kGroup, "polling", Need::kNothing, nullptr,
     "the kernel does not answer past deadlines at once: report it"},
    {"S6", kGroup, "two-task chain", Need::kNothing, nullptr,
     "switch chaining off: rocket_batch_submit=0"},
    {"S7", kGroup, "files in parallel", Need::kNothing, nullptr,
     "use one process and one core at a time; report the board"},
    {"S8", kGroup, "log afterwards", Need::kNothing, nullptr,
     "the self-test itself caused errors: report the lines"},
};

}  // namespace

std::span<const Check> SelfTestChecks() { return kChecks; }

}  // namespace npu::doctor
