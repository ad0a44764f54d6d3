// SPDX-License-Identifier: Apache-2.0
// The central list of reasons for which a node is declined or kept on the host.
#ifndef SRC_OPS_REASON_H_
#define SRC_OPS_REASON_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "npu/status.h"

namespace npu::ops {

enum class Reason : uint8_t {
#define NPU_REASON(name, id, text) k##name,
#include "src/ops/reason_list.inc"
#undef NPU_REASON
};

// Stable id for explain files and tests, "conv.groups".
std::string_view Id(Reason reason);
// One sentence for people, without the node's particulars.
std::string_view Text(Reason reason);
std::span<const Reason> AllReasons();

// kUnsupported with the reason's id and "text: detail".
Status Unsupported(Reason reason, std::string_view detail = {});

}  // namespace npu::ops

#endif  // SRC_OPS_REASON_H_
