// SPDX-License-Identifier: Apache-2.0
// The comparison of memory with the expectations of a case.
#ifndef APPS_REPLAY_COMPARE_H_
#define APPS_REPLAY_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/device/element.h"
#include "src/device/job_file.h"
#include "src/sim/memory.h"

namespace npu::replay {

using device::Acceptable;
using device::ElementValue;

// Empty if the check holds, else one line: how many elements differ, and the first of them.
std::string CompareCheck(const device::JobFile& file, const device::Check& check,
                         const sim::AddressSpace& memory);

}  // namespace npu::replay

#endif  // APPS_REPLAY_COMPARE_H_
