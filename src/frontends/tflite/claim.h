// SPDX-License-Identifier: Apache-2.0
// Decides which nodes of a host's graph run here. Deciding and compiling are one thing: a partition
// is claimed when its program and its session exist.
#ifndef SRC_FRONTENDS_TFLITE_CLAIM_H_
#define SRC_FRONTENDS_TFLITE_CLAIM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/base/log.h"
#include "src/frontends/common/engine.h"
#include "src/frontends/common/options.h"
#include "src/frontends/common/report.h"
#include "src/frontends/tflite/abi.h"
#include "src/frontends/tflite/importer.h"

namespace npu::tflite {

// What compiling needs besides the graph. `device` null: nothing can be claimed, `no_device` says
// why.
struct ClaimContext {
  std::shared_ptr<frontends::Engine> engine;
  std::shared_ptr<device::Device> device;
  Status no_device;
  frontends::Options options;
  Logger logger;
};

// The nodes of one delegate kernel, ready to run.
struct CompiledPartition {
  int32_t id = -1;
  std::vector<int32_t> nodes;
  std::vector<int32_t> input_tensors;
  std::vector<int32_t> output_tensors;
  std::shared_ptr<const plan::CompiledProgram> program;
  std::unique_ptr<runtime::Session> session;
};

struct ClaimPlan {
  frontends::ClaimReport report;
  std::vector<CompiledPartition> partitions;
  std::string foreign_delegate;  // name of another delegate that took nodes before; empty: none
  std::vector<int32_t> claimed_nodes() const;
};

// Compiles `nodes` (host order) into a partition that provides `outputs` (host tensors).
Result<CompiledPartition> CompilePartition(abi::Context* context, const ClaimContext& claim,
                                           std::span<const int32_t> nodes,
                                           std::span<const int32_t> outputs);

// Looks at every node of the plan, groups the acceptable ones as the host will, compiles the
// groups, and repeats without the nodes that turned out not to compile or not to pay. An error only
// when the host's own answers cannot be used; then nothing must be claimed.
Result<ClaimPlan> PlanClaim(abi::Context* context, const ClaimContext& claim);

// A list in the host's layout, in our memory: hosts copy node lists.
class HostList {
 public:
  explicit HostList(std::span<const int32_t> values);
  const abi::IntArray* get() const {
    return reinterpret_cast<const abi::IntArray*>(storage_.data());
  }

 private:
  std::vector<int32_t> storage_;
};

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_CLAIM_H_
