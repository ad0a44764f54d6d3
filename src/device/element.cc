// SPDX-License-Identifier: Apache-2.0
#include "src/device/element.h"

#include <bit>
#include <cmath>
#include <limits>

namespace npu::device {
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

}  // namespace

std::optional<double> ElementValue(std::string_view dtype, std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() != DtypeBytes(dtype)) return std::nullopt;
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

bool Acceptable(const Tolerance& tolerance, double expected, double found) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == found) return true;
  const double difference = std::fabs(expected - found);
  switch (tolerance.kind) {
    case ToleranceKind::kExact:
      return false;
    case ToleranceKind::kAbs:
      return difference <= tolerance.abs;
    case ToleranceKind::kRel:
      return difference <= tolerance.rel * std::fabs(expected);
    case ToleranceKind::kAbsRel:
      break;
  }
  return difference <= tolerance.abs + tolerance.rel * std::fabs(expected);
}

}  // namespace npu::device
