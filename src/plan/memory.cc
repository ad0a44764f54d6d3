// SPDX-License-Identifier: Apache-2.0
#include "src/plan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace npu::plan {
namespace {

constexpr uint64_t kHostAlignment = 64;
// The feature DMA may read one CBUF bank past the end of a cube (rk3588-conv-matmul 3.1).
constexpr uint64_t kArenaSlack = 32 * 1024;
// Leaves room for the kernel's guard page and alignment in the 4 GiB aperture.
constexpr uint64_t kMaxDeviceBytes = 0xF0000000;

// When each slot is first written and last used, and whether host steps touch it. Every NPU
// operation is a moment of its own: the tasks of one job run in order with their writes drained.
struct Lifetimes {
  explicit Lifetimes(size_t slots)
      : first(slots, -1),
        last(slots, -1),
        first_step(slots, -1),
        last_step(slots, -1),
        host(slots, false) {}

  void Use(SlotId slot, bool by_host) {
    if (slot < 0) return;
    const auto s = static_cast<size_t>(slot);
    if (first[s] < 0) {
      first[s] = now;
      first_step[s] = step;
    }
    last[s] = now;
    last_step[s] = step;
    host[s] = host[s] || by_host;
  }

  int32_t now = 0, step = 0;
  std::vector<int32_t> first, last;
  std::vector<int32_t> first_step, last_step;  // the same in whole steps
  std::vector<bool> host;
};

void Visit(const PackStep& step, Lifetimes* lives) {
  lives->Use(step.from, true);
  lives->Use(step.to, true);
  ++lives->now;
}
void Visit(const UnpackStep& step, Lifetimes* lives) {
  lives->Use(step.from, true);
  lives->Use(step.to, true);
  ++lives->now;
}
void Visit(const RebaseStep& step, Lifetimes* lives) {
  lives->Use(step.from, true);
  lives->Use(step.to, true);
  ++lives->now;
}
void Visit(const HostStep& step, Lifetimes* lives) {
  for (SlotId slot : step.inputs) lives->Use(slot, true);
  for (SlotId slot : step.outputs) lives->Use(slot, true);
  ++lives->now;
}
void Visit(const NpuStep& step, Lifetimes* lives) {
  for (const NpuOp& op : step.ops) {
    for (SlotId slot : op.inputs()) lives->Use(slot, false);
    lives->Use(op.output, false);
    ++lives->now;
  }
}

// A cube that host steps touch gets a buffer object of its own, because cache maintenance covers
// whole objects; cubes whose lives do not overlap take turns in one object. Never two of one step:
// the session marks a job's last output before the job runs, and the input must still be there when
// a failed job is looked at.
void PlanShared(const std::vector<size_t>& slots, const Lifetimes& lives,
                CompiledProgram* program) {
  std::vector<size_t> order = slots;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return program->slots[a].bytes > program->slots[b].bytes;
  });
  std::vector<std::vector<size_t>> tenants;
  for (size_t slot : order) {
    size_t buffer = 0;
    for (; buffer < tenants.size(); ++buffer) {
      const bool free = std::none_of(tenants[buffer].begin(), tenants[buffer].end(), [&](size_t t) {
        return lives.first_step[t] <= lives.last_step[slot] &&
               lives.first_step[slot] <= lives.last_step[t];
      });
      if (free) break;
    }
    if (buffer == tenants.size()) {
      tenants.emplace_back();
      program->shared_bytes.push_back(program->slots[slot].bytes + kArenaSlack);
    }
    tenants[buffer].push_back(slot);
    program->slots[slot].place = {Memory::kShared, static_cast<uint32_t>(buffer), 0};
  }
}

uint64_t PlanPool(const std::vector<size_t>& slots, const Lifetimes& lives, Memory memory,
                  CompiledProgram* program) {
  std::vector<Interval> intervals;
  intervals.reserve(slots.size());
  for (size_t s : slots) {
    intervals.push_back({program->slots[s].bytes, lives.first[s], lives.last[s]});
  }
  uint64_t total = 0;
  const std::vector<uint64_t> offsets = PlanOffsets(intervals, kHostAlignment, &total);
  for (size_t i = 0; i < slots.size(); ++i) {
    program->slots[slots[i]].place = {memory, 0, offsets[i]};
  }
  return total;
}

