// SPDX-License-Identifier: Apache-2.0
// A compiled partition: data that can be printed, linted, simulated, timed, cached and compared.
#ifndef SRC_PLAN_PROGRAM_H_
#define SRC_PLAN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "src/encode/encoded_op.h"
#include "src/host/kernel.h"
#include "src/ir/graph.h"
#include "src/layout/tensor_view.h"

namespace npu::plan {

// Where bytes live at run time.
enum class Memory : uint8_t {
  kArena,      // one device buffer that only the NPU touches
  kShared,     // a device buffer of its own, read or written by host steps too
  kHost,       // ordinary memory of the session
  kInput,      // the caller's input tensor (index = position)
  kOutput,     // the caller's output tensor
  kConstants,  // one device buffer: weights and operands
  kCommands,   // one device buffer: command lists
};

struct Place {
  Memory memory = Memory::kHost;
  uint32_t index = 0;   // which shared buffer, input or output; 0 otherwise
  uint64_t offset = 0;  // bytes
};

using SlotId = int32_t;

// One version of a value: the same tensor may exist row-major and as a cube.
struct TensorSlot {
  ir::ValueId value = ir::kNoValue;
  layout::Order order = layout::Order::kRowMajor;
  layout::CubeShape cube;   // kCube only
  bool host_uint8 = false;  // row-major uint8 bytes of a rebased value, as the host has them
  uint64_t bytes = 0;
  // A cube that lies inside a larger one, `part_offset` bytes from its start (concatenation by
  // placement); -1: it stands alone.
  SlotId whole = -1;
  uint64_t part_offset = 0;
  Place place;
};

// NHWC -> cube, or back: a layout change is always a step of its own. Sign bits are flipped on the
// way when the row-major side is host_uint8.
struct PackStep {
  SlotId from = -1, to = -1;
};
struct UnpackStep {
  SlotId from = -1, to = -1;
};

// uint8 <-> int8 of a row-major tensor (XOR 80h); `from` and `to` may be one slot.
struct RebaseStep {
  SlotId from = -1, to = -1;
};

// One host kernel on row-major tensors or on cubes.
struct HostStep {
  int32_t node = -1;  // index into CompiledProgram::graph.nodes
  const host::Kernel* kernel = nullptr;
  std::vector<SlotId> inputs;  // -1 for absent and constant inputs
  std::vector<SlotId> outputs;
};

// The NPU's share of one node.
struct NpuOp {
  int32_t node = -1;
  const encode::EncodedOp* op = nullptr;
  SlotId input = -1, output = -1;
  SlotId input_b = -1;                 // the second operand; -1: the operation has one
  uint64_t weights_offset = 0;         // in kConstants
  uint64_t operands_offset = 0;        // in kConstants
  std::vector<uint64_t> task_offsets;  // in kCommands, one for each task

  std::vector<SlotId> inputs() const {
    return input_b < 0 ? std::vector{input} : std::vector{input, input_b};
  }
};

// One submit: the tasks of consecutive NPU operations in one job.
struct NpuStep {
  std::vector<NpuOp> ops;
  bool chainable = false;  // may run as one kick, on a device that chains
};

using Step = std::variant<PackStep, UnpackStep, RebaseStep, HostStep, NpuStep>;

// What became of one node, for summaries and explain files.
struct NodeReport {
  int32_t node = -1;
  std::string route;  // "npu-int8", "host", "host-cube" ...
  uint32_t tasks = 0;
  uint64_t macs = 0;
  encode::ErrorBound bound;
  double modelled_us = 0.0;  // its NPU tasks; 0 on the host. Explain writes it: the demo's timeline
  std::string host_reason;   // why an operation the NPU knows runs on the host
};

struct CompiledProgram {
  ir::Graph graph;  // constants point into `constant_storage`
  std::vector<std::vector<std::byte>> constant_storage;
  std::vector<std::unique_ptr<encode::EncodedOp>> encoded;
  std::vector<std::unique_ptr<host::Kernel>> kernels;

  std::vector<TensorSlot> slots;
  std::vector<Step> steps;
  std::vector<NodeReport> reports;  // one for each node

  uint64_t arena_bytes = 0;
  std::vector<uint64_t> shared_bytes;  // size of each shared buffer
  uint64_t host_bytes = 0;
  uint64_t scratch_bytes = 0;
  std::vector<std::byte> constants;  // image of kConstants
  uint64_t commands_bytes = 0;

  uint32_t tasks = 0;
  uint32_t submits = 0;
  // NPU tasks and submits at the chip's nominal clock, host steps not included: one kick a task as
  // stock kernels run them, and one kick a submit where that is allowed.
  double modelled_us = 0.0;
  double modelled_chained_us = 0.0;
};

// One line a step, for tests and `explain`.
std::string ToString(const CompiledProgram& program);

}  // namespace npu::plan

#endif  // SRC_PLAN_PROGRAM_H_
