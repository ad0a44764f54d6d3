// SPDX-License-Identifier: Apache-2.0
#include "apps/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "apps/replay/compare.h"
#include "apps/replay/expectation.h"
#include "src/chip/profile.h"
#include "src/sim/memory.h"

namespace npu::replay {
namespace {

// Diagnostic of a task by its place in the job, not in the kick.
struct Finding {
  std::string id;
  uint32_t task = 0;
  sim::Severity severity = sim::Severity::kWarning;
};

// The machine a case runs on, and what happened on it.
struct Machine {
  std::map<uint32_t, std::vector<std::byte>> buffers;
  sim::AddressSpace memory;
  std::optional<sim::Simulator> core;
  std::vector<Finding> findings;
  sim::Outcome last_outcome = sim::Outcome::kComplete;
  std::string failure;             // of the first kick that did not complete
  std::set<std::string> features;  // missing in the simulator
};

Status MapBuffers(const device::JobFile& file, Machine* machine) {
  for (const device::JobBuffer& buffer : file.buffers) {
    std::vector<std::byte>& bytes = machine->buffers[buffer.id];
    bytes.assign(buffer.size, std::byte{0});
    NPU_RETURN_IF_ERROR(machine->memory.Map(buffer.iova, bytes));
  }
  return OkStatus();
}

void ApplyMemory(const device::JobFile& file, const device::SubmitRecord& submit,
                 Machine* machine) {
  for (const device::MemoryRecord& record : submit.memory) {
    std::vector<std::byte>& bytes = machine->buffers[record.buffer];
    std::fill(bytes.begin(), bytes.end(), std::byte{record.fill});
    for (const device::MemorySegment& segment : record.segments) {
      const auto data = file.Bytes(segment.data_offset, segment.length);
      std::copy(data.begin(), data.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(segment.offset));
    }
  }
}

// Runs one kick and does what the kernel does when it fails: log, reset, forget the job.
bool RunKick(const sim::Kick& kick, uint32_t first_task, Machine* machine, CaseResult* result) {
  const sim::KickResult kicked = machine->core->RunKick(machine->memory, kick);
  ++result->kicks;
  result->tasks += kicked.tasks_done;
  result->modelled_us += kicked.modelled_us;
  for (const sim::TaskReport& task : kicked.tasks) result->macs += task.macs;
  for (const sim::Diagnostic& d : kicked.diagnostics) {
    machine->findings.push_back({std::string(d.id), first_task + d.task, d.severity});
    if (d.severity == sim::Severity::kUnimplemented) machine->features.insert(d.message);
    sim::Diagnostic named = d;
    named.task += first_task;
    result->diagnostics.push_back(sim::ToString(named));
  }
  machine->last_outcome = kicked.outcome;
  if (kicked.outcome == sim::Outcome::kComplete) return true;
  if (machine->failure.empty()) {
    machine->failure = std::string(sim::ToString(kicked.outcome)) + ": " + kicked.reason;
  }
  machine->core->Reset();
  return false;
}

// A buffer in both handle lists of a batched job: the kernel reports success and runs nothing
// (golden/README.md section 6).
bool DriverDropsJob(const device::JobRecord& job) {
  return job.batched() && std::any_of(job.in.begin(), job.in.end(), [&](uint32_t id) {
           return std::find(job.out.begin(), job.out.end(), id) != job.out.end();
         });
}

void RunJob(const device::JobRecord& job, Machine* machine, CaseResult* result) {
  if (DriverDropsJob(job)) {
    machine->findings.push_back({"kernel.buffer_in_both_lists", 0, sim::Severity::kProgramError});
    result->diagnostics.push_back(
        "error kernel.buffer_in_both_lists: the kernel drops a batched job with a buffer in both "
        "handle lists");
    return;
  }
  sim::Kick kick;
  if (job.batched()) {
    kick.regcmd = job.tasks.front().regcmd;
    kick.count = job.tasks.front().count;
    kick.task_number = static_cast<uint32_t>(job.tasks.size());
    RunKick(kick, 0, machine, result);
    return;
  }
  for (uint32_t t = 0; t < job.tasks.size(); ++t) {
    kick.regcmd = job.tasks[t].regcmd;
    kick.count = job.tasks[t].count;
    kick.first_of_job = t == 0;
    if (!RunKick(kick, t, machine, result)) return;
  }
}

using Snapshot = std::vector<std::vector<std::byte>>;

Snapshot TakeSnapshot(const device::SubmitRecord& submit, const Machine& machine) {
  Snapshot snapshot;
  for (const device::UntouchedRange& range : submit.untouched) {
    snapshot.emplace_back(range.length);
    machine.memory.Read(range.iova, snapshot.back());
  }
  return snapshot;
}

// Empty, or the first check or untouched range of the submission that does not hold.
std::string Judge(const device::JobFile& file, const device::SubmitRecord& submit,
                  const Snapshot& before, const Machine& machine) {
  for (const device::Check& check : submit.checks) {
    std::string difference = CompareCheck(file, check, machine.memory);
    if (!difference.empty()) return difference;
  }
  const Snapshot after = TakeSnapshot(submit, machine);
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] != before[i]) return "untouched range " + std::to_string(i) + " was written";
  }
  return "";
}

