// SPDX-License-Identifier: Apache-2.0
// Values of stored elements, and how far they may be from an expectation (golden/README.md 1).
#ifndef SRC_DEVICE_ELEMENT_H_
#define SRC_DEVICE_ELEMENT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "src/device/job_file.h"

namespace npu::device {

// Value of a stored element (little endian) of an integer or floating type; nullopt for an unknown
// type. Exact: a double holds every value of the types there are.
std::optional<double> ElementValue(std::string_view dtype, std::span<const std::byte> bytes);

// Whether `found` is acceptable for `expected`. In floating types +0 and -0 are equal; a NaN only
// equals a NaN. kExact compares values, kAbs |d| <= abs, kRel |d| <= rel * |expected|, kAbsRel
// |d| <= abs + rel * |expected|.
bool Acceptable(const Tolerance& tolerance, double expected, double found);

}  // namespace npu::device

#endif  // SRC_DEVICE_ELEMENT_H_
