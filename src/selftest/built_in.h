// SPDX-License-Identifier: Apache-2.0
// Cases that need no file: operations of our own encoders with generated data.
#ifndef SRC_SELFTEST_BUILT_IN_H_
#define SRC_SELFTEST_BUILT_IN_H_

#include <string>
#include <vector>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/device/job_file.h"

namespace npu::selftest {

// A small convolution, one task: the case for timing, several files and polling.
Result<device::JobFile> TinyCase(const chip::Profile& profile);
// The same operation `tasks` times into as many outputs, one kick for all.
Result<device::JobFile> ChainCase(const chip::Profile& profile, uint32_t tasks);

// One case a form: direct, strided, depthwise, per channel, raw sums, limits, tiles, pooling. An
// error means that the encoder refused a problem it must take.
Result<std::vector<device::JobFile>> BuiltInCases(const chip::Profile& profile);

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_BUILT_IN_H_
