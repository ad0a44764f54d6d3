// SPDX-License-Identifier: Apache-2.0
// What a frontend needs from the layers below, as one interface: tests replace it with fakes.
#ifndef SRC_FRONTENDS_COMMON_ENGINE_H_
#define SRC_FRONTENDS_COMMON_ENGINE_H_

#include <memory>
#include <vector>

#include "npu/status.h"
#include "src/device/device.h"
#include "src/frontends/common/options.h"
#include "src/ir/graph.h"
#include "src/plan/compile.h"
#include "src/plan/program.h"
#include "src/runtime/session.h"

namespace npu::frontends {

// Thread-safe; the compiler's functions are pure.
class Engine {
 public:
  virtual ~Engine() = default;
  // The device of these options, opened once a process and shared. kNoDevice with the remedy in the
  // message when there is none.
  virtual Result<std::shared_ptr<device::Device>> OpenDevice(const Options& options) = 0;
  virtual Status Verify(const ir::Graph& graph) = 0;
  virtual std::vector<plan::Verdict> Examine(const ir::Graph& graph,
                                             const plan::CompileOptions& options) = 0;
  virtual Result<std::unique_ptr<plan::CompiledProgram>> Compile(
      const ir::Graph& graph, const plan::CompileOptions& options) = 0;
  virtual Result<std::unique_ptr<runtime::Session>> CreateSession(
      std::shared_ptr<const plan::CompiledProgram> program, std::shared_ptr<device::Device> device,
      runtime::SessionOptions options) = 0;
};

// The library itself.
std::shared_ptr<Engine> MakeEngine();

}  // namespace npu::frontends

#endif  // SRC_FRONTENDS_COMMON_ENGINE_H_
