// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "src/base/checked.h"
#include "src/regs/command.h"

namespace npu::selftest {
namespace {

constexpr size_t kWordBytes = sizeof(uint64_t);
// The first atom of an output cube.
constexpr uint32_t kCanaryBytes = 16;
// How a simulated device begins the failure of a job that it does not model.
constexpr std::string_view kUnimplemented = "unimplemented";

bool HasAddressField(const regs::RegisterInfo& info) {
  return std::any_of(info.fields.begin(), info.fields.end(), [](const regs::FieldInfo& field) {
    return field.kind == regs::FieldKind::kAddress;
  });
}

// A buffer of the file on the device.
struct Placed {
  const device::JobBuffer* record = nullptr;
  std::unique_ptr<device::Buffer> buffer;

  std::span<std::byte> payload() const {
    return buffer->bytes().subspan(kGuardBytes, record->size);
  }
  uint32_t iova() const { return buffer->iova() + kGuardBytes; }
  bool GuardsIntact() const {
    const std::span<const std::byte> all = buffer->bytes();
    const auto intact = [](std::byte b) { return b == kGuardByte; };
    return std::all_of(all.begin(), all.begin() + kGuardBytes, intact) &&
           std::all_of(all.begin() + kGuardBytes + static_cast<std::ptrdiff_t>(record->size),
                       all.begin() + 2 * kGuardBytes + static_cast<std::ptrdiff_t>(record->size),
                       intact);
  }
};

class Bench {
 public:
  Bench(device::Device& device, const device::JobFile& file, const ExecuteOptions& options)
      : device_(device),
        file_(file),
        options_(options),
        ppu_allowed_(options.any_task || device.info().completes_ppu) {}

  Status Allocate() {
    for (const device::JobBuffer& record : file_.buffers) {
      NPU_ASSIGN_OR_RETURN(std::unique_ptr<device::Buffer> buffer,
                           device_.Allocate(record.size + 2 * kGuardBytes));
      if (buffer->bytes().size() < record.size + 2 * kGuardBytes) {
        return Status(ErrorCode::kInternal, "the device gave a buffer shorter than asked for");
      }
      std::fill(buffer->bytes().begin(), buffer->bytes().end(), kGuardByte);
      placed_.push_back({&record, std::move(buffer)});
      std::ranges::fill(placed_.back().payload(), std::byte{0});
    }
    return OkStatus();
  }

  void Run(Execution* out) {
    for (size_t s = 0; s < file_.submits.size(); ++s) {
      const device::SubmitRecord& submit = file_.submits[s];
      Submission memory;
      out->status = Prepare(s);
      if (!out->status.ok()) return;
      const std::set<uint32_t> written = Written(submit);
      std::map<uint32_t, std::vector<std::byte>> inputs;
      for (const Placed& p : placed_) {
        const std::span<const std::byte> bytes = p.payload();
        auto& copies = written.contains(p.record->id) ? memory.before : inputs;
        copies[p.record->id].assign(bytes.begin(), bytes.end());
      }
      for (const device::JobRecord& job : submit.jobs) {
        RunJob(job, out);
        if (!out->skipped.empty() || !out->status.ok()) return;
      }
      out->status = Collect(written, inputs, &memory, out);
      if (!out->status.ok()) return;
      out->submissions.push_back(std::move(memory));
    }
  }

 private:
  const Placed* FindOld(uint64_t iova) const {
    for (const Placed& p : placed_) {
      if (iova >= p.record->iova && iova < uint64_t{p.record->iova} + p.record->size) return &p;
    }
    return nullptr;
  }

  // Loads the submission's memory records and relocates the lists in what was loaded.
  Status Prepare(size_t index) {
    const device::SubmitRecord& submit = file_.submits[index];
    for (const device::MemoryRecord& record : submit.memory) {
      for (Placed& p : placed_) {
        if (p.record->id != record.buffer) continue;
        std::ranges::fill(p.payload(), std::byte{record.fill});
        for (const device::MemorySegment& segment : record.segments) {
          const auto data = file_.Bytes(segment.data_offset, segment.length);
          std::ranges::copy(data, p.payload().subspan(segment.offset).begin());
        }
        RelocateLists(p, index);
      }
    }
    for (const Placed& p : placed_) NPU_RETURN_IF_ERROR(p.buffer->EndCpuAccess());
    return OkStatus();
  }

  // Lists that later submissions run from the same contents are relocated now too: until the next
  // record of this buffer.
  void RelocateLists(const Placed& p, size_t first) {
    std::set<uint64_t> done;  // byte offsets: lists may be shared by tasks
    for (size_t s = first; s < file_.submits.size(); ++s) {
      const auto reloads = [&](const device::MemoryRecord& r) { return r.buffer == p.record->id; };
      if (s != first && std::ranges::any_of(file_.submits[s].memory, reloads)) return;
      for (const device::JobRecord& job : file_.submits[s].jobs) {
        for (const device::TaskRecord& task : job.tasks) {
          if (FindOld(task.regcmd) == &p) RelocateList(p, task, &done);
        }
      }
    }
  }

