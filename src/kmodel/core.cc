// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/kmodel/platform.h"

namespace npu::kmodel {
namespace {

sim::SimOptions SimulatorOptions(const Options& options, const chip::Profile& profile,
                                 uint32_t index, WorkerPool* pool) {
  sim::SimOptions out;
  out.path = options.path;
  out.pool = pool;
  out.profile = &profile;
  out.core_index = index;
  out.assume = options.assume;
  return out;
}

std::string NameOf(const chip::Profile& profile, uint32_t index) {
  const Platform* platform = FindPlatform(profile.name);
  return platform == nullptr ? fmt::format("core{}", index) : CoreName(*platform, index);
}

// The address in the simulator's "Page fault at 0x... of type ...".
std::optional<uint64_t> FaultAddress(std::string_view message) {
  const size_t at = message.find("0x");
  if (at == std::string_view::npos) return std::nullopt;
  return std::strtoull(std::string(message.substr(at, 18)).c_str(), nullptr, 16);
}

bool Lists(const Job& job, const BufferObject* object) {
  const auto is_it = [object](const auto& listed) { return listed.get() == object; };
  return std::any_of(job.in.begin(), job.in.end(), is_it) ||
         std::any_of(job.out.begin(), job.out.end(), is_it);
}

}  // namespace

Core::Core(const Options& options, const chip::Profile& profile, uint32_t index, Reporter* reporter)
    : options_(options),
      profile_(profile),
      reporter_(reporter),
      index_(index),
      name_(NameOf(profile, index)),
      model_(profile.cost),
      pool_(options.threads),
      simulator_(SimulatorOptions(options, profile, index, &pool_)) {}

// Strict lifetime shows a job only what it lists, strict poison nothing at the guard page.
Core::View Core::MakeView(const Job& job) const {
  View view;
  for (std::shared_ptr<BufferObject>& object : job.domain->Objects()) {
    if (options_.strict.lifetime && !Lists(job, object.get())) continue;
    std::span<std::byte> bytes = object->device_bytes();
    uint32_t iova = object->iova();
    if (options_.strict.poison && iova == 0) {
      const size_t page = std::min<size_t>(profile_.memory.page_bytes, bytes.size());
      bytes = bytes.subspan(page);
      iova = static_cast<uint32_t>(page);
    }
    if (!bytes.empty()) (void)view.space.Map(iova, bytes);
    view.objects.push_back(std::move(object));
  }
  return view;
}

// Says of a page fault what the client did wrong, where a strict mode caused it.
void Core::ExplainFault(const Job& job, std::string_view message) {
  reporter_->KernelLine(fmt::format("rk_iommu {}: {}", name_, message));
  const std::optional<uint64_t> address = FaultAddress(message);
  if (!address) return;
  if (options_.strict.poison && *address < profile_.memory.page_bytes) {
    reporter_->Finding("poison", fmt::format("a job reaches the guard page: {}", message));
    return;
  }
  if (!options_.strict.lifetime) return;
  for (const std::shared_ptr<BufferObject>& object : job.domain->Objects()) {
    const uint64_t begin = object->iova();
    if (*address < begin || *address >= begin + object->bytes()) continue;
    reporter_->Finding("lifetime",
                       fmt::format("a job uses the object at {:#x} without listing it", begin));
  }
}

bool Core::RunKick(const Job& job, size_t task, JobOutcome* outcome) {
  View view = MakeView(job);
  const uint32_t tasks = job.batched ? static_cast<uint32_t>(job.tasks.size()) : 1;
  outcome->kicks.push_back(simulator_.RunKick(view.space, {.regcmd = job.tasks[task].regcmd,
                                                           .count = job.tasks[task].regcmd_count,
                                                           .task_number = tasks,
                                                           .first_of_job = task == 0}));
  const sim::KickResult& kick = outcome->kicks.back();
  outcome->modelled_us += kick.modelled_us;
  if (kick.outcome == sim::Outcome::kComplete) return true;
  if (kick.outcome == sim::Outcome::kFault) {
    for (const sim::Diagnostic& d : kick.diagnostics) {
      if (d.id.ends_with("_fault")) ExplainFault(job, d.message);
    }
  }
  outcome->reason = fmt::format("{}: {}", sim::ToString(kick.outcome), kick.reason);
  return false;
}

JobOutcome Core::Run(const Job& job) {
  JobOutcome outcome;
  outcome.core = index_;
  const size_t kicks = job.batched ? 1 : job.tasks.size();
  const size_t last = job.faults.reset ? kicks / 2 : kicks;
  const double limit_us = 1000.0 * options_.timeout_ms;
  for (size_t k = 0; k < last && !job.faults.timeout && !outcome.timed_out; ++k) {
    outcome.timed_out = !RunKick(job, k, &outcome);
    const double job_us = model_.JobUs(outcome.modelled_us, static_cast<uint32_t>(k + 1));
    if (outcome.timed_out || limit_us == 0 || job_us <= limit_us) continue;
    outcome.timed_out = true;
    outcome.reason = fmt::format("hang: the job is modelled to take {:.0f} ms", job_us / 1000);
  }
  if (!outcome.timed_out && (job.faults.timeout || job.faults.lost_wakeup || job.faults.reset)) {
    outcome.timed_out = true;
    outcome.reason = "hang: injected";
  }
  return outcome;
}

}  // namespace npu::kmodel
