// SPDX-License-Identifier: Apache-2.0
// Provider `sim`: the simulator behind the rules of the mainline kernel.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "src/cost/model.h"
#include "src/device/providers.h"
#include "src/sim/simulator.h"

namespace npu::device {
namespace {

cost::TaskTerms TermsOf(const sim::TaskReport& task) {
  return {.mac_cycles = task.mac_cycles,
          .feature_bytes = task.feature_bytes,
          .weight_bytes = task.weight_bytes,
          .output_bytes = task.output_bytes,
          .elements = task.dpu_elements,
          .unit = task.unit};
}

sim::SimOptions SimulatorOptions(const OpenOptions& options) {
  sim::SimOptions out;
  out.path = options.sim_fast ? sim::Path::kFast : sim::Path::kClear;
  out.pool = options.pool.get();
  out.assume.ppu_raises_dpu_interrupt = options.completes_ppu;
  return out;
}

class SimDevice : public Device {
 public:
  SimDevice(const chip::Profile& profile, const OpenOptions& options)
      : profile_(profile),
        options_(options),
        model_(profile.cost, {.clock_mhz = options.clock_mhz, .active_cores = 1}),
        memory_(std::make_shared<sim::AddressSpace>()),
        simulator_(SimulatorOptions(options)) {
    info_.provider = "sim";
    info_.chip = profile.name;
    info_.description = fmt::format(
        "simulated {}, one core, modelled at {:.0f} MHz (model {}, "
        "within {:.0f} %)",
        profile.name, model_.clock_ghz() * 1000, profile.cost.version, profile.cost.band_percent);
    info_.simulated = true;
    info_.can_chain = options.can_chain;
    info_.completes_ppu = options.completes_ppu;
    // Buffers may outlive the device: the hooks own the address space.
    const std::shared_ptr<sim::AddressSpace> memory = memory_;
    registry_ = std::make_shared<BufferRegistry>(
        profile.memory.address_space_bytes, profile.memory.page_bytes,
        BufferRegistry::Hooks{
            .on_map = [memory](uint32_t iova,
                               std::span<std::byte> bytes) { return memory->Map(iova, bytes); },
            .on_unmap = [memory](uint32_t iova) { (void)memory->Unmap(iova); }});
  }

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes) override {
    return registry_->Allocate(bytes);
  }

  Status Run(const Job& job, JobReport* report) override {
    JobReport local;
    JobReport& out = report == nullptr ? local : *report;
    out = JobReport{};
    const std::lock_guard<std::mutex> lock(registry_->mutex());
    NPU_RETURN_IF_ERROR(CheckJob(job, registry_->live(), profile_, info_.can_chain));
    const auto start = std::chrono::steady_clock::now();
    Status status = RunKicks(job, &out);
    out.elapsed = std::chrono::steady_clock::now() - start;
    out.completed = status.ok();
    ++statistics_.submits;
    statistics_.kicks += out.kicks;
    statistics_.failures += status.ok() ? 0 : 1;
    statistics_.modelled_us += out.modelled_us;
    return status;
  }

  DeviceStatistics statistics() const override {
    const std::lock_guard<std::mutex> lock(registry_->mutex());
    DeviceStatistics now = statistics_;
    now.live_buffers = registry_->live().count();
    now.live_bytes = registry_->live().bytes();
    return now;
  }

 private:
  // One kick for all tasks, or one a task; stops at the first that fails.
  Status RunKicks(const Job& job, JobReport* report) {
    const size_t kicks = job.chained ? 1 : job.tasks.size();
    double kicks_us = 0;
    Status status;
    for (size_t k = 0; k < kicks && status.ok(); ++k) {
      const sim::KickResult result = simulator_.RunKick(
          *memory_, {.regcmd = job.tasks[k].regcmd,
                     .count = job.tasks[k].count,
                     .task_number = job.chained ? static_cast<uint32_t>(job.tasks.size()) : 1,
                     .first_of_job = k == 0});
      ++report->kicks;
      statistics_.tasks += result.tasks_done;
      kicks_us += ModelKick(result);
      status = Judge(result, k, report);
    }
    report->modelled_us = model_.SubmitUs(model_.JobUs(kicks_us, report->kicks), 0, 0);
    const double limit_us = 1000.0 * profile_.memory.job_timeout_ms;
    if (status.ok() && model_.JobUs(kicks_us, report->kicks) > limit_us) {
      report->failure = fmt::format(
          "hang: the job is modelled to take {:.0f} ms, the kernel's "
          "watchdog ends it after {} ms",
          report->modelled_us / 1000, profile_.memory.job_timeout_ms);
      status = Fault(*report);
    }
    // What the kernel does after its watchdog expired.
    if (!status.ok()) simulator_.Reset();
    return status;
  }

  double ModelKick(const sim::KickResult& result) {
    terms_.clear();
    for (const sim::TaskReport& task : result.tasks) terms_.push_back(TermsOf(task));
    return model_.KickUs(terms_);
  }

  // Copies the findings and turns the outcome into a status.
  Status Judge(const sim::KickResult& result, size_t kick, JobReport* report) const {
    const std::string_view first_error = [&]() -> std::string_view {
      for (const sim::Diagnostic& d : result.diagnostics) {
        if (d.severity != sim::Severity::kWarning) return d.id;
      }
      return {};
    }();
    for (const sim::Diagnostic& d : result.diagnostics) {
      report->diagnostics.push_back(fmt::format("kick {}: {}", kick, sim::ToString(d)));
    }
    if (result.outcome != sim::Outcome::kComplete) {
      report->failure = fmt::format("{}: {}{}", sim::ToString(result.outcome), result.reason,
                                    first_error.empty() ? "" : fmt::format(" [{}]", first_error));
      return Fault(*report);
    }
    if (options_.strict && sim::HasErrors(result.diagnostics)) {
      report->failure =
          fmt::format("program error [{}]: silicon would complete with wrong data", first_error);
      return Fault(*report);
    }
    return OkStatus();
  }

  static Status Fault(const JobReport& report) {
    return Status(ErrorCode::kDeviceFault,
                  fmt::format("the simulated NPU failed a job: {}{}{}", report.failure,
                              report.diagnostics.empty() ? "" : "; ",
                              report.diagnostics.empty() ? "" : report.diagnostics.back()));
  }

  const chip::Profile& profile_;
  const OpenOptions options_;
  const cost::Model model_;
  DeviceInfo info_;
  std::shared_ptr<sim::AddressSpace> memory_;
  std::shared_ptr<BufferRegistry> registry_;
  // Under registry_->mutex():
  sim::Simulator simulator_;
  std::vector<cost::TaskTerms> terms_;
  DeviceStatistics statistics_;
};

}  // namespace

Result<std::shared_ptr<Device>> OpenSim(const chip::Profile& profile, const OpenOptions& options) {
  return std::shared_ptr<Device>(std::make_shared<SimDevice>(profile, options));
}

}  // namespace npu::device
