// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "src/base/checked.h"
#include "src/device/rocket_checks.h"
#include "src/regs/command.h"

namespace npu::device {
namespace {

// Open drivers pack the lists of a chain, the vendor starts each on such a boundary; both work
// (registers-rk3588 3.4).
constexpr uint64_t kLineBytes = 64;

}  // namespace

Status CheckChain(const Job& job, const LiveBuffers& live) {
  for (size_t i = 0; i + 1 < job.tasks.size(); ++i) {
    const Task& task = job.tasks[i];
    const Task& next = job.tasks[i + 1];
    const auto bad = [&](const char* what) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("job refused: task {} of a chain {}", i, what));
    };
    if (task.count < regs::kTailWords) return bad("has no tail");
    const uint64_t list_bytes = uint64_t{task.count} * sizeof(uint64_t);
    const uint64_t end = task.regcmd + list_bytes;
    if (next.regcmd != end && next.regcmd != RoundUp(end, kLineBytes)) {
      return bad("does not lie right before the next");
    }
    const Buffer* buffer = live.Find(task.regcmd, list_bytes);
    if (buffer == nullptr) return bad("is in no buffer of this device");
    uint64_t link[2];
    const uint64_t tail = task.regcmd - buffer->iova() + list_bytes - regs::kTailWords * 8;
    std::memcpy(link, buffer->bytes().data() + tail, sizeof link);
    if (link[0] !=
            regs::MakeWord(regs::Target::kPc, next.regcmd, regs::rk3588::PcBaseAddress::kOffset) ||
        link[1] != regs::MakeWord(regs::Target::kPc, regs::LengthCode(next.count),
                                  regs::rk3588::PcRegisterAmounts::kOffset)) {
      return bad("does not name the next one in its tail");
    }
  }
  return OkStatus();
}

}  // namespace npu::device
