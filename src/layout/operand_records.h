// SPDX-License-Identifier: Apache-2.0
// Per-channel operands that the post-processing unit reads beside a convolution.
// Source: rk3588-conv-matmul 3.8.
#ifndef SRC_LAYOUT_OPERAND_RECORDS_H_
#define SRC_LAYOUT_OPERAND_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace npu::layout {

inline constexpr uint32_t kRecordChannels = 8;
inline constexpr uint32_t kRecordBytes = 64;
// Bytes a channel takes in either form.
inline constexpr uint32_t kAddendBytesPerChannel = 4;
inline constexpr uint32_t kRecordBytesPerChannel = kRecordBytes / kRecordChannels;

// Byte offsets inside a record array. Example: channel 13 -> 84 and 122.
constexpr uint64_t RecordAddendOffset(uint32_t c) {
  return uint64_t{c / kRecordChannels} * kRecordBytes + (c % kRecordChannels) * 4;
}
constexpr uint64_t RecordMultiplierOffset(uint32_t c) {
  return uint64_t{c / kRecordChannels} * kRecordBytes + 48 + (c % kRecordChannels) * 2;
}

// Dense int32 addends, zero in padding channels. `channels` (padded) >= addend.size().
std::vector<std::byte> PackAddends(std::span<const int32_t> addend, uint32_t channels);

// 64-byte records of eight channels: int32 addend, int16 compensation (0), int16 multiplier.
// Padding channels have addend 0 and multiplier 1. `channels` is a multiple of 8.
std::vector<std::byte> PackRecords(std::span<const int32_t> addend,
                                   std::span<const int16_t> multiplier, uint32_t channels);

}  // namespace npu::layout

#endif  // SRC_LAYOUT_OPERAND_RECORDS_H_
