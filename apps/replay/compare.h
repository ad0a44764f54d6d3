// SPDX-License-Identifier: Apache-2.0
// The comparison of memory with the expectations of a case.
#ifndef APPS_REPLAY_COMPARE_H_
#define APPS_REPLAY_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/device/job_file.h"
#include "src/sim/memory.h"

namespace npu::replay {

// Value of a stored element (little endian) of an integer or floating type; nullopt for an unknown
// type. Exact: a double holds every value of the types there are.
std::optional<double> ElementValue(std::string_view dtype, std::span<const std::byte> bytes);

// Whether `found` is acceptable for `expected`. In floating types +0 and -0 are equal; a NaN only
// equals a NaN. kExact compares values, kAbs |d| <= abs, kRel |d| <= rel * |expected|, kAbsRel
// |d| <= abs + rel * |expected|.
bool Acceptable(const device::Tolerance& tolerance, double expected, double found);

// Empty if the check holds, else one line: how many elements differ, and the first of them.
std::string CompareCheck(const device::JobFile& file, const device::Check& check,
                         const sim::AddressSpace& memory);

}  // namespace npu::replay

#endif  // APPS_REPLAY_COMPARE_H_
