// SPDX-License-Identifier: Apache-2.0
#include "src/ir/constants.h"

#include <cstring>

namespace npu::ir {
namespace {

template <typename T>
std::vector<int64_t> Read(std::span<const std::byte> bytes) {
  std::vector<int64_t> entries;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T entry = 0;
    std::memcpy(&entry, bytes.data() + at, sizeof(entry));  // constants need not be aligned
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::vector<int64_t> Integers(const Value& value) {
  if (value.type.dtype == DataType::kInt32) return Read<int32_t>(value.constant);
  if (value.type.dtype == DataType::kInt64) return Read<int64_t>(value.constant);
  return {};
}

}  // namespace npu::ir
