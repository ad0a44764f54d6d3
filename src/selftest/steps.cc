// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "src/selftest/built_in.h"

namespace npu::selftest {
namespace {

// kernel-interfaces A.12: a job that took this long was ended by the kernel's watchdog.
constexpr double kSilentTimeoutMs = 450;

StepResult Failed(StepResult step, std::string evidence) {
  step.verdict = Verdict::kFail;
  step.evidence = std::move(evidence);
  return step;
}

StepResult Passed(StepResult step, std::string evidence) {
  step.verdict = Verdict::kPass;
  step.evidence = std::move(evidence);
  return step;
}

StepResult Skipped(StepResult step, std::string reason) {
  step.verdict = Verdict::kSkip;
  step.evidence = std::move(reason);
  return step;
}

double Median(std::vector<double>* values) {
  if (values->empty()) return 0;
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

}  // namespace

StepResult StepBuffers(device::Device& device, const chip::Profile& profile) {
  const StepResult step{"S1", "buffers", Verdict::kFail, {}};
  constexpr std::array<uint64_t, 3> kSizes = {1000, 4097, 1u << 20};
  std::vector<std::unique_ptr<device::Buffer>> buffers;
  for (const uint64_t size : kSizes) {
    auto buffer = device.Allocate(size);
    if (!buffer.ok()) return Failed(step, buffer.status().message());
    buffers.push_back(*std::move(buffer));
    const device::Buffer& b = *buffers.back();
    const std::span<const std::byte> bytes = b.bytes();
    if (b.iova() == 0 || b.iova() % profile.memory.page_bytes != 0) {
      return Failed(step, fmt::format("address {:#x} is 0 or not page aligned", b.iova()));
    }
    if (bytes.size() < size ||
        uint64_t{b.iova()} + bytes.size() > profile.memory.address_space_bytes) {
      return Failed(step, fmt::format("{} bytes at {:#x} are too few or end beyond 4 GiB",
                                      bytes.size(), b.iova()));
    }
    if (std::ranges::any_of(bytes, [](std::byte v) { return v != std::byte{0}; })) {
      return Failed(step, "a new buffer is not all zero");
    }
    for (size_t i = 0; i + 1 < buffers.size(); ++i) {
      const uint64_t begin = buffers[i]->iova(), end = begin + buffers[i]->bytes().size();
      if (b.iova() < end && begin < uint64_t{b.iova()} + bytes.size()) {
        return Failed(step, "two buffers overlap");
      }
    }
  }
  return Passed(step,
                fmt::format("3 buffers from {:#x}, page aligned, zeroed", buffers[0]->iova()));
}

StepResult StepRoundTrip(device::Device& device) {
  const StepResult step{"S2", "CPU round trip", Verdict::kFail, {}};
  auto buffer = device.Allocate(uint64_t{64} << 10);
  if (!buffer.ok()) return Failed(step, buffer.status().message());
  const std::span<std::byte> bytes = (*buffer)->bytes();
  const auto pattern = [](size_t i) { return static_cast<std::byte>((i * 167 + 13) & 255); };
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(i);
  for (const Status& status : {(*buffer)->EndCpuAccess(), (*buffer)->BeginCpuAccess()}) {
    if (!status.ok()) return Failed(step, status.message());
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != pattern(i)) return Failed(step, fmt::format("byte {} changed", i));
  }
  return Passed(step, fmt::format("{} KiB survive", bytes.size() >> 10));
}

StepResult StepTime(device::Device& device, const device::JobFile& tiny, int runs) {
  const StepResult step{"S4", "time of a job", Verdict::kFail, {}};
  std::vector<double> times;
  double modelled = 0;
  for (int i = 0; i < runs; ++i) {
    const Execution e = Execute(device, tiny);
    if (!e.status.ok()) return Failed(step, e.status.message());
    times.push_back(static_cast<double>(e.elapsed.count()) * 1e-6);
    modelled = e.modelled_us;
  }
  const double longest = *std::ranges::max_element(times);
  const double median = Median(&times);
  const std::string text =
      fmt::format("median {:.3f} ms, longest {:.3f} ms of {} runs{}", median, longest, runs,
                  modelled > 0 ? fmt::format(", modelled {:.0f} us", modelled) : std::string());
  // A simulated device has no watchdog to run into; a busy host may take any time.
  if (longest >= kSilentTimeoutMs && !device.info().simulated) {
    return Failed(step, text + ": the kernel's timeout");
  }
  return Passed(step, text);
}

StepResult StepChain(device::Device& device, device::Device& reference,
                     const chip::Profile& profile) {
  const StepResult step{"S6", "two-task chain", Verdict::kFail, {}};
  if (!device.info().can_chain) return Skipped(step, "the device starts one task at a time");
  const auto file = ChainCase(profile, 2);
  if (!file.ok()) return Failed(step, file.status().message());
  const Execution expected = Execute(reference, *file);
  const CaseResult result = Judge(*file, Execute(device, *file), &expected);
  if (result.verdict != Verdict::kPass) return Failed(step, result.reason);
  return Passed(step,
                fmt::format("{} kick for 2 tasks, {} bytes right", result.kicks, result.compared));
}

StepResult StepParallel(const Opener& open, const device::DeviceInfo& info,
                        const device::JobFile& tiny, device::Device& reference, int runs) {
  const StepResult step{"S7", "files in parallel", Verdict::kFail, {}};
  const size_t files = std::max<size_t>(info.cores, 2);
  std::vector<std::shared_ptr<device::Device>> devices;
  for (size_t i = 0; i < files; ++i) {
    auto device = open(Mode::kCases);
    if (!device.ok()) return Failed(step, device.status().message());
    devices.push_back(*std::move(device));
  }
  const Execution expected = Execute(reference, tiny);
  std::atomic<int> wrong{0};
  const auto work = [&](device::Device& device) {
    for (int i = 0; i < runs; ++i) {
      const CaseResult result = Judge(tiny, Execute(device, tiny), &expected);
      if (result.verdict != Verdict::kPass) ++wrong;
    }
  };
  const auto start = std::chrono::steady_clock::now();
  for (const auto& device : devices) work(*device);
  const double serial = Seconds(start);
  const auto again = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  threads.reserve(devices.size());
  for (const auto& device : devices) threads.emplace_back(work, std::ref(*device));
  for (std::thread& thread : threads) thread.join();
  const double parallel = Seconds(again);
  if (wrong != 0)
    return Failed(step, fmt::format("{} of {} runs were wrong", wrong.load(),
                                    2 * files * static_cast<size_t>(runs)));
  return Passed(step, fmt::format("{} files, all results exact, {:.1f} times as fast as one", files,
                                  parallel > 0 ? serial / parallel : 0.0));
}

}  // namespace npu::selftest