  void RelocateList(const Placed& p, const device::TaskRecord& task, std::set<uint64_t>* done) {
    const std::span<std::byte> bytes = p.payload();
    for (uint64_t i = 0; i < task.count; ++i) {
      const uint64_t at = task.regcmd - p.record->iova + i * kWordBytes;
      if (at + kWordBytes > bytes.size()) return;
      if (!done->insert(at).second) continue;
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, kWordBytes);
      word = Relocated(word);
      std::memcpy(bytes.data() + at, &word, kWordBytes);
    }
  }

  uint64_t Relocated(uint64_t word) const {
    const regs::CommandWord split = regs::Split(word);
    const std::optional<regs::Block> block = regs::BlockOf(split.target);
    const regs::RegisterInfo* info = regs::FindRegister(uint32_t{split.offset});
    if (!block || info == nullptr || info->block != *block || !HasAddressField(*info)) return word;
    const Placed* p = FindOld(split.value);
    if (p == nullptr) return word;
    return regs::MakeWord(static_cast<regs::Target>(split.target),
                          p->iova() + (split.value - p->record->iova), split.offset);
  }

  // The launch masks of the list: some block starts, and none of them is the DPU.
  static bool StartsOnlyPpu(const Placed& p, const device::TaskRecord& task) {
    uint32_t started = 0;
    for (uint64_t i = 0; i < task.count; ++i) {
      const uint64_t at = task.regcmd - p.record->iova + i * kWordBytes;
      if (at + kWordBytes > p.record->size) break;
      uint64_t word = 0;
      std::memcpy(&word, p.payload().data() + at, kWordBytes);
      const regs::CommandWord split = regs::Split(word);
      if (split.target == static_cast<uint16_t>(regs::Target::kEnable)) started |= split.value;
    }
    return started != 0 && (started >> *regs::EnableBitOf(regs::Block::kDpu) & 1u) == 0;
  }

  // Buffers that the submission's jobs name as outputs or whose contents are checked.
  std::set<uint32_t> Written(const device::SubmitRecord& submit) const {
    std::set<uint32_t> ids;
    for (const device::JobRecord& job : submit.jobs) ids.insert(job.out.begin(), job.out.end());
    for (const device::Check& check : submit.checks) {
      if (const Placed* p = FindOld(check.base)) ids.insert(p->record->id);
    }
    return ids;
  }

  void RunJob(const device::JobRecord& record, Execution* out) {
    device::Job job;
    job.chained = record.batched();
    if (job.chained && !device_.info().can_chain) {
      out->skipped = "the device starts one task at a time, this case needs a chain";
      return;
    }
    for (const Placed& p : placed_) {
      const bool output = std::ranges::find(record.out, p.record->id) != record.out.end();
      (output ? job.outputs : job.inputs).push_back(p.buffer.get());
      if (output && options_.canary && job.canary.bytes == 0) {
        job.canary = {p.buffer.get(), kGuardBytes, kCanaryBytes};
      }
    }
    for (const device::TaskRecord& task : record.tasks) {
      const Placed* p = FindOld(task.regcmd);
      if (p == nullptr || job.outputs.empty()) {
        out->skipped = "a list or the output lies outside the case's buffers";
        return;
      }
      if (!ppu_allowed_ && StartsOnlyPpu(*p, task)) {
        out->skipped = "a task of the PPU alone is not known to complete on this device";
        return;
      }
      job.tasks.push_back(
          {p->iova() + (task.regcmd - p->record->iova), RoundUp<uint32_t>(task.count, 2)});
    }
    device::JobReport report;
    out->status = device_.Run(job, &report);
    out->elapsed += report.elapsed;
    out->modelled_us += report.modelled_us;
    out->kicks += report.kicks;
    out->diagnostics.insert(out->diagnostics.end(), report.diagnostics.begin(),
                            report.diagnostics.end());
    out->modelled = !report.failure.starts_with(kUnimplemented);
  }

  Status Collect(const std::set<uint32_t>& written,
                 const std::map<uint32_t, std::vector<std::byte>>& inputs, Submission* memory,
                 Execution* out) const {
    for (const Placed& p : placed_) {
      NPU_RETURN_IF_ERROR(p.buffer->BeginCpuAccess());
      const std::span<const std::byte> bytes = p.payload();
      const uint32_t id = p.record->id;
      if (!p.GuardsIntact()) {
        out->intruded = fmt::format("memory around buffer {} was written", id);
      }
      if (written.contains(id)) {
        memory->after[id].assign(bytes.begin(), bytes.end());
      } else if (!std::ranges::equal(bytes, inputs.at(id))) {
        out->intruded = fmt::format("buffer {}, only read by the job, was written", id);
      }
    }
    return OkStatus();
  }

  device::Device& device_;
  const device::JobFile& file_;
  const ExecuteOptions options_;
  const bool ppu_allowed_;
  std::vector<Placed> placed_;
};

}  // namespace

Execution Execute(device::Device& device, const device::JobFile& file,
                  const ExecuteOptions& options) {
  Execution out;
  Bench bench(device, file, options);
  out.status = bench.Allocate();
  if (out.status.ok()) bench.Run(&out);
  return out;
}

}  // namespace npu::selftest
