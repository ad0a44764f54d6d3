// SPDX-License-Identifier: Apache-2.0
#include "src/layout/operand_records.h"

#include <cassert>
#include <cstring>

namespace npu::layout {

std::vector<std::byte> PackAddends(std::span<const int32_t> addend, uint32_t channels) {
  assert(addend.size() <= channels);
  std::vector<std::byte> out(uint64_t{channels} * kAddendBytesPerChannel);
  if (!addend.empty()) std::memcpy(out.data(), addend.data(), addend.size_bytes());
  return out;
}

std::vector<std::byte> PackRecords(std::span<const int32_t> addend,
                                   std::span<const int16_t> multiplier, uint32_t channels) {
  assert(addend.size() == multiplier.size() && addend.size() <= channels);
  assert(channels % kRecordChannels == 0);
  std::vector<std::byte> out(uint64_t{channels} * kRecordBytesPerChannel);
  for (uint32_t c = 0; c < channels; ++c) {
    const int32_t a = c < addend.size() ? addend[c] : 0;
    const int16_t m = c < multiplier.size() ? multiplier[c] : int16_t{1};
    std::memcpy(out.data() + RecordAddendOffset(c), &a, sizeof a);
    std::memcpy(out.data() + RecordMultiplierOffset(c), &m, sizeof m);
  }
  return out;
}

}  // namespace npu::layout
