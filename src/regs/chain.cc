// SPDX-License-Identifier: Apache-2.0
#include "src/regs/chain.h"

#include <string>

#include "src/regs/command.h"

namespace npu::regs {
namespace {

constexpr uint32_t kListAlignment = 16;
// The length code has 16 bits: beats of two words, less one (registers-rk3588 3.3).
constexpr uint32_t kMaxListWords = 2 * 65536;

}  // namespace

Status LinkToNext(std::span<uint64_t> list, uint32_t next_address, uint32_t next_words) {
  if (next_address % kListAlignment != 0 || next_words < kTailWords || next_words % 2 != 0 ||
      next_words > kMaxListWords) {
    return {ErrorCode::kInvalidArgument, "cannot chain to a list of " + std::to_string(next_words) +
                                             " words at address " + std::to_string(next_address)};
  }
  const uint64_t open_amount = MakeWord(Target::kPc, 0, rk3588::PcRegisterAmounts::kOffset);
  if (list.size() < kTailWords || list[list.size() - 4] != kNopWord ||
      list[list.size() - 3] != open_amount || list[list.size() - 2] != kSyncWord) {
    return {ErrorCode::kInvalidArgument, "cannot chain a command list without an open tail"};
  }
  list[list.size() - 4] = MakeWord(Target::kPc, next_address, rk3588::PcBaseAddress::kOffset);
  list[list.size() - 3] =
      MakeWord(Target::kPc, LengthCode(next_words), rk3588::PcRegisterAmounts::kOffset);
  return OkStatus();
}

}  // namespace npu::regs
