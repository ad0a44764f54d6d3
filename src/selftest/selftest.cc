// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/chip/profile.h"
#include "src/selftest/built_in.h"

namespace npu::selftest {
namespace {

// Runs of the case of several files, each.
constexpr int kParallelRuns = 20;

bool Wanted(const Options& options, std::string_view name) {
  return options.filters.empty() ||
         std::ranges::any_of(options.filters, [&](const std::string& filter) {
           return name.find(filter) != std::string_view::npos;
         });
}

struct Case {
  device::JobFile file;
  std::string source;
};

// Golden cases that must hang or fault are replay's: they would cost a board its kernel.
std::vector<std::filesystem::path> GoldenPaths(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  if (directory.empty()) return paths;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (device::LooksLikeJobFile(at->path())) paths.push_back(at->path());
  }
  std::ranges::sort(paths);
  return paths;
}

class Runner {
 public:
  Runner(const Options& options, std::shared_ptr<device::Device> device,
         std::shared_ptr<device::Device> reference, const chip::Profile& profile)
      : options_(options),
        device_(std::move(device)),
        reference_(std::move(reference)),
        profile_(profile) {
    report_.device = device_->info();
    report_.golden = options.golden.string();
  }

  Report Run() {
    const auto tiny = TinyCase(profile_);
    if (!tiny.ok()) {
      report_.steps.push_back({"S3", "results", Verdict::kFail, tiny.status().message()});
      return std::move(report_);
    }
    RunCases();
    RunSteps(*tiny);
    if (options_.micro_tests) RunMicroTests();
    return std::move(report_);
  }

 private:
  void Judged(const device::JobFile& file, std::string_view source) {
    const Execution expected = Execute(*reference_, file);
    const bool usable = expected.status.ok() && expected.skipped.empty() && expected.modelled;
    CaseResult result;
    if (!expected.modelled && device_->info().simulated) {
      result.verdict = Verdict::kSkip;
      result.reason = expected.status.message();
      result.name = file.name;
      result.source = source;
      report_.cases.push_back(std::move(result));
      return;
    }
    // Without a recorded expectation and without a model there is nothing to compare with.
    if (!usable && file.submits[0].checks.empty()) {
      result.reason = "the simulator fails it: " + expected.status.message();
    } else {
      result = Judge(file, Execute(*device_, file), usable ? &expected : nullptr);
    }
    result.name = file.name;
    result.source = source;
    report_.cases.push_back(std::move(result));
  }

  void RunCases() {
    const auto built_in = BuiltInCases(profile_);
    if (!built_in.ok()) {
      CaseResult broken;
      broken.name = broken.source = "built-in";
      broken.reason = built_in.status().message();
      report_.cases.push_back(std::move(broken));
    } else {
      for (const device::JobFile& file : *built_in) {
        if (Wanted(options_, file.name)) Judged(file, "built-in");
      }
    }
    for (const std::filesystem::path& path : GoldenPaths(options_.golden)) {
      if (!Wanted(options_, path.filename().string())) continue;
      const auto file = device::ReadJobFile(path);
      if (!file.ok()) {
        CaseResult broken;
        broken.name = path.filename().string();
        broken.source = "golden";
        broken.reason = file.status().message();
        report_.cases.push_back(std::move(broken));
      } else if (!file->negative() && file->chip == profile_.name) {
        Judged(*file, "golden");
      }
    }
  }

  void RunSteps(const device::JobFile& tiny) {
    const auto add = [&](std::string_view id, auto step) {
      if (Wanted(options_, id)) report_.steps.push_back(step());
    };
    add("S1", [&] { return StepBuffers(*device_, profile_); });
    add("S2", [&] { return StepRoundTrip(*device_); });
    report_.steps.push_back(Results());
    add("S4", [&] { return StepTime(*device_, tiny, options_.runs); });
    add("S5", [&] { return StepPolling(device_->info(), tiny); });
    add("S6", [&] { return StepChain(*device_, *reference_, profile_); });
    add("S7", [&] {
      return StepParallel(options_.open, device_->info(), tiny, *reference_, kParallelRuns);
    });
  }

  StepResult Results() const {
    StepResult step{"S3", "results", Verdict::kPass, {}};
    const uint32_t failed = report_.Count(Verdict::kFail), passed = report_.Count(Verdict::kPass);
    step.evidence = fmt::format("{} passed, {} failed, {} skipped", passed, failed,
                                report_.Count(Verdict::kSkip));
    if (passed == 0) step.verdict = options_.filters.empty() ? Verdict::kFail : Verdict::kSkip;
    if (failed != 0) step.verdict = Verdict::kFail;
    for (const CaseResult& result : report_.cases) {
      if (result.verdict != Verdict::kFail) continue;
      step.evidence += fmt::format("; {}: {}", result.name, result.reason);
      break;
    }
    return step;
  }

