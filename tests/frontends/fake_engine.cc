// SPDX-License-Identifier: Apache-2.0
#include "tests/frontends/fake_engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace npu::frontends {
namespace {

class FakeDevice : public device::Device {
 public:
  FakeDevice() {
    info_.provider = "fake";
    info_.chip = "rk3588";
    info_.description = "nothing at all";
    info_.simulated = true;
  }
  const device::DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<device::Buffer>> Allocate(uint64_t) override {
    return Status(ErrorCode::kOutOfMemory, "a fake has no memory");
  }
  Status Run(const device::Job&, device::JobReport*) override { return OkStatus(); }
  device::DeviceStatistics statistics() const override { return {}; }

 private:
  device::DeviceInfo info_;
};

class FakeSession : public runtime::Session {
 public:
  FakeSession(std::shared_ptr<std::atomic<bool>> fail, std::shared_ptr<std::atomic<int>> live)
      : fail_(std::move(fail)), live_(std::move(live)) {
    ++*live_;
  }
  ~FakeSession() override { --*live_; }
  FakeSession(const FakeSession&) = delete;
  FakeSession& operator=(const FakeSession&) = delete;

  Status Run(std::span<const std::span<const std::byte>> inputs,
             std::span<const std::span<std::byte>> outputs) override {
    if (*fail_) return Status(ErrorCode::kDeviceFault, "the fake device caught fire");
    const auto first = std::to_integer<int>(inputs[0][0]);
    for (const std::span<std::byte>& out : outputs) {
      std::fill(out.begin(), out.end(), static_cast<std::byte>(first + 1));
    }
    ++statistics_.runs;
    statistics_.submits += 2;
    return OkStatus();
  }
  const runtime::SessionStatistics& statistics() const override { return statistics_; }

 private:
  std::shared_ptr<std::atomic<bool>> fail_;
  std::shared_ptr<std::atomic<int>> live_;
  runtime::SessionStatistics statistics_;
};

bool IsConv(const ir::Node& node) {
  return std::holds_alternative<ir::Conv2dParams>(node.params) ||
         std::holds_alternative<ir::DepthwiseConv2dParams>(node.params);
}

}  // namespace

Result<std::shared_ptr<device::Device>> FakeEngine::OpenDevice(const Options&) {
  if (has_device) return std::shared_ptr<device::Device>(std::make_shared<FakeDevice>());
  return Status(ErrorCode::kNoDevice, "no NPU here; buy a board");
}

Status FakeEngine::Verify(const ir::Graph& graph) {
  if (refuse_graph && refuse_graph(graph))
    return Status(ErrorCode::kCorruptData, "does not verify");
  return OkStatus();
}

std::vector<plan::Verdict> FakeEngine::Examine(const ir::Graph& graph,
                                               const plan::CompileOptions& options) {
  if (throw_in_examine) throw std::runtime_error("thrown on purpose");
  last_options = options;
  std::vector<plan::Verdict> verdicts;
  for (const ir::Node& node : graph.nodes) {
    plan::Verdict verdict{.supported = true, .on_npu = IsConv(node), .reason = "", .text = ""};
    if (refuse_node && refuse_node(node)) verdict = {false, false, "fake.no", "the fake says no"};
    verdicts.push_back(verdict);
  }
  return verdicts;
}

Result<std::unique_ptr<plan::CompiledProgram>> FakeEngine::Compile(const ir::Graph& graph,
                                                                   const plan::CompileOptions&) {
  ++compiles;
  if (refuse_compile && refuse_compile(graph)) {
    return Status(ErrorCode::kOutOfMemory, "4 GiB are not enough");
  }
  auto program = std::make_unique<plan::CompiledProgram>();
  program->graph = graph;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool npu = IsConv(graph.nodes[i]);
    program->tasks += npu ? 1 : 0;
    program->reports.push_back({.node = static_cast<int32_t>(i),
                                .route = npu ? "npu-int8" : "host",
                                .tasks = npu ? 1U : 0U,
                                .macs = 7,
                                .bound = {.worst_counts = 0.7, .counts = 1},
                                .modelled_us = 3.5,
                                .host_reason = npu ? "" : "no NPU form"});
  }
  program->submits = program->tasks;
  program->arena_bytes = 4096;
  program->constants.resize(128);
  program->modelled_us = 12.5;
  return program;
}

Result<std::unique_ptr<runtime::Session>> FakeEngine::CreateSession(
    std::shared_ptr<const plan::CompiledProgram>, std::shared_ptr<device::Device>,
    runtime::SessionOptions options) {
  last_verify_first = options.verify_first;
  if (refuse_session) return Status(ErrorCode::kOutOfMemory, "the address space is full");
  return std::unique_ptr<runtime::Session>(std::make_unique<FakeSession>(fail_runs, live_sessions));
}

}  // namespace npu::frontends
