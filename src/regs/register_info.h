// SPDX-License-Identifier: Apache-2.0
// Registers described as data, for tools and diagnostics; the tables are generated from
// chips/<soc>/registers.json.
#ifndef SRC_REGS_REGISTER_INFO_H_
#define SRC_REGS_REGISTER_INFO_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "npu/status.h"
#include "src/regs/field.h"

namespace npu::regs {

// The hardware blocks of one NPU core (registers-rk3588 section 1).
enum class Block : uint8_t {
  kPc,
  kCna,
  kCore,
  kDpu,
  kDpuRdma,
  kPpu,
  kPpuRdma,
  kDdma,
  kSdma,
  kGlobal
};
inline constexpr unsigned kBlockCount = 10;

enum class Access : uint8_t { kReadWrite, kReadOnly, kWriteOnly, kWriteOneToClear };

struct EnumValue {
  std::string_view name;  // "DEPTHWISE"
  uint32_t value = 0;
};

struct FieldInfo {
  std::string_view name;  // "CONV_MODE"
  uint8_t lsb = 0;
  uint8_t width = 0;
  FieldKind kind = FieldKind::kUint;
  bool documented = true;
  std::string_view enum_name;  // "CONV_MODE", empty unless kind is kEnum
  std::span<const EnumValue> values;
};

struct RegisterInfo {
  Block block = Block::kPc;
  std::string_view block_name;  // "CNA"
  std::string_view name;        // "CONV_CON1"
  std::string_view full_name;   // "CNA.CONV_CON1"
  uint16_t offset = 0;          // in the 64 KiB window of a core, as in a command word
  uint32_t reset = 0;
  std::optional<uint32_t> neutral;  // word to write when the function is off, where it is known
  uint32_t field_mask = 0;          // bits that belong to a field; the others are reserved
  Access access = Access::kReadWrite;
  bool banked = false;  // one copy a ping-pong group
  std::span<const FieldInfo> fields;
};

// The word of the register with these field values, in the order of info.fields. Error kOutOfRange
// naming register, field, value and range; an address also when it is not a multiple of 1 << lsb.
Result<uint32_t> EncodeFields(const RegisterInfo& info, std::span<const int64_t> values);
Result<uint32_t> EncodeFields(const RegisterInfo& info, std::initializer_list<int64_t> values);

// Why `value` does not fit the field, in words; OK when it fits.
Status CheckField(const RegisterInfo& info, const FieldInfo& field, int64_t value);

}  // namespace npu::regs

#endif  // SRC_REGS_REGISTER_INFO_H_
