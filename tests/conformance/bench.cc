// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/bench.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/checked.h"

namespace npu::conformance {
namespace {

constexpr uint32_t kGuard = 4096;
constexpr std::byte kGuardByte{0xC3};

Region MakeRegion(uint32_t iova, size_t size) {
  Region r{.iova = iova, .bytes = {}, .before = {}};
  r.bytes.assign(RoundUp(size, size_t{4096}) + 2 * kGuard, kGuardByte);
  std::fill_n(r.payload(), size, kPoison);
  return r;
}

std::string CheckGuards(const Region& r, size_t size, const char* name) {
  for (size_t i = 0; i < r.bytes.size(); ++i) {
    if (i >= kGuard && i < kGuard + size) continue;
    if (r.bytes[i] != kGuardByte) {
      return std::string("guard zone of the ") + name + " written at offset " +
             std::to_string(static_cast<int64_t>(i) - static_cast<int64_t>(kGuard));
    }
  }
  return {};
}

}  // namespace

std::byte* Region::payload() { return bytes.data() + kGuard; }

Bench::Bench(const encode::EncodedOp& op, const std::vector<std::vector<std::byte>>& inputs)
    : op_(op) {
  Add(encode::Slot::kInput, op.input.bytes(), inputs[0]);
  Add(encode::Slot::kOutput, op.output.bytes(), {});
  if (!op.weights.empty()) Add(encode::Slot::kWeights, op.weights.size(), op.weights);
  if (!op.operands.empty()) Add(encode::Slot::kOperands, op.operands.size(), op.operands);
  if (op.has_input_b()) Add(encode::Slot::kInputB, op.input_b.bytes(), inputs[1]);
}

std::string Bench::RunTasks() {
  std::vector<Region> lists;
  for (const encode::TaskProgram& task : op_.tasks) lists.push_back(MakeList(task));
  for (auto& [slot, r] : regions_) r.before = r.bytes;
  std::string failure = RunPath(sim::Path::kFast, &lists);
  if (!failure.empty()) return "fast path, " + failure;
  std::map<encode::Slot, std::vector<std::byte>> fast;
  for (auto& [slot, r] : regions_) fast[slot] = std::exchange(r.bytes, r.before);
  failure = RunPath(sim::Path::kClear, &lists);
  if (!failure.empty()) return failure;
  for (auto& [slot, r] : regions_) {
    if (r.bytes != fast[slot]) return "the fast path differs from the clear one";
  }
  return CheckMemory();
}

std::string Bench::RunPath(sim::Path path, std::vector<Region>* lists) {
  sim::AddressSpace memory;
  for (auto& [slot, r] : regions_) {
    if (!memory.Map(r.iova - kGuard, r.bytes).ok()) return "cannot map a buffer";
  }
  for (Region& r : *lists) {
    if (!memory.Map(r.iova - kGuard, r.bytes).ok()) return "cannot map a list";
  }
  sim::SimOptions options;
  // Pools run only on devices whose tasks of the pooling unit are seen to complete.
  options.assume.ppu_raises_dpu_interrupt =
      std::holds_alternative<encode::SiliconPool>(op_.silicon);
  options.path = path;
  sim::Simulator simulator(options);
  for (size_t i = 0; i < lists->size(); ++i) {
    const sim::KickResult result = simulator.RunKick(
        memory,
        {.regcmd = (*lists)[i].iova, .count = static_cast<uint32_t>(op_.tasks[i].words.size())});
    const std::string where = "task " + std::to_string(i) + ": ";
    for (const sim::Diagnostic& d : result.diagnostics) {
      if (!IsRightHere(d)) return where + sim::ToString(d);
    }
    if (result.outcome != sim::Outcome::kComplete) return where + result.reason;
  }
  return {};
}

void Bench::Add(encode::Slot slot, size_t size, const std::vector<std::byte>& contents) {
  Region r = MakeRegion(next_, size);
  std::copy(contents.begin(), contents.end(), r.payload());
  next_ += static_cast<uint32_t>(r.bytes.size()) + 4096;
  sizes_[slot] = size;
  regions_.emplace(slot, std::move(r));
}

Region Bench::MakeList(const encode::TaskProgram& task) {
  std::vector<uint64_t> words = task.words;
  for (const encode::Relocation& r : task.relocations) {
    words[r.word] |= uint64_t{regions_.at(r.slot).iova + r.offset} << 16;
  }
  Region list = MakeRegion(next_, words.size() * 8);
  std::memcpy(list.payload(), words.data(), words.size() * 8);
  next_ += static_cast<uint32_t>(list.bytes.size()) + 4096;
  return list;
}

// The simulator cannot know the plane's height; on one of exactly four rows a band of fewer rows
// rightly has surface stride 0.
bool Bench::IsRightHere(const sim::Diagnostic& d) const {
  return d.id == "cna.surface_stride_clamped" && op_.input.height == 4;
}

std::string Bench::CheckMemory() {
  constexpr const char* kNames[] = {"input", "output", "weights", "operands", "second input"};
  for (auto& [slot, r] : regions_) {
    const char* name = kNames[static_cast<size_t>(slot)];
    if (slot != encode::Slot::kOutput && r.bytes != r.before) {
      return std::string(name) + " changed";
    }
    std::string guards = CheckGuards(r, sizes_.at(slot), name);
    if (!guards.empty()) return guards;
  }
  return {};
}

}  // namespace npu::conformance
