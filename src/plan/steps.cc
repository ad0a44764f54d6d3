// SPDX-License-Identifier: Apache-2.0
#include "src/plan/steps.h"

#include <algorithm>
#include <utility>

namespace npu::plan {
namespace {

using layout::CubeShape;
using layout::Order;

// Channels that a task writes at once; a depthwise one writes 64, which its cube's allocated
// channels tell.
constexpr uint32_t kWriterGroup = 32;

bool SameCube(const CubeShape& a, const CubeShape& b) {
  return a.channels == b.channels && a.height == b.height && a.width == b.width &&
         a.element_bytes == b.element_bytes;
}

bool IsByteImage(const ir::TensorType& type) {
  return ElementBytes(type.dtype) == 1 && type.shape.rank() == 4 && type.shape[0] == 1;
}

}  // namespace

CubeShape ImageCube(const ir::TensorType& type) {
  CubeShape cube{.element_bytes = 1};
  cube.channels = static_cast<uint32_t>(type.shape.back(0));
  cube.height = static_cast<uint32_t>(type.shape[1]);
  cube.width = static_cast<uint32_t>(type.shape[2]);
  cube.allocated_channels = RoundUp(cube.channels, cube.c2());
  return cube;
}

StepBuilder::StepBuilder(CompiledProgram* program)
    : program_(program), versions_(program->graph.values.size()) {
  for (size_t i = 0; i < program->graph.inputs.size(); ++i) {
    const SlotId slot = NewRowMajor(program->graph.inputs[i]);
    program_->slots[static_cast<size_t>(slot)].place = {Memory::kInput, static_cast<uint32_t>(i),
                                                        0};
    program_->slots[static_cast<size_t>(slot)].host_uint8 =
        program->graph.type(program->graph.inputs[i]).rebased_uint8;
  }
}

void StepBuilder::AddNode(int32_t node, RoutedNode routed) {
  const host::Kernel* kernel = nullptr;
  NodeReport report;
  report.node = node;
  if (routed.kernel) {
    kernel = routed.kernel.get();
    program_->scratch_bytes = std::max<uint64_t>(program_->scratch_bytes, kernel->scratch_bytes());
    program_->kernels.push_back(std::move(routed.kernel));
  }
  if (routed.npu) {
    const encode::EncodedOp* op = routed.npu.get();
    program_->encoded.push_back(std::move(routed.npu));
    report.route = op->route;
    report.tasks = static_cast<uint32_t>(op->tasks.size());
    report.macs = op->macs;
    report.bound = op->bound;
    report.host_reason = std::move(routed.host_reason);
    AddNpuOp(node, op, kernel);
  } else {
    report.host_reason = std::move(routed.host_reason);
    if (PlaceConcatenation(node)) {
      report.route = "placement";
      program_->reports.push_back(std::move(report));
      return;
    }
    AddHostStep(node, kernel);
    const auto& step = std::get<HostStep>(program_->steps.back());
    const bool cube = std::any_of(step.outputs.begin(), step.outputs.end(), [&](SlotId s) {
      return program_->slots[static_cast<size_t>(s)].order == Order::kCube;
    });
    report.route = cube ? "host-cube" : "host";
  }
  program_->reports.push_back(std::move(report));
}

void StepBuilder::AddNpuOp(int32_t node, const encode::EncodedOp* op,
                           const host::Kernel* requantize) {
  const ir::Node& n = program_->graph.nodes[static_cast<size_t>(node)];
  NpuOp npu;
  npu.node = node;
  npu.op = op;
  npu.input = EnsureCube(n.inputs[0], op->input);
  if (op->has_input_b()) npu.input_b = EnsureCube(n.inputs[1], op->input_b);
  npu.output = NewCube(n.outputs[0], op->output);
  if (program_->steps.empty() || !std::holds_alternative<NpuStep>(program_->steps.back())) {
    program_->steps.emplace_back(NpuStep{});
  }
  const SlotId raw = npu.output;
  std::get<NpuStep>(program_->steps.back()).ops.push_back(std::move(npu));
  if (requantize == nullptr) return;
  CubeShape narrow = op->output;
  narrow.element_bytes = 1;
  // The sums may have a channel more than the tensor (encode/conv.h, raw_int32).
  narrow.channels = std::min(narrow.channels,
                             static_cast<uint32_t>(program_->graph.output(n).type.shape.back(0)));
  narrow.allocated_channels = RoundUp(narrow.channels, narrow.c2());
  HostStep step;
  step.node = node;
  step.kernel = requantize;
  step.inputs = {raw};
  step.outputs = {NewCube(n.outputs[0], narrow)};
  program_->steps.emplace_back(std::move(step));
}

bool StepBuilder::RunsOnCubes(const ir::Node& node, const host::Kernel& kernel) const {
  if (kernel.order_support() == host::OrderSupport::kRowMajor) return false;
  const ir::Graph& graph = program_->graph;
  bool has_cube = false;
  for (ir::ValueId in : node.inputs) {
    if (in == ir::kNoValue || graph.value(in).is_constant()) continue;
    if (!IsByteImage(graph.type(in))) return false;
    has_cube = has_cube || FindCube(in, ImageCube(graph.type(in))) >= 0;
  }
  for (ir::ValueId out : node.outputs) {
    if (!IsByteImage(graph.type(out))) return false;
  }
  if (kernel.order_support() == host::OrderSupport::kElementwise) {
    const Shape& shape = graph.type(node.outputs[0]).shape;
    for (ir::ValueId in : node.inputs) {
      if (in == ir::kNoValue) continue;
      // A constant operand is row-major: it cannot walk along with a cube.
      if (graph.value(in).is_constant() || !(graph.type(in).shape == shape)) return false;
    }
  }
  return has_cube;
}

void StepBuilder::AddHostStep(int32_t node, const host::Kernel* kernel) {
  const ir::Node& n = program_->graph.nodes[static_cast<size_t>(node)];
  const bool cubes = RunsOnCubes(n, *kernel);
  HostStep step;
  step.node = node;
  step.kernel = kernel;
  for (ir::ValueId in : n.inputs) {
    if (in == ir::kNoValue || program_->graph.value(in).is_constant()) {
      step.inputs.push_back(-1);
    } else if (cubes) {
      step.inputs.push_back(EnsureCube(in, ImageCube(program_->graph.type(in))));
    } else {
      step.inputs.push_back(EnsureRowMajor(in));
    }
  }
  for (ir::ValueId out : n.outputs) {
    step.outputs.push_back(cubes ? NewCube(out, ImageCube(program_->graph.type(out)))
                                 : NewRowMajor(out));
  }
  program_->steps.emplace_back(std::move(step));
}

// Not what a pack step fills (it writes padding groups too), not a part or a whole already.
bool StepBuilder::MayBecomePart(SlotId slot) const {
  if (slot < 0 || program_->slots[static_cast<size_t>(slot)].whole >= 0) return false;
  for (const TensorSlot& other : program_->slots) {
    if (other.whole == slot) return false;
  }
  return std::none_of(program_->steps.begin(), program_->steps.end(), [&](const Step& step) {
    const auto* pack = std::get_if<PackStep>(&step);
    return pack != nullptr && pack->to == slot;
  });
}

bool StepBuilder::PlaceConcatenation(int32_t node) {
  const ir::Graph& graph = program_->graph;
  const ir::Node& n = graph.nodes[static_cast<size_t>(node)];
  const auto* params = std::get_if<ir::ConcatenationParams>(&n.params);
  const ir::TensorType& type = graph.type(n.outputs[0]);
  if (params == nullptr || !IsByteImage(type)) return false;
  if (params->axis != 3 && params->axis != -1) return false;
  std::vector<std::pair<SlotId, uint32_t>> parts;  // slot, first channel
  uint32_t channel = 0;
  uint32_t written = 0;  // by the parts before
  for (const ir::ValueId in : n.inputs) {
    const ir::TensorType& part = graph.type(in);
    // uint8 tensors of other scales are rescaled: that is work.
    if (graph.value(in).is_constant() || !IsByteImage(part) || part.quant != type.quant)
      return false;
    const CubeShape shape = ImageCube(part);
    const SlotId slot = FindCube(in, shape);
    // Every part starts on a whole group of what a task writes, and where no other part's writer
    // writes padding (architecture 7.3).
    if (!MayBecomePart(slot) || channel % kWriterGroup != 0 || channel < written) return false;
    for (const auto& other : parts) {
      if (other.first == slot) return false;
    }
    parts.emplace_back(slot, channel);
    written = channel + program_->slots[static_cast<size_t>(slot)].cube.allocated_channels;
    channel += shape.channels;
  }
  const SlotId whole = NewCube(n.outputs[0], ImageCube(type));
  const CubeShape& cube = program_->slots[static_cast<size_t>(whole)].cube;
  for (const auto& [slot, first] : parts) {
    program_->slots[static_cast<size_t>(slot)].whole = whole;
    program_->slots[static_cast<size_t>(slot)].part_offset =
        first / cube.c2() * cube.surface_bytes();
  }
  return true;
}

SlotId StepBuilder::FindCube(ir::ValueId value, const CubeShape& shape) const {
  for (SlotId slot : versions_[static_cast<size_t>(value)]) {
    const TensorSlot& s = program_->slots[static_cast<size_t>(slot)];
    if (s.order == Order::kCube && SameCube(s.cube, shape)) return slot;
  }
  return -1;
}

SlotId StepBuilder::FindRowMajor(ir::ValueId value) const {
  for (SlotId slot : versions_[static_cast<size_t>(value)]) {
    const TensorSlot& s = program_->slots[static_cast<size_t>(slot)];
    if (s.order == Order::kRowMajor && !s.host_uint8) return slot;
  }
  return -1;
}

SlotId StepBuilder::FindHostUint8(ir::ValueId value) const {
  for (SlotId slot : versions_[static_cast<size_t>(value)]) {
    if (program_->slots[static_cast<size_t>(slot)].host_uint8) return slot;
  }
  return -1;
}

SlotId StepBuilder::EnsureCube(ir::ValueId value, const CubeShape& shape) {
  SlotId slot = FindCube(value, shape);
  if (slot < 0) {
    // A uint8 input that only the NPU reads is rebased on its way into the cube.
    const SlotId host = FindRowMajor(value) < 0 ? FindHostUint8(value) : SlotId{-1};
    PackStep step{.from = host < 0 ? EnsureRowMajor(value) : host};
    slot = step.to = NewCube(value, shape);
    program_->steps.emplace_back(step);
  }
  TensorSlot& s = program_->slots[static_cast<size_t>(slot)];
  s.cube.allocated_channels = std::max(s.cube.allocated_channels, shape.allocated_channels);
  s.bytes = s.cube.bytes();
  return slot;
}

SlotId StepBuilder::EnsureRowMajor(ir::ValueId value) {
  SlotId slot = FindRowMajor(value);
  if (slot >= 0) return slot;
  if (const SlotId host = FindHostUint8(value); host >= 0) {
    slot = NewRowMajor(value);
    program_->steps.emplace_back(RebaseStep{.from = host, .to = slot});
    return slot;
  }
  SlotId cube = -1;
  for (SlotId version : versions(value)) {
    // The raw int32 sums of an exact convolution are not the tensor.
    if (program_->slots[static_cast<size_t>(version)].cube.element_bytes == 1) cube = version;
  }
  UnpackStep step{.from = cube};
  slot = step.to = NewRowMajor(value);
  program_->steps.emplace_back(step);
  return slot;
}

SlotId StepBuilder::NewRowMajor(ir::ValueId value) {
  const ir::TensorType& type = program_->graph.type(value);
  TensorSlot slot;
  slot.value = value;
  slot.bytes = static_cast<uint64_t>(type.shape.elements()) * ElementBytes(type.dtype);
  slot.place.memory = Memory::kHost;
  const auto& outputs = program_->graph.outputs;
  if (const auto it = std::find(outputs.begin(), outputs.end(), value); it != outputs.end()) {
    slot.place = {Memory::kOutput, static_cast<uint32_t>(it - outputs.begin()), 0};
  }
  program_->slots.push_back(slot);
  versions(value).push_back(static_cast<SlotId>(program_->slots.size() - 1));
  return versions(value).back();
}

SlotId StepBuilder::NewCube(ir::ValueId value, const CubeShape& shape) {
  TensorSlot slot;
  slot.value = value;
  slot.order = Order::kCube;
  slot.cube = shape;
  slot.bytes = shape.bytes();
  slot.place.memory = Memory::kArena;
  program_->slots.push_back(slot);
  versions(value).push_back(static_cast<SlotId>(program_->slots.size() - 1));
  return versions(value).back();
}

void StepBuilder::Finish() {
  for (ir::ValueId out : program_->graph.outputs) {
    const bool written = FindRowMajor(out) >= 0;
    const SlotId slot = EnsureRowMajor(out);
    if (!program_->graph.type(out).rebased_uint8) continue;
    if (written) {  // every reader inside the program is done with the int8 form
      program_->steps.emplace_back(RebaseStep{.from = slot, .to = slot});
    } else {
      program_->slots[static_cast<size_t>(slot)].host_uint8 = true;
    }
  }
}

}  // namespace npu::plan
