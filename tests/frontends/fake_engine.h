// SPDX-License-Identifier: Apache-2.0
// An engine without compiler and device, with switches for everything that can go wrong.
#ifndef TESTS_FRONTENDS_FAKE_ENGINE_H_
#define TESTS_FRONTENDS_FAKE_ENGINE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/frontends/common/engine.h"

namespace npu::frontends {

// Convolutions are "on the NPU"; a session writes (first byte of input 0) + 1 into every output
// byte.
class FakeEngine : public Engine {
 public:
  Result<std::shared_ptr<device::Device>> OpenDevice(const Options& options) override;
  Status Verify(const ir::Graph& graph) override;
  std::vector<plan::Verdict> Examine(const ir::Graph& graph,
                                     const plan::CompileOptions& options) override;
  Result<std::unique_ptr<plan::CompiledProgram>> Compile(
      const ir::Graph& graph, const plan::CompileOptions& options) override;
  Result<std::unique_ptr<runtime::Session>> CreateSession(
      std::shared_ptr<const plan::CompiledProgram> program, std::shared_ptr<device::Device> device,
      runtime::SessionOptions options) override;

  bool has_device = true;
  std::function<bool(const ir::Graph& graph)> refuse_graph;  // Verify
  std::function<bool(const ir::Node& node)> refuse_node;     // Examine
  std::function<bool(const ir::Graph& graph)> refuse_compile;
  bool refuse_session = false;
  bool throw_in_examine = false;
  std::shared_ptr<std::atomic<bool>> fail_runs = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<int>> live_sessions = std::make_shared<std::atomic<int>>(0);
  std::atomic<int> compiles{0};
  plan::CompileOptions last_options;
  bool last_verify_first = false;
};

}  // namespace npu::frontends

#endif  // TESTS_FRONTENDS_FAKE_ENGINE_H_
