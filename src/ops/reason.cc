// SPDX-License-Identifier: Apache-2.0
#include "src/ops/reason.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace npu::ops {
namespace {

struct Row {
  Reason reason;
  std::string_view id, text;
};

constexpr auto kRows = std::to_array<Row>({
#define NPU_REASON(name, id, text) {Reason::k##name, id, text},
#include "src/ops/reason_list.inc"
#undef NPU_REASON
});

constexpr auto kReasons = [] {
  std::array<Reason, kRows.size()> reasons{};
  for (size_t i = 0; i < kRows.size(); ++i) reasons[i] = kRows[i].reason;
  return reasons;
}();

}  // namespace

std::string_view Id(Reason reason) { return kRows[static_cast<size_t>(reason)].id; }
std::string_view Text(Reason reason) { return kRows[static_cast<size_t>(reason)].text; }
std::span<const Reason> AllReasons() { return kReasons; }

Status Unsupported(Reason reason, std::string_view detail) {
  std::string message(Text(reason));
  if (!detail.empty()) message += fmt::format(": {}", detail);
  return {ErrorCode::kUnsupported, std::move(message), Id(reason)};
}

}  // namespace npu::ops
