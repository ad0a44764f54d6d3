// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/regs/chain.h"

namespace npu::runtime {
namespace {

using layout::Order;
using plan::Memory;

constexpr size_t kAlignment = 64;

// The value field of a command word is bits [47:16] (registers-rk3588 section 2).
uint64_t WithValue(uint64_t word, uint32_t value) {
  constexpr uint64_t kValueMask = uint64_t{0xFFFFFFFF} << 16;
  return (word & ~kValueMask) | (uint64_t{value} << 16);
}

Status SizeMismatch(const char* what, size_t index, size_t got, uint64_t want) {
  return {
      ErrorCode::kInvalidArgument,
      fmt::format("{} {} has {} bytes, the compiled partition expects {}", what, index, got, want)};
}

}  // namespace

Result<ProgramBuffers> ProgramBuffers::Create(const plan::CompiledProgram& program,
                                              device::Device* device, bool may_chain) {
  ProgramBuffers buffers;
  buffers.program_ = &program;
  buffers.chain_ = may_chain && device->info().can_chain;
  NPU_RETURN_IF_ERROR(buffers.Allocate(program, device));
  NPU_RETURN_IF_ERROR(buffers.WriteConstants(program));
  NPU_RETURN_IF_ERROR(buffers.WriteCommands(program));
  buffers.MakeViews(program);
  return buffers;
}

Status ProgramBuffers::Allocate(const plan::CompiledProgram& program, device::Device* device) {
  const auto allocate = [&](uint64_t bytes, std::unique_ptr<device::Buffer>* buffer) -> Status {
    if (bytes == 0) return OkStatus();
    NPU_ASSIGN_OR_RETURN(*buffer, device->Allocate(bytes));
    return OkStatus();
  };
  NPU_RETURN_IF_ERROR(allocate(program.constants.size(), &constants_));
  NPU_RETURN_IF_ERROR(allocate(program.commands_bytes, &commands_));
  NPU_RETURN_IF_ERROR(allocate(program.arena_bytes, &arena_));
  shared_.resize(program.shared_bytes.size());
  for (size_t i = 0; i < shared_.size(); ++i) {
    NPU_RETURN_IF_ERROR(allocate(program.shared_bytes[i], &shared_[i]));
  }
  host_.resize(program.host_bytes + kAlignment);
  scratch_bytes_ = program.scratch_bytes;
  scratch_.resize(scratch_bytes_ + kAlignment);
  return OkStatus();
}

Status ProgramBuffers::WriteConstants(const plan::CompiledProgram& program) {
  if (!constants_) return OkStatus();
  std::memcpy(constants_->bytes().data(), program.constants.data(), program.constants.size());
  return constants_->EndCpuAccess();
}

uint32_t ProgramBuffers::AddressOf(const plan::NpuOp& op,
                                   const encode::Relocation& relocation) const {
  const auto cube = [&](plan::SlotId slot) {
    const plan::Place& place = program_->slots[static_cast<size_t>(slot)].place;
    return buffer_of(slot)->iova() + static_cast<uint32_t>(place.offset);
  };
  uint32_t base = 0;
  switch (relocation.slot) {
    case encode::Slot::kInput:
      base = cube(op.input);
      break;
    case encode::Slot::kInputB:
      base = cube(op.input_b);
      break;
    case encode::Slot::kOutput:
      base = cube(op.output);
      break;
    case encode::Slot::kWeights:
      base = constants_->iova() + static_cast<uint32_t>(op.weights_offset);
      break;
    case encode::Slot::kOperands:
      base = constants_->iova() + static_cast<uint32_t>(op.operands_offset);
      break;
  }
  return base + relocation.offset;
}

std::vector<uint64_t> ProgramBuffers::RelocatedList(const plan::NpuOp& op, size_t task) const {
  const encode::TaskProgram& program = op.op->tasks[task];
  std::vector<uint64_t> words = program.words;
  for (const encode::Relocation& r : program.relocations) {
    words[r.word] = WithValue(words[r.word], AddressOf(op, r));
  }
  return words;
}

// Lists of a chainable step lie one behind the other in the order they run; on a device that chains
// each names the next one.
Status ProgramBuffers::WriteStepCommands(const plan::NpuStep& step) {
  struct List {
    uint64_t offset;
    std::vector<uint64_t> words;
  };
  std::vector<List> lists;
  for (const plan::NpuOp& op : step.ops) {
    for (size_t t = 0; t < op.task_offsets.size(); ++t) {
      lists.push_back({op.task_offsets[t], RelocatedList(op, t)});
    }
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    List& list = lists[i];
    if (chain_ && step.chainable && i + 1 < lists.size()) {
      const List& next = lists[i + 1];
      NPU_RETURN_IF_ERROR(regs::LinkToNext(list.words,
                                           commands_->iova() + static_cast<uint32_t>(next.offset),
                                           static_cast<uint32_t>(next.words.size())));
    }
    std::memcpy(commands_->bytes().data() + list.offset, list.words.data(),
                list.words.size() * sizeof(uint64_t));
  }
  return OkStatus();
}

Status ProgramBuffers::WriteCommands(const plan::CompiledProgram& program) {
  if (!commands_) return OkStatus();
  for (const plan::Step& step : program.steps) {
    if (const auto* npu = std::get_if<plan::NpuStep>(&step)) {
      NPU_RETURN_IF_ERROR(WriteStepCommands(*npu));
    }
  }
  return commands_->EndCpuAccess();
}

void ProgramBuffers::MakeViews(const plan::CompiledProgram& program) {
  views_.resize(program.slots.size());
  for (size_t s = 0; s < program.slots.size(); ++s) {
    const plan::TensorSlot& slot = program.slots[s];
    const ir::TensorType& type = program.graph.type(slot.value);
    layout::TensorView& view = views_[s];
    view.dtype = type.dtype;
    view.shape = type.shape;
    view.order = slot.order;
    if (slot.order == Order::kCube) {
      view.surface_bytes = slot.cube.surface_bytes();
      view.shape = {1, static_cast<int32_t>(slot.cube.height),
                    static_cast<int32_t>(slot.cube.width),
                    static_cast<int32_t>(slot.cube.channels)};
      if (slot.cube.element_bytes == 4) view.dtype = DataType::kInt32;
      view.data = buffer_of(static_cast<plan::SlotId>(s))->bytes().data() + slot.place.offset;
    } else if (slot.place.memory == Memory::kHost) {
      view.data = Align(host_.data()) + slot.place.offset;
    }
  }
}

std::byte* ProgramBuffers::Align(std::byte* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return p + (RoundUp<uintptr_t>(address, kAlignment) - address);
}

Status ProgramBuffers::Bind(std::span<const std::span<const std::byte>> inputs,
                            std::span<const std::span<std::byte>> outputs) {
  if (inputs.size() != program_->graph.inputs.size() ||
      outputs.size() != program_->graph.outputs.size()) {
    return {ErrorCode::kInvalidArgument, "wrong number of input or output tensors"};
  }
  for (size_t s = 0; s < program_->slots.size(); ++s) {
    const plan::TensorSlot& slot = program_->slots[s];
    if (slot.order == Order::kCube) continue;
    const size_t i = slot.place.index;
    if (slot.place.memory == Memory::kInput) {
      if (inputs[i].size() != slot.bytes) {
        return SizeMismatch("input", i, inputs[i].size(), slot.bytes);
      }
      // Views serve inputs and outputs alike; no step writes an input slot.
      views_[s].data = const_cast<std::byte*>(inputs[i].data());
    } else if (slot.place.memory == Memory::kOutput) {
      if (outputs[i].size() != slot.bytes) {
        return SizeMismatch("output", i, outputs[i].size(), slot.bytes);
      }
      views_[s].data = outputs[i].data();
    }
  }
  return OkStatus();
}

device::Buffer* ProgramBuffers::buffer_of(plan::SlotId slot) const {
  const plan::Place& place = program_->slots[static_cast<size_t>(slot)].place;
  return place.memory == Memory::kShared ? shared_[place.index].get() : arena_.get();
}

device::Job ProgramBuffers::MakeJob(std::span<const plan::NpuOp> ops, bool chainable) const {
  device::Job job;
  job.inputs.push_back(commands_.get());
  if (constants_) job.inputs.push_back(constants_.get());
  const auto add = [](std::vector<const device::Buffer*>* list, const device::Buffer* buffer) {
    if (std::find(list->begin(), list->end(), buffer) == list->end()) list->push_back(buffer);
  };
  for (const plan::NpuOp& op : ops) add(&job.outputs, buffer_of(op.output));
  for (const plan::NpuOp& op : ops) {
    for (const plan::SlotId slot : op.inputs()) {
      const device::Buffer* input = buffer_of(slot);
      if (std::find(job.outputs.begin(), job.outputs.end(), input) == job.outputs.end()) {
        add(&job.inputs, input);
      }
    }
    const double task_us = program_->reports[static_cast<size_t>(op.node)].modelled_us /
                           static_cast<double>(op.task_offsets.size());
    for (size_t t = 0; t < op.task_offsets.size(); ++t) {
      job.tasks.push_back({commands_->iova() + static_cast<uint32_t>(op.task_offsets[t]),
                           static_cast<uint32_t>(op.op->tasks[t].words.size()), task_us});
    }
  }
  job.chained = chain_ && chainable && job.tasks.size() > 1;
  return job;
}

}  // namespace npu::runtime
