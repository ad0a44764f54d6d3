// SPDX-License-Identifier: Apache-2.0
// Micro-tests that change a golden case: its program is known to work on silicon.
#ifndef SRC_SELFTEST_MICRO_GOLDEN_H_
#define SRC_SELFTEST_MICRO_GOLDEN_H_

#include <vector>

#include "npu/status.h"
#include "src/device/job_file.h"
#include "src/selftest/micro_tests.h"

namespace npu::selftest {

// Each builds the programs of one row of docs/hardware/open-questions.md; kNotFound without the
// golden cases.
Result<std::vector<device::JobFile>> EwRounding(const MicroContext& context);
Result<std::vector<device::JobFile>> PixelEntries(const MicroContext& context);
Result<std::vector<device::JobFile>> PpuCompletion(const MicroContext& context);
Result<std::vector<device::JobFile>> PpuInt8(const MicroContext& context);
Result<std::vector<device::JobFile>> PpuInt8Average(const MicroContext& context);
Result<std::vector<device::JobFile>> PpuFp16Average(const MicroContext& context);
Result<std::vector<device::JobFile>> PpuNan(const MicroContext& context);
Result<std::vector<device::JobFile>> PpuBeyondPadding(const MicroContext& context);
Result<std::vector<device::JobFile>> Fp16TapOrder(const MicroContext& context);
Result<std::vector<device::JobFile>> Fp16DepthwiseOrder(const MicroContext& context);
Result<std::vector<device::JobFile>> Fp16Specials(const MicroContext& context);
Result<std::vector<device::JobFile>> Fp16OutCvt(const MicroContext& context);

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_MICRO_GOLDEN_H_
