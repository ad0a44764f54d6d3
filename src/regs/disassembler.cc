// SPDX-License-Identifier: Apache-2.0
#include "src/regs/disassembler.h"

#include <fmt/format.h>

#include <cctype>

#include "src/regs/command.h"

namespace npu::regs {
namespace {

std::string FieldText(const FieldInfo& field, int64_t value) {
  if (field.kind == FieldKind::kAddress) return fmt::format("0x{:08X}", value);
  for (const EnumValue& entry : field.values) {
    if (value == entry.value) return std::string(entry.name);
  }
  // Large positive values are mostly patterns (replicated bytes, float bits).
  return value > 0xFFFF ? fmt::format("0x{:X}", value) : fmt::format("{}", value);
}

std::vector<DecodedField> Fields(const RegisterInfo& info, uint32_t value) {
  std::vector<DecodedField> fields;
  for (const FieldInfo& field : info.fields) {
    const int64_t v = FieldExtract(value, field.lsb, field.width, field.kind);
    std::string text = FieldText(field, v);
    const bool named = field.kind == FieldKind::kEnum && std::isalpha(text[0]) != 0;
    fields.push_back({field.name, v, std::move(text), named});
  }
  if (const uint32_t reserved = value & ~info.field_mask; reserved != 0) {
    fields.push_back({"RESERVED", reserved, fmt::format("0x{:08X}", reserved), false});
  }
  return fields;
}

std::string Join(const std::vector<DecodedField>& fields, bool all_fields) {
  std::string text;
  for (const DecodedField& field : fields) {
    if (field.value == 0 && !field.named && !all_fields) continue;
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", field.name, field.text);
  }
  return text;
}

// The launch word: its mask must consist of the bits of blocks that exist.
DecodedWord DecodeEnable(uint64_t word, uint32_t mask) {
  DecodedWord decoded{
      .word = word, .kind = WordKind::kEnable, .value = mask, .fields = {}, .blocks = {}};
  uint32_t known = 0;
  for (const rk3588::BlockInfo& block : rk3588::kBlocks) {
    if (block.enable_bit < 0 || (mask >> block.enable_bit & 1u) == 0) continue;
    known |= 1u << block.enable_bit;
    decoded.blocks.push_back(block.name);
  }
  if (known != mask) return {.word = word, .fields = {}, .blocks = {}};
  return decoded;
}

}  // namespace

DecodedWord DecodeWord(uint64_t word) {
  const CommandWord split = Split(word);
  DecodedWord raw{.word = word, .value = split.value, .fields = {}, .blocks = {}};
  DecodedWord decoded = raw;
  if (word == kNopWord || word == kSyncWord) {
    decoded.kind = word == kNopWord ? WordKind::kNop : WordKind::kSync;
    return decoded;
  }
  if (split.target == static_cast<uint16_t>(Target::kEnable)) {
    return split.offset == kEnableOffset ? DecodeEnable(word, split.value) : raw;
  }
  const std::optional<Block> block = BlockOf(split.target);
  const RegisterInfo* info = FindRegister(uint32_t{split.offset});
  if (!block || info == nullptr || info->block != *block) return raw;
  decoded.kind = WordKind::kRegister;
  decoded.reg = info;
  decoded.fields = Fields(*info, split.value);
  return decoded;
}

std::string FormatFields(const RegisterInfo& info, uint32_t value, bool all_fields) {
  return Join(Fields(info, value), all_fields);
}

std::string DisassembleWord(uint64_t word, bool all_fields) {
  const DecodedWord decoded = DecodeWord(word);
  switch (decoded.kind) {
    case WordKind::kNop:
      return "NOP";
    case WordKind::kSync:
      return "SYNC";
    case WordKind::kEnable: {
      std::string text = "ENABLE";
      for (const std::string_view block : decoded.blocks) text += fmt::format(" {}", block);
      return text;
    }
    case WordKind::kRegister: {
      const std::string fields = Join(decoded.fields, all_fields);
      return fmt::format("{}{}{}", decoded.reg->full_name, fields.empty() ? "" : " ", fields);
    }
    case WordKind::kRaw:
      break;
  }
  return fmt::format(".word 0x{:016X}", word);
}

std::string Disassemble(std::span<const uint64_t> words, const DisassembleOptions& options) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string line = DisassembleWord(words[i], options.all_fields);
    text += options.word_comments ? fmt::format("{:<72} # {:4} {:016x}\n", line, i, words[i])
                                  : line + "\n";
  }
  return text;
}

}  // namespace npu::regs