  void RunMicroTests() {
    MicroContext context{&profile_, [this](std::string_view name) { return Golden(name); }};
    for (const MicroTest& test : MicroTests()) {
      if (!Wanted(options_, test.id)) continue;
      if (test.hangs && !options_.allow_hangs && !device_->info().simulated) {
        report_.answers.push_back(
            {std::string(test.id), Answer::kNotRun, "may hang the NPU: --allow-hangs"});
        continue;
      }
      if (test.fresh_core && device_->info().provider != reference_->info().provider) {
        report_.answers.push_back({std::string(test.id), Answer::kNotRun,
                                   "needs a core that nothing used since its reset"});
        continue;
      }
      // Programs that silicon completes with wrong data must not count as failures here, and some
      // need a core on which nothing ran yet.
      const Mode mode = test.hangs ? Mode::kStockKernel : Mode::kQuestions;
      const auto device = options_.open(mode);
      const auto reference = options_.reference(mode);
      if (!device.ok() || !reference.ok()) {
        const Status& status = device.ok() ? reference.status() : device.status();
        report_.answers.push_back({std::string(test.id), Answer::kNotRun, status.message()});
        continue;
      }
      report_.answers.push_back(RunMicroTest(test, context, **device, **reference));
    }
  }

  std::optional<device::JobFile> Golden(std::string_view name) const {
    if (options_.golden.empty()) return std::nullopt;
    auto file = device::ReadJobFile(options_.golden / name);
    if (!file.ok()) return std::nullopt;
    return *std::move(file);
  }

  const Options& options_;
  const std::shared_ptr<device::Device> device_, reference_;
  const chip::Profile& profile_;
  Report report_;
};

Result<const chip::Profile*> ProfileOf(const device::DeviceInfo& info) {
  const chip::Profile* profile = chip::FindChip(info.chip);
  if (profile != nullptr) return profile;
  return Status(ErrorCode::kUnsupported,
                fmt::format("the self-test knows no chip \"{}\"", info.chip));
}

}  // namespace

uint32_t Report::Count(Verdict verdict) const {
  return static_cast<uint32_t>(
      std::ranges::count_if(cases, [&](const CaseResult& c) { return c.verdict == verdict; }));
}

bool Report::healthy() const {
  const auto failed = [](const StepResult& step) { return step.verdict == Verdict::kFail; };
  const auto passed = [](const StepResult& step) { return step.verdict == Verdict::kPass; };
  const bool any = std::ranges::any_of(steps, passed) || !answers.empty();
  return any && std::ranges::none_of(steps, failed) && Count(Verdict::kFail) == 0;
}

Result<Report> Run(const Options& options) {
  NPU_ASSIGN_OR_RETURN(std::shared_ptr<device::Device> device, options.open(Mode::kCases));
  NPU_ASSIGN_OR_RETURN(std::shared_ptr<device::Device> reference, options.reference(Mode::kCases));
  NPU_ASSIGN_OR_RETURN(const chip::Profile* profile, ProfileOf(device->info()));
  return Runner(options, std::move(device), std::move(reference), *profile).Run();
}

Result<std::string> List(const Options& options) {
  NPU_ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> reference,
                       options.reference(Mode::kCases));
  NPU_ASSIGN_OR_RETURN(const chip::Profile* profile, ProfileOf(reference->info()));
  NPU_ASSIGN_OR_RETURN(const std::vector<device::JobFile> built_in, BuiltInCases(*profile));
  std::string out;
  for (const device::JobFile& file : built_in) out += fmt::format("built-in  {}\n", file.name);
  for (const std::filesystem::path& path : GoldenPaths(options.golden)) {
    out += fmt::format("golden    {}\n", path.filename().string());
  }
  for (const MicroTest& test : MicroTests()) {
    out += fmt::format("question  {}{}\n", test.id, test.hangs ? " (may hang)" : "");
  }
  return out;
}

std::filesystem::path FindGolden(const std::vector<std::filesystem::path>& directories,
                                 std::string_view chip) {
  for (const std::filesystem::path& directory : directories) {
    for (const std::filesystem::path& candidate :
         {directory / chip, directory / "golden" / chip, directory}) {
      if (!directory.empty() && !GoldenPaths(candidate).empty()) return candidate;
    }
  }
  return {};
}

}  // namespace npu::selftest
