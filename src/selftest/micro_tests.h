// SPDX-License-Identifier: Apache-2.0
// One test a row of docs/hardware/open-questions.md: a program that behaves differently when the
// assumption is wrong. The simulator implements the assumption, so a device that does the same
// confirms it.
#ifndef SRC_SELFTEST_MICRO_TESTS_H_
#define SRC_SELFTEST_MICRO_TESTS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/device/device.h"
#include "src/device/job_file.h"

namespace npu::selftest {

struct MicroContext {
  const chip::Profile* profile = nullptr;
  // A golden case by name; nothing when the golden set was not found.
  std::function<std::optional<device::JobFile>(std::string_view)> golden;
};

struct MicroTest {
  std::string_view id;       // of the row
  std::string_view assumed;  // the answer the code builds on
  // Assumed to run into the kernel's timeout: asked on a board only where that is allowed.
  bool hangs = false;
  // Needs a core on which nothing ran since its reset: only a simulator in this process has one.
  bool fresh_core = false;
  // The programs; kNotFound when it needs a golden case that is not there.
  Result<std::vector<device::JobFile>> (*build)(const MicroContext& context) = nullptr;
};
std::span<const MicroTest> MicroTests();

enum class Answer : uint8_t { kAsAssumed, kDiffers, kNotRun };
// "as assumed", "differs", "not run"
std::string_view ToString(Answer answer);

struct MicroResult {
  std::string id;
  Answer answer = Answer::kNotRun;
  std::string text;  // the answer in words: what was assumed, or what was seen instead
};

// `device`, `reference`: opened for questions, fresh, of the same chip.
MicroResult RunMicroTest(const MicroTest& test, const MicroContext& context, device::Device& device,
                         device::Device& reference);

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_MICRO_TESTS_H_
