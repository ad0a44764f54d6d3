// SPDX-License-Identifier: Apache-2.0
// The steps of kernel-interfaces F.6 around the cases: memory, time, chains, polling, several
// files.
#ifndef SRC_SELFTEST_STEPS_H_
#define SRC_SELFTEST_STEPS_H_

#include <functional>
#include <memory>
#include <string>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/device/device.h"
#include "src/device/job_file.h"
#include "src/selftest/judge.h"

namespace npu::selftest {

struct StepResult {
  std::string id, title;  // "S1"
  Verdict verdict = Verdict::kFail;
  std::string evidence;
};

// How a simulated device must behave; a real one is as it is.
enum class Mode : uint8_t {
  kCases,        // programs that silicon completes with wrong data fail
  kQuestions,    // they complete, as on silicon
  kStockKernel,  // as kQuestions, and tasks of the PPU alone are not seen to complete
};

// Opens the device under test once more.
using Opener = std::function<Result<std::shared_ptr<device::Device>>(Mode mode)>;

// S1: three buffers: page aligned, apart, below 4 GiB, not at 0, zeroed.
StepResult StepBuffers(device::Device& device, const chip::Profile& profile);
// S2: what the CPU wrote is there after a flush and an invalidation.
StepResult StepRoundTrip(device::Device& device);
// S4: median of `runs` of the tiny case; 450 ms or more mean the kernel's silent timeout.
StepResult StepTime(device::Device& device, const device::JobFile& tiny, int runs);
// S5: while a long job runs, a wait with a past deadline returns at once. Only on a kernel's node.
StepResult StepPolling(const device::DeviceInfo& info, const device::JobFile& tiny);
// S6: a chain of two tasks in one kick.
StepResult StepChain(device::Device& device, device::Device& reference,
                     const chip::Profile& profile);
// S7: as many files as there are cores (at least two) at the same time; each result exact.
StepResult StepParallel(const Opener& open, const device::DeviceInfo& info,
                        const device::JobFile& tiny, device::Device& reference, int runs);

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_STEPS_H_
