// SPDX-License-Identifier: Apache-2.0
// One check of the doctor: a row of a table. Source: kernel-interfaces part F.
#ifndef SRC_DOCTOR_CHECK_H_
#define SRC_DOCTOR_CHECK_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace npu::doctor {

struct Facts;

enum class Verdict : uint8_t {
  kPass,
  kInfo,  // worth knowing, nothing to do
  kWarn,  // works, but slower or with a risk
  kFail,  // keeps the NPU from working, or makes its results wrong
  kSkip,  // does not apply, or could not be told; the evidence says why
};
// "PASS" ...
std::string_view ToString(Verdict verdict);

// What one probe saw.
struct Finding {
  Verdict verdict = Verdict::kSkip;
  std::string evidence;  // the line it rests on; for kSkip the reason
  std::string fix = {};  // empty: the row's remedy
};

// What must be there for a probe to make sense; otherwise the check is skipped with the reason.
enum class Need : uint8_t {
  kNothing,
  kBoard,   // a Rockchip board, or a node whose driver is an NPU's
  kDriver,  // cores are bound, or a node exists
  kRocket,  // a node of the driver rocket answers
  kVendor,  // a BSP kernel's rknpu driver is there
  kCores,   // cores are bound to rocket
  kLog,     // an NPU driver, and the kernel log is readable
};

struct Check {
  std::string_view id;     // "D04", as in part F
  std::string_view group;  // "device"
  std::string_view title;
  Need need = Need::kNothing;
  Finding (*probe)(const Facts& facts) = nullptr;  // null: filled in by the self-test
  std::string_view remedy;                         // one concrete thing to do
};

// The rows by group, in the order they run.
std::span<const Check> DeviceChecks();       // F.1
std::span<const Check> AccessChecks();       // F.2
std::span<const Check> KernelChecks();       // F.3
std::span<const Check> PerformanceChecks();  // F.4
std::span<const Check> UserspaceChecks();    // F.5
std::span<const Check> SelfTestChecks();     // F.6, without probes

}  // namespace npu::doctor

#endif  // SRC_DOCTOR_CHECK_H_
