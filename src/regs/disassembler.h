// SPDX-License-Identifier: Apache-2.0
// Command words to text that names every register, field and enumeration value. The assembler turns
// the text back into the same words (tests prove it for every word of the golden set).
//
//   CNA.CONV_CON3 CONV_X_STRIDE=1 CONV_Y_STRIDE=1
//   PC.BASE_ADDRESS PC_SOURCE_ADDR=0x0A000400
//   SYNC
//   ENABLE CNA CORE DPU DPU_RDMA
//   .word 0x0001000000000000        (anything that is no register write: shown as it is)
//
// Fields that are 0 are left out unless all of them are asked for; bits outside every field appear
// as RESERVED=0x...
#ifndef SRC_REGS_DISASSEMBLER_H_
#define SRC_REGS_DISASSEMBLER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/regs/register_info.h"

namespace npu::regs {

struct DecodedField {
  std::string_view name;  // "CONV_MODE", or "RESERVED"
  int64_t value = 0;
  std::string text;    // enumeration name, address in hexadecimal, else the number
  bool named = false;  // text is an enumeration name
};

enum class WordKind : uint8_t { kRegister, kNop, kSync, kEnable, kRaw };

struct DecodedWord {
  uint64_t word = 0;
  WordKind kind = WordKind::kRaw;
  const RegisterInfo* reg = nullptr;  // kRegister only
  uint32_t value = 0;
  std::vector<DecodedField> fields;      // kRegister: all fields, in order of their bits
  std::vector<std::string_view> blocks;  // kEnable: the blocks of the mask
};

// A word taken apart. kRaw: unknown target, an offset that is no register of the target's block, or
// an action with bits it does not use.
DecodedWord DecodeWord(uint64_t word);

// The fields of a register word: "CONV_X_STRIDE=1 CONV_Y_STRIDE=1"; empty if all are 0.
std::string FormatFields(const RegisterInfo& info, uint32_t value, bool all_fields = false);

// One line of the text form, without comment and line end.
std::string DisassembleWord(uint64_t word, bool all_fields = false);

struct DisassembleOptions {
  bool all_fields = false;    // also numbers and flags that are 0
  bool word_comments = true;  // "# 12 0201000000091014" behind each line
};

// A line per word.
std::string Disassemble(std::span<const uint64_t> words, const DisassembleOptions& options = {});

}  // namespace npu::regs

#endif  // SRC_REGS_DISASSEMBLER_H_
