// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "src/plan/program.h"

namespace npu::plan {
namespace {

std::string_view MemoryName(Memory memory) {
  switch (memory) {
    case Memory::kArena:
      return "arena";
    case Memory::kShared:
      return "shared";
    case Memory::kHost:
      return "host";
    case Memory::kInput:
      return "input";
    case Memory::kOutput:
      return "output";
    case Memory::kConstants:
      return "constants";
    case Memory::kCommands:
      return "commands";
  }
  return "?";
}

std::string Slot(const CompiledProgram& program, SlotId id) {
  if (id < 0) return "-";
  const TensorSlot& slot = program.slots[static_cast<size_t>(id)];
  const std::string form =
      slot.order == layout::Order::kCube
          ? fmt::format("cube {}x{}x{}/{}", slot.cube.channels, slot.cube.height, slot.cube.width,
                        slot.cube.allocated_channels)
          : (slot.host_uint8 ? "uint8 rows " : "rows ") +
                program.graph.type(slot.value).shape.ToString();
  return fmt::format("%{} {} @{}{}+{}", slot.value, form, MemoryName(slot.place.memory),
                     slot.place.index, slot.place.offset);
}

std::string Slots(const CompiledProgram& program, const std::vector<SlotId>& ids) {
  std::string text;
  for (SlotId id : ids) text += (text.empty() ? "" : ", ") + Slot(program, id);
  return text;
}

std::string_view NodeName(const CompiledProgram& program, int32_t node) {
  return ir::OpName(program.graph.nodes[static_cast<size_t>(node)].params);
}

std::string Line(const CompiledProgram& program, const PackStep& step) {
  return fmt::format("pack {} -> {}\n", Slot(program, step.from), Slot(program, step.to));
}
std::string Line(const CompiledProgram& program, const UnpackStep& step) {
  return fmt::format("unpack {} -> {}\n", Slot(program, step.from), Slot(program, step.to));
}
std::string Line(const CompiledProgram& program, const RebaseStep& step) {
  return fmt::format("rebase {} -> {}\n", Slot(program, step.from), Slot(program, step.to));
}
std::string Line(const CompiledProgram& program, const HostStep& step) {
  return fmt::format("host {} ({}) -> {}\n", NodeName(program, step.node),
                     Slots(program, step.inputs), Slots(program, step.outputs));
}
std::string Line(const CompiledProgram& program, const NpuStep& step) {
  std::string text = fmt::format("npu submit of {} operations\n", step.ops.size());
  for (const NpuOp& op : step.ops) {
    text += fmt::format("  {} {} tasks {} -> {}\n", NodeName(program, op.node), op.op->tasks.size(),
                        Slots(program, op.inputs()), Slot(program, op.output));
  }
  return text;
}

}  // namespace

std::string ToString(const CompiledProgram& program) {
  std::string text;
  for (const Step& step : program.steps) {
    text += std::visit([&](const auto& s) { return Line(program, s); }, step);
  }
  return text;
}

}  // namespace npu::plan
