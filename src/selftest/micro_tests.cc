// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/micro_tests.h"

#include <fmt/format.h>

#include <utility>

#include "src/selftest/bench.h"
#include "src/selftest/judge.h"

namespace npu::selftest {
namespace {

// "completes" or what the device said, without the parts that differ from device to device.
std::string Outcome(const Execution& e) {
  if (!e.skipped.empty()) return e.skipped;
  return e.status.ok() ? "completes" : "fails: " + e.status.message();
}

}  // namespace

std::string_view ToString(Answer answer) {
  if (answer == Answer::kNotRun) return "not run";
  return answer == Answer::kAsAssumed ? "as assumed" : "differs";
}

MicroResult RunMicroTest(const MicroTest& test, const MicroContext& context, device::Device& device,
                         device::Device& reference) {
  MicroResult result{std::string(test.id), Answer::kNotRun, {}};
  const auto files = test.build(context);
  if (!files.ok()) {
    result.text = files.status().message();
    return result;
  }
  for (const device::JobFile& file : *files) {
    const Execution assumed = Execute(reference, file, {.any_task = true});
    const Execution found = Execute(device, file, {.any_task = test.hangs, .canary = test.hangs});
    if (!found.skipped.empty() || !found.modelled || !assumed.modelled) {
      result.answer = Answer::kNotRun;
      result.text = !found.skipped.empty() ? found.skipped : "the simulator does not model it";
      return result;
    }
    // The simulator must show what the table says, or the comparison would prove nothing.
    if (assumed.status.ok() == test.hangs) {
      result.text = fmt::format("{}: the simulator does not show the assumption: {}", file.name,
                                Outcome(assumed));
      return result;
    }
    std::string difference;
    if (found.status.ok() != assumed.status.ok()) {
      difference = fmt::format("{}, assumed: {}", Outcome(found), Outcome(assumed));
    } else if (found.status.ok()) {
      difference = FirstDifference(found, assumed);
    }
    if (!difference.empty()) {
      result.answer = Answer::kDiffers;
      result.text = fmt::format("{}: {}", file.name, difference);
      return result;
    }
  }
  result.answer = Answer::kAsAssumed;
  result.text = test.assumed;
  return result;
}

}  // namespace npu::selftest
