// SPDX-License-Identifier: Apache-2.0
#include "apps/replay/compare.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace npu::replay {
namespace {

double HalfValue(uint32_t bits) {
  const int sign = (bits & 0x8000u) != 0 ? -1 : 1;
  const int exponent = static_cast<int>((bits >> 10) & 0x1F);
  const int mantissa = static_cast<int>(bits & 0x3FF);
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

// "(37, 2, 3)": the index of the row-major element `index`.
std::string IndexText(const std::vector<uint64_t>& shape, uint64_t index) {
  std::vector<uint64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 0) continue;
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  std::string text = "(";
  for (size_t axis = 0; axis < position.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(position[axis]);
  }
  return text + ")";
}

std::string Number(double v) {
  const auto integer = static_cast<int64_t>(v);
  return static_cast<double>(integer) == v ? std::to_string(integer) : std::to_string(v);
}

}  // namespace

std::optional<double> ElementValue(std::string_view dtype, std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() != device::DtypeBytes(dtype)) return std::nullopt;
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) bits |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  const auto word = static_cast<uint32_t>(bits);
  if (dtype == "int8") return static_cast<int8_t>(bits);
  if (dtype == "uint8") return static_cast<uint8_t>(bits);
  if (dtype == "int16") return static_cast<int16_t>(bits);
  if (dtype == "uint16") return static_cast<uint16_t>(bits);
  if (dtype == "int32") return static_cast<int32_t>(bits);
  if (dtype == "uint32") return word;
  if (dtype == "fp16") return HalfValue(word);
  if (dtype == "bf16") return std::bit_cast<float>(word << 16);
  if (dtype == "fp32") return std::bit_cast<float>(word);
  return std::nullopt;
}

bool Acceptable(const device::Tolerance& tolerance, double expected, double found) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == found) return true;
  const double difference = std::fabs(expected - found);
  switch (tolerance.kind) {
    case device::ToleranceKind::kExact:
      return false;
    case device::ToleranceKind::kAbs:
      return difference <= tolerance.abs;
    case device::ToleranceKind::kRel:
      return difference <= tolerance.rel * std::fabs(expected);
    case device::ToleranceKind::kAbsRel:
      break;
  }
  return difference <= tolerance.abs + tolerance.rel * std::fabs(expected);
}

std::string CompareCheck(const device::JobFile& file, const device::Check& check,
                         const sim::AddressSpace& memory) {
  const std::vector<uint64_t> offsets = device::ElementOffsets(file, check);
  const std::span<const std::byte> expected = file.Bytes(check.offset, check.length);
  std::vector<std::byte> element(check.element_bytes);
  uint64_t different = 0;
  std::string first;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const auto want =
        ElementValue(check.dtype, expected.subspan(i * check.element_bytes, check.element_bytes));
    const bool mapped =
        memory.Read(int64_t{check.base} + static_cast<int64_t>(offsets[i]), element);
    const auto got = ElementValue(check.dtype, element);
    if (!want || !got) return "check has the unknown type " + check.dtype;
    if (mapped && Acceptable(check.tolerance, *want, *got)) continue;
    if (different++ != 0) continue;
    first = "element " + IndexText(check.shape, i) + " is " +
            (mapped ? Number(*got) : std::string("unmapped")) + ", expected " + Number(*want);
  }
  if (different == 0 && !offsets.empty()) return "";
  if (offsets.empty()) return "check '" + check.name + "' has no elements";
  return "check '" + check.name + "': " + std::to_string(different) + " of " +
         std::to_string(offsets.size()) + " differ; " + first;
}

}  // namespace npu::replay
