// SPDX-License-Identifier: Apache-2.0
#include "src/regs/register_info.h"

#include <fmt/format.h>

namespace npu::regs {

Status CheckField(const RegisterInfo& info, const FieldInfo& field, int64_t value) {
  if (FieldFits(value, field.lsb, field.width, field.kind)) return OkStatus();
  const int64_t min = FieldMin(field.width, field.kind == FieldKind::kSigned);
  const int64_t max = FieldMax(field.lsb, field.width, field.kind);
  if (value >= min && value <= max) {
    return Status(ErrorCode::kOutOfRange,
                  fmt::format("{}.{}: address {:#x} is not a multiple of {}", info.full_name,
                              field.name, value, 1u << field.lsb));
  }
  return Status(ErrorCode::kOutOfRange,
                fmt::format("{}.{}: {} does not fit {} bits ({}..{})", info.full_name, field.name,
                            value, field.width, min, max));
}

Result<uint32_t> EncodeFields(const RegisterInfo& info, std::span<const int64_t> values) {
  if (values.size() != info.fields.size()) {
    return Status(ErrorCode::kInternal, fmt::format("{}: {} values for {} fields", info.full_name,
                                                    values.size(), info.fields.size()));
  }
  uint32_t word = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const FieldInfo& field = info.fields[i];
    NPU_RETURN_IF_ERROR(CheckField(info, field, values[i]));
    word |= FieldInsert(values[i], field.lsb, field.width, field.kind);
  }
  return word;
}

Result<uint32_t> EncodeFields(const RegisterInfo& info, std::initializer_list<int64_t> values) {
  return EncodeFields(info, std::span<const int64_t>(values.begin(), values.size()));
}

}  // namespace npu::regs
