// SPDX-License-Identifier: Apache-2.0
#include "apps/replay/compare.h"

#include <vector>

namespace npu::replay {
namespace {

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
