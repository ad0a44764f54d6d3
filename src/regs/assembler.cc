// SPDX-License-Identifier: Apache-2.0
#include "src/regs/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "src/regs/command.h"

namespace npu::regs {
namespace {

constexpr std::string_view kBlanks = " \t\r";

Status Bad(ErrorCode code, std::string message) { return Status(code, std::move(message)); }

// Takes the first blank-separated token off `rest`; empty at the end.
std::string_view NextToken(std::string_view* rest) {
  const size_t begin = rest->find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  const size_t end = std::min(rest->find_first_of(kBlanks, begin), rest->size());
  const std::string_view token = rest->substr(begin, end - begin);
  rest->remove_prefix(end);
  return token;
}

template <typename T>
std::optional<T> ParseDigits(std::string_view digits) {
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  T value{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || stop != end || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  const std::optional<int64_t> value = ParseDigits<int64_t>(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

Result<int64_t> FieldValue(const RegisterInfo& info, const FieldInfo& field,
                           std::string_view text) {
  for (const EnumValue& entry : field.values) {
    if (entry.name == text) return static_cast<int64_t>(entry.value);
  }
  if (const std::optional<int64_t> value = ParseInteger(text)) return *value;
  std::string known;
  for (const EnumValue& entry : field.values) known += fmt::format(" {}", entry.name);
  return Bad(ErrorCode::kNotFound,
             fmt::format("{}.{}: \"{}\" is neither a number nor one of its names{}{}",
                         info.full_name, field.name, text, known.empty() ? "" : ":", known));
}

// Bits of "NAME=VALUE"; *mask gets the bits the field occupies.
Result<uint32_t> FieldBits(const RegisterInfo& info, std::string_view token, uint32_t* mask) {
  const size_t equals = token.find('=');
  if (equals == std::string_view::npos) {
    return Bad(ErrorCode::kInvalidArgument,
               fmt::format("{}: \"{}\" is not of the form FIELD=VALUE", info.full_name, token));
  }
  const std::string_view name = token.substr(0, equals), text = token.substr(equals + 1);
  if (name == "RESERVED") {
    *mask = ~info.field_mask;
    const std::optional<int64_t> value = ParseInteger(text);
    if (!value || *value < 0 || *value > 0xFFFFFFFF || (*value & info.field_mask) != 0) {
      return Bad(ErrorCode::kOutOfRange,
                 fmt::format("{}.RESERVED: \"{}\" is no mask of reserved bits (0x{:08X})",
                             info.full_name, text, *mask));
    }
    return static_cast<uint32_t>(*value);
  }
  for (const FieldInfo& field : info.fields) {
    if (field.name != name) continue;
    NPU_ASSIGN_OR_RETURN(const int64_t value, FieldValue(info, field, text));
    NPU_RETURN_IF_ERROR(CheckField(info, field, value));
    *mask = FieldMask(field.lsb, field.width);
    return FieldInsert(value, field.lsb, field.width, field.kind);
  }
  std::string known;
  for (const FieldInfo& field : info.fields) known += fmt::format(" {}", field.name);
  return Bad(ErrorCode::kNotFound,
             fmt::format("{} has no field \"{}\"; it has:{}", info.full_name, name, known));
}

Result<uint64_t> RegisterWord(const RegisterInfo& info, std::string_view rest) {
  const std::optional<Target> target = TargetOf(info.block);
  if (!target) {
    return Bad(ErrorCode::kInvalidArgument,
               fmt::format("{} cannot be written by a command list", info.full_name));
  }
  uint32_t value = 0, seen = 0;
  for (std::string_view token = NextToken(&rest); !token.empty(); token = NextToken(&rest)) {
    uint32_t mask = 0;
    NPU_ASSIGN_OR_RETURN(const uint32_t bits, FieldBits(info, token, &mask));
    if ((seen & mask) != 0) {
      return Bad(ErrorCode::kInvalidArgument,
                 fmt::format("{}: \"{}\" sets a field twice", info.full_name, token));
    }
    seen |= mask;
    value |= bits;
  }
  return MakeWord(*target, value, info.offset);
}

Result<uint64_t> EnableLine(std::string_view rest) {
  uint32_t mask = 0;
  for (std::string_view token = NextToken(&rest); !token.empty(); token = NextToken(&rest)) {
    uint32_t bit = 0;
    for (const rk3588::BlockInfo& block : rk3588::kBlocks) {
      if (token == block.name && block.enable_bit >= 0) bit = 1u << block.enable_bit;
    }
    if (bit == 0) {
      return Bad(ErrorCode::kNotFound, fmt::format("ENABLE: \"{}\" is no block to launch", token));
    }
    mask |= bit;
  }
  return EnableWord(mask);
}

Result<uint64_t> RawLine(std::string_view rest) {
  const std::string_view text = NextToken(&rest);
  const std::optional<uint64_t> word = ParseDigits<uint64_t>(text);
  if (!word || !NextToken(&rest).empty()) {
    return Bad(ErrorCode::kInvalidArgument, ".word needs one 64-bit number");
  }
  return *word;
}

}  // namespace

Result<uint64_t> AssembleLine(std::string_view line) {
  std::string_view rest = line;
  const std::string_view name = NextToken(&rest);
  if (name == ".word") return RawLine(rest);
  if (name == "ENABLE") return EnableLine(rest);
  if (name == "NOP" || name == "SYNC") {
    if (!NextToken(&rest).empty()) {
      return Bad(ErrorCode::kInvalidArgument, fmt::format("{} takes no fields", name));
    }
    return name == "NOP" ? kNopWord : kSyncWord;
  }
  const RegisterInfo* info = FindRegister(name);
  if (info == nullptr) {
    return Bad(ErrorCode::kNotFound, fmt::format("unknown register \"{}\"", name));
  }
  return RegisterWord(*info, rest);
}

Result<std::vector<uint64_t>> Assemble(std::string_view text) {
  std::vector<uint64_t> words;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    const Result<uint64_t> word = AssembleLine(line);
    if (!word.ok()) {
      return Bad(word.status().code(), fmt::format("line {}: {}", number, word.status().message()));
    }
    words.push_back(*word);
  }
  return words;
}

}  // namespace npu::regs
