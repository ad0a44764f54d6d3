// SPDX-License-Identifier: Apache-2.0
// Command words: the 64-bit units of a command list (registers-rk3588 sections 2 and 3). The word
// layout and the targets are the same on every chip of the family; register offsets are per chip.
#ifndef SRC_REGS_COMMAND_H_
#define SRC_REGS_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "gen/rk3588/registers.h"

#include "npu/status.h"
#include "src/regs/register_info.h"

namespace npu::regs {

using rk3588::Target;

// A command word taken apart: bits 63:48, 47:16, 15:0.
struct CommandWord {
  uint16_t target = 0;  // a Target, or any other number: such a word selects no block
  uint32_t value = 0;
  uint16_t offset = 0;  // in the core window, page included
  friend constexpr bool operator==(const CommandWord&, const CommandWord&) = default;
};

// target[63:48] | value[47:16] | offset[15:0].
constexpr uint64_t MakeWord(Target target, uint32_t value, uint16_t offset) {
  return static_cast<uint64_t>(target) << 48 | uint64_t{value} << 16 | offset;
}
// The inverse of MakeWord; takes any word.
constexpr CommandWord Split(uint64_t word) {
  return {static_cast<uint16_t>(word >> 48), static_cast<uint32_t>(word >> 16),
          static_cast<uint16_t>(word)};
}

inline constexpr uint64_t kNopWord = 0;
inline constexpr uint64_t kSyncWord = MakeWord(Target::kSync, 0, 0);
// Launches the blocks of `mask` on their producer groups. The offset is the vendor's, ignored by
// the hardware.
inline constexpr uint16_t kEnableOffset = rk3588::PcOperationEnable::kOffset;
constexpr uint64_t EnableWord(uint32_t mask) {
  return MakeWord(Target::kEnable, mask, kEnableOffset);
}
// Words of a list's tail: link to the next list (or NOP, length 0), SYNC, ENABLE.
inline constexpr uint32_t kTailWords = 4;
// Words of 64 bytes, on which lists start (section 3.4).
inline constexpr uint32_t kWordsPerLine = 8;

// PC_DATA_AMOUNT of a list of `words` (> 0) words, tail included: the fetcher reads code + 1 beats
// of two words, so an odd list also executes the word behind it (section 3.3).
constexpr uint32_t LengthCode(uint32_t words) { return words / 2 + words % 2 - 1; }

// Target of a block; nullopt for blocks no command list can reach (DDMA, SDMA, GLOBAL).
std::optional<Target> TargetOf(Block block);
// The block a target writes to; nullopt for NOP, SYNC, ENABLE and unknown numbers.
std::optional<Block> BlockOf(uint16_t target);
// Bit of the launch mask that starts the block; nullopt where there is none (PC, DDMA ...).
std::optional<unsigned> EnableBitOf(Block block);
std::string_view BlockName(Block block);
// "DPU", "SYNC" ...; empty for an unknown number.
std::string_view TargetName(uint16_t target);
std::optional<Target> FindTarget(std::string_view name);

// The register at an offset of the core window, or by its full name ("CNA.CONV_CON1"); null if
// none.
const RegisterInfo* FindRegister(uint32_t offset);
const RegisterInfo* FindRegister(std::string_view full_name);

// The command word that writes `reg`. kOutOfRange names the field that does not fit;
// kInvalidArgument for a register that command lists cannot reach.
template <typename Reg>
Result<uint64_t> MakeWord(const Reg& reg) {
  NPU_ASSIGN_OR_RETURN(const uint32_t value, Encode(reg));
  const std::optional<Target> target = TargetOf(Reg::kBlock);
  if (!target) {
    return Status(ErrorCode::kInvalidArgument,
                  std::string(Reg::kName) + " cannot be written by a command list");
  }
  return MakeWord(*target, value, Reg::kOffset);
}

}  // namespace npu::regs

#endif  // SRC_REGS_COMMAND_H_