Status CheckDeviceBytes(const CompiledProgram& program) {
  uint64_t total = program.arena_bytes;
  for (uint64_t bytes : program.shared_bytes) total += bytes;
  if (total <= kMaxDeviceBytes) return OkStatus();
  return {ErrorCode::kOutOfMemory,
          fmt::format("the partition needs {} MiB of NPU address space, more than the 4 GiB there "
                      "are: use a smaller input size",
                      total >> 20)};
}

// A whole lives as long as any of its parts, and holds them to their last padding group.
void JoinParts(CompiledProgram* program, Lifetimes* lives) {
  for (size_t s = 0; s < program->slots.size(); ++s) {
    const TensorSlot& part = program->slots[s];
    if (part.whole < 0 || lives->first[s] < 0) continue;
    const auto w = static_cast<size_t>(part.whole);
    const bool unused = lives->first[w] < 0;
    lives->first[w] = unused ? lives->first[s] : std::min(lives->first[w], lives->first[s]);
    lives->first_step[w] =
        unused ? lives->first_step[s] : std::min(lives->first_step[w], lives->first_step[s]);
    lives->last[w] = std::max(lives->last[w], lives->last[s]);
    lives->last_step[w] = std::max(lives->last_step[w], lives->last_step[s]);
    lives->host[w] = lives->host[w] || lives->host[s];
    TensorSlot& whole = program->slots[w];
    whole.bytes = std::max(whole.bytes, part.part_offset + part.bytes);
  }
}

void PlaceParts(CompiledProgram* program) {
  for (TensorSlot& part : program->slots) {
    if (part.whole < 0) continue;
    part.place = program->slots[static_cast<size_t>(part.whole)].place;
    part.place.offset += part.part_offset;
  }
}

}  // namespace

std::vector<uint64_t> PlanOffsets(const std::vector<Interval>& intervals, uint64_t alignment,
                                  uint64_t* total) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return intervals[a].bytes > intervals[b].bytes; });
  std::vector<uint64_t> offsets(intervals.size(), 0);
  std::vector<size_t> placed;
  *total = 0;
  for (size_t i : order) {
    std::vector<std::pair<uint64_t, uint64_t>> taken;  // [begin, end)
    for (size_t p : placed) {
      if (intervals[p].first <= intervals[i].last && intervals[i].first <= intervals[p].last) {
        taken.emplace_back(offsets[p], offsets[p] + intervals[p].bytes);
      }
    }
    std::sort(taken.begin(), taken.end());
    uint64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + intervals[i].bytes <= begin) break;
      offset = std::max(offset, RoundUp(end, alignment));
    }
    offsets[i] = offset;
    placed.push_back(i);
    *total = std::max(*total, RoundUp(offset + intervals[i].bytes, alignment));
  }
  return offsets;
}

Status PlanMemory(CompiledProgram* program) {
  Lifetimes lives(program->slots.size());
  for (const Step& step : program->steps) {
    std::visit([&](const auto& s) { Visit(s, &lives); }, step);
    ++lives.step;
  }
  JoinParts(program, &lives);
  std::vector<size_t> shared, arena, host;
  for (size_t s = 0; s < program->slots.size(); ++s) {
    const TensorSlot& slot = program->slots[s];
    if (lives.first[s] < 0 || slot.whole >= 0) continue;  // an input nobody reads; a part
    if (slot.order == layout::Order::kCube) {
      (lives.host[s] ? shared : arena).push_back(s);
    } else if (slot.place.memory == Memory::kHost) {
      host.push_back(s);
    }
  }
  PlanShared(shared, lives, program);
  program->arena_bytes = PlanPool(arena, lives, Memory::kArena, program);
  if (program->arena_bytes != 0) program->arena_bytes += kArenaSlack;
  program->host_bytes = PlanPool(host, lives, Memory::kHost, program);
  PlaceParts(program);
  return CheckDeviceBytes(*program);
}

}  // namespace npu::plan
