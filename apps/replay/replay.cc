// SPDX-License-Identifier: Apache-2.0
#include "apps/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "apps/replay/compare.h"
#include "apps/replay/expectation.h"
#include "apps/replay/kernel.h"
#include "src/chip/profile.h"

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
  std::unique_ptr<Kernel> kernel;
  std::vector<Finding> findings;
  sim::Outcome last_outcome = sim::Outcome::kComplete;
  Verdict last_verdict = Verdict::kCompleted;
  std::string failure;             // of the first job that did not complete
  std::set<std::string> features;  // missing in the simulator
};

void ApplyMemory(const device::JobFile& file, const device::SubmitRecord& submit,
                 const Machine& machine) {
  for (const device::MemoryRecord& record : submit.memory) {
    const std::span<std::byte> bytes = machine.kernel->buffer(record.buffer);
    std::fill(bytes.begin(), bytes.end(), std::byte{record.fill});
    for (const device::MemorySegment& segment : record.segments) {
      const auto data = file.Bytes(segment.data_offset, segment.length);
      std::copy(data.begin(), data.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(segment.offset));
    }
  }
}

void NoteKick(const sim::KickResult& kick, uint32_t first_task, Machine* machine,
              CaseResult* result) {
  ++result->kicks;
  result->tasks += kick.tasks_done;
  result->modelled_us += kick.modelled_us;
  for (const sim::TaskReport& task : kick.tasks) result->macs += task.macs;
  for (const sim::Diagnostic& d : kick.diagnostics) {
    machine->findings.push_back({std::string(d.id), first_task + d.task, d.severity});
    if (d.severity == sim::Severity::kUnimplemented) machine->features.insert(d.message);
    sim::Diagnostic named = d;
    named.task += first_task;
    result->diagnostics.push_back(sim::ToString(named));
  }
  machine->last_outcome = kick.outcome;
}

void RunJob(const device::JobRecord& job, Machine* machine, CaseResult* result) {
  const KernelResult ran = machine->kernel->Run(job);
  // Kicks that are not chained run one task each.
  for (uint32_t k = 0; k < ran.kicks.size(); ++k) NoteKick(ran.kicks[k], k, machine, result);
  machine->last_verdict = ran.verdict;
  result->kernel = ToString(ran.verdict);
  if (ran.verdict == Verdict::kCompleted) return;
  if (ran.verdict == Verdict::kRejected) {
    machine->last_outcome = sim::Outcome::kComplete;  // nothing ran
    machine->findings.push_back({"kernel.job_rejected", 0, sim::Severity::kProgramError});
    result->diagnostics.push_back("error kernel.job_rejected: the kernel runs nothing: " +
                                  ran.reason);
  } else if (machine->last_outcome == sim::Outcome::kComplete) {
    machine->last_outcome = sim::Outcome::kHang;  // every kick in itself was short enough
  }
  if (machine->failure.empty()) {
    machine->failure =
        std::string("the kernel reports ") + ToString(ran.verdict) + ": " + ran.reason;
  }
}

using Snapshot = std::vector<std::vector<std::byte>>;

Snapshot TakeSnapshot(const device::SubmitRecord& submit, const Machine& machine) {
  Snapshot snapshot;
  for (const device::UntouchedRange& range : submit.untouched) {
    snapshot.emplace_back(range.length);
    machine.kernel->memory().Read(range.iova, snapshot.back());
  }
  return snapshot;
}

// Empty, or the first check or untouched range of the submission that does not hold.
std::string Judge(const device::JobFile& file, const device::SubmitRecord& submit,
                  const Snapshot& before, const Machine& machine) {
  for (const device::Check& check : submit.checks) {
    std::string difference = CompareCheck(file, check, machine.kernel->memory());
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
  if (machine.last_verdict != expected->verdict) {
    return std::string("the kernel reports ") + ToString(machine.last_verdict) + ", expected " +
           ToString(expected->verdict);
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
    ApplyMemory(file, submit, *machine);
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
  Result<std::unique_ptr<Kernel>> kernel = Kernel::Create(file, options);
  if (!kernel.ok()) {
    result.reason = kernel.status().message();
    return result;
  }
  machine.kernel = std::move(kernel).value();
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
