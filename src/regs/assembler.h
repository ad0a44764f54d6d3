// SPDX-License-Identifier: Apache-2.0
// Text to command words: the inverse of the disassembler. One word a line; '#' starts a comment;
// fields that are not named are 0. Values: decimal or 0x numbers (with a sign for signed fields) or
// a name of the field's enumeration.
#ifndef SRC_REGS_ASSEMBLER_H_
#define SRC_REGS_ASSEMBLER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "npu/status.h"

namespace npu::regs {

// The words of a text. Errors begin with "line N: " and name what is wrong: an unknown register,
// field or enumeration value (kNotFound), a value wider than its field (kOutOfRange), a field named
// twice or a line that is no instruction (kInvalidArgument).
Result<std::vector<uint64_t>> Assemble(std::string_view text);

// One instruction (no comment, not empty).
Result<uint64_t> AssembleLine(std::string_view line);

}  // namespace npu::regs

#endif  // SRC_REGS_ASSEMBLER_H_
