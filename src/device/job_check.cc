// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "src/device/providers.h"

namespace npu::device {
namespace {

constexpr uint32_t kListAlignment = 16;

Status Bad(std::string message) {
  return Status(ErrorCode::kInvalidArgument, "job refused: " + std::move(message));
}

bool Names(const std::vector<const Buffer*>& list, const Buffer* buffer) {
  return std::find(list.begin(), list.end(), buffer) != list.end();
}

Status CheckBuffers(const Job& job, const LiveBuffers& live) {
  if (job.outputs.empty()) return Bad("it has no output buffer, so nobody could wait for it");
  const size_t total = job.inputs.size() + job.outputs.size();
  const auto at = [&](size_t i) {
    return i < job.inputs.size() ? job.inputs[i] : job.outputs[i - job.inputs.size()];
  };
  for (size_t i = 0; i < total; ++i) {
    const char* const role = i < job.inputs.size() ? "input" : "output";
    if (at(i) == nullptr) return Bad(fmt::format("{} buffer {} is null", role, i));
    if (!live.Owns(at(i))) {
      return Bad(fmt::format("{} buffer {} does not belong to this device", role, i));
    }
    for (size_t k = 0; k < i; ++k) {
      if (at(k) != at(i)) continue;
      return Bad(
          fmt::format("the buffer at {:#x} is named twice; one that is read and written "
                      "belongs to the outputs only",
                      at(i)->iova()));
    }
  }
  return OkStatus();
}

Status CheckTask(const Job& job, size_t index, const LiveBuffers& live,
                 const chip::Profile& profile) {
  const Task& task = job.tasks[index];
  if (task.count == 0 || task.count % 2 != 0) {
    return Bad(
        fmt::format("task {} has {} words; a list has an even number, trailer included (pad "
                    "with a NOP)",
                    index, task.count));
  }
  if (task.count > profile.memory.command_words_max) {
    return Bad(fmt::format("task {} has {} words, the fetcher takes {}", index, task.count,
                           profile.memory.command_words_max));
  }
  if (task.regcmd % kListAlignment != 0) {
    return Bad(fmt::format("the list of task {} at {:#x} is not {}-byte aligned", index,
                           task.regcmd, kListAlignment));
  }
  const Buffer* buffer = live.Find(task.regcmd, uint64_t{task.count} * sizeof(uint64_t));
  if (buffer == nullptr) {
    return Bad(fmt::format("the list of task {}, {} words at {:#x}, is in no buffer of this device",
                           index, task.count, task.regcmd));
  }
  if (!Names(job.inputs, buffer) && !Names(job.outputs, buffer)) {
    return Bad(
        fmt::format("the buffer at {:#x} holds the list of task {} but is not named as an "
                    "input",
                    buffer->iova(), index));
  }
  return OkStatus();
}

}  // namespace

Status CheckJob(const Job& job, const LiveBuffers& live, const chip::Profile& profile,
                bool can_chain) {
  if (job.tasks.empty()) return Bad("it has no task");
  if (job.chained && !can_chain) {
    return Status(ErrorCode::kUnsupported,
                  "job refused: this device starts one task at a time, it cannot chain them");
  }
  if (job.chained && job.tasks.size() > profile.memory.tasks_per_kick_max) {
    return Bad(fmt::format("{} tasks in one kick, the counter takes {}", job.tasks.size(),
                           profile.memory.tasks_per_kick_max));
  }
  NPU_RETURN_IF_ERROR(CheckBuffers(job, live));
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    NPU_RETURN_IF_ERROR(CheckTask(job, i, live, profile));
  }
  return OkStatus();
}

}  // namespace npu::device