std::string Join(const std::set<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// A saved job that failed on its device must fail in the same way again.
std::string JudgeRecorded(const device::JobFile& file, const Machine& machine) {
  sim::Outcome expected = sim::Outcome::kComplete;
  if (file.outcome == "hang") expected = sim::Outcome::kHang;
  if (file.outcome == "fault_timeout") expected = sim::Outcome::kFault;
  if (machine.last_outcome != expected) {
    return std::string("the outcome is ") + sim::ToString(machine.last_outcome) + ", it was " +
           sim::ToString(expected) + " (" + file.detail + ")";
  }
  for (const Finding& finding : machine.findings) {
    if (finding.severity != sim::Severity::kWarning) return "";
  }
  return "no diagnostic was raised, it was: " + file.detail;
}

// Why the case fails although its data hold, or empty.
std::string JudgeOutcome(const device::JobFile& file, const Machine& machine) {
  if (!file.negative()) {
    if (!machine.failure.empty()) return machine.failure;
    for (const Finding& finding : machine.findings) {
      if (finding.severity != sim::Severity::kWarning) return "unexpected diagnostic " + finding.id;
    }
    return "";
  }
  if (file.family == device::kRecordedFamily) return JudgeRecorded(file, machine);
  const Expectation* expected = FindExpectation(file);
  if (expected == nullptr) return "no expectation is written for this negative case";
  if (machine.last_outcome != expected->outcome) {
    return std::string("the outcome is ") + sim::ToString(machine.last_outcome) + ", expected " +
           sim::ToString(expected->outcome);
  }
  for (const Finding& finding : machine.findings) {
    if (finding.id == expected->diagnostic && finding.task == expected->task) return "";
  }
  return "diagnostic " + std::string(expected->diagnostic) + " was not raised for task " +
         std::to_string(expected->task);
}

void RunSubmits(const device::JobFile& file, Machine* machine, CaseResult* result) {
  for (size_t i = 0; i < file.submits.size(); ++i) {
    const device::SubmitRecord& submit = file.submits[i];
    ApplyMemory(file, submit, machine);
    const Snapshot before = TakeSnapshot(submit, *machine);
    for (const device::JobRecord& job : submit.jobs) RunJob(job, machine, result);
    if (!machine->features.empty()) return;
    const std::string difference = Judge(file, submit, before, *machine);
    if (difference.empty()) continue;
    result->reason = "submit " + std::to_string(i) + ": " + difference;
    if (!machine->failure.empty()) result->reason += " (" + machine->failure + ")";
    return;
  }
}

}  // namespace

CaseResult RunCase(const device::JobFile& file, const Options& options) {
  CaseResult result;
  result.name = file.name;
  result.family = file.family;
  result.outcome = file.outcome;
  const chip::Profile* profile = chip::FindChip(options.chip);
  if (profile == nullptr || file.chip != options.chip) {
    result.status = CaseStatus::kSkipped;
    result.reason = "chip " + file.chip;
    return result;
  }
  const auto start = std::chrono::steady_clock::now();
  Machine machine;
  if (const Status status = MapBuffers(file, &machine); !status.ok()) {
    result.reason = status.message();
    return result;
  }
  sim::SimOptions sim_options;
  sim_options.path = options.path;
  sim_options.pool = options.pool;
  sim_options.profile = profile;
  // The cases judge the data; whether the mainline kernel sees a pool's end is open (Q1).
  sim_options.assume.ppu_raises_dpu_interrupt = true;
  machine.core.emplace(sim_options);
  RunSubmits(file, &machine, &result);
  if (!machine.features.empty()) {
    result.status = CaseStatus::kSkipped;
    result.reason = Join(machine.features);
  } else {
    if (result.reason.empty()) result.reason = JudgeOutcome(file, machine);
    result.status = result.reason.empty() ? CaseStatus::kPassed : CaseStatus::kFailed;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Result<std::vector<std::filesystem::path>> FindCases(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> found;
  for (const std::string& name : paths) {
    const std::filesystem::path path(name);
    std::error_code error;
    if (device::LooksLikeJobFile(path)) {
      found.push_back(path);
      continue;
    }
    const size_t before = found.size();
    if (std::filesystem::is_directory(path, error)) {
      std::filesystem::recursive_directory_iterator at(
          path, std::filesystem::directory_options::skip_permission_denied, error);
      for (const std::filesystem::recursive_directory_iterator end; !error && at != end;
           at.increment(error)) {
        const bool inside_case = at->path().filename() == "case.json" && !at->is_directory(error);
        if (inside_case) {
          found.push_back(at->path().parent_path());
        } else if (at->is_regular_file(error) && at->path().extension() != ".json" &&
                   device::LooksLikeJobFile(at->path())) {
          found.push_back(at->path());
        }
      }
    }
    if (found.size() == before) {
      return Status(ErrorCode::kNotFound, "no golden case or saved job at " + name);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<CaseResult> RunCases(const std::vector<std::filesystem::path>& cases,
                                 const Options& options) {
  std::vector<CaseResult> results;
  for (const std::filesystem::path& path : cases) {
    const Result<device::JobFile> file = device::ReadJobFile(path);
    if (file.ok()) {
      results.push_back(RunCase(*file, options));
      continue;
    }
    CaseResult unreadable;
    unreadable.name = path.string();
    unreadable.reason = file.status().message();
    results.push_back(unreadable);
  }
  return results;
}

Summary Count(const std::vector<CaseResult>& results) {
  Summary summary;
  for (const CaseResult& result : results) {
    if (result.status == CaseStatus::kPassed) ++summary.passed;
    if (result.status == CaseStatus::kFailed) ++summary.failed;
    if (result.status == CaseStatus::kSkipped) ++summary.skipped;
  }
  return summary;
}

std::string ToString(const Summary& summary) {
  return std::to_string(summary.passed) + " passed, " + std::to_string(summary.failed) +
         " failed, " + std::to_string(summary.skipped) + " skipped";
}

}  // namespace npu::replay
