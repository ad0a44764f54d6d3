// SPDX-License-Identifier: Apache-2.0
// The memory of one session: device buffers filled with constants and command lists, host memory,
// and a view of every slot.
#ifndef SRC_RUNTIME_BUFFERS_H_
#define SRC_RUNTIME_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "npu/status.h"
#include "src/device/device.h"
#include "src/plan/program.h"

namespace npu::runtime {

class ProgramBuffers {
 public:
  // Allocates everything, writes constants and relocated command lists and hands them to the
  // device.
  static Result<ProgramBuffers> Create(const plan::CompiledProgram& program, device::Device* device,
                                       bool may_chain);

  // Points the slots that live in the caller's tensors at this run's tensors. Sizes must match.
  Status Bind(std::span<const std::span<const std::byte>> inputs,
              std::span<const std::span<std::byte>> outputs);

  const layout::TensorView& view(plan::SlotId slot) const {
    return views_[static_cast<size_t>(slot)];
  }
  std::span<std::byte> scratch() { return {Align(scratch_.data()), scratch_bytes_}; }
  // The buffer object a cube lives in.
  device::Buffer* buffer_of(plan::SlotId slot) const;
  // One job of the tasks of `ops`: each buffer once, read-write ones as outputs. `chainable`: one
  // kick if the device chains.
  device::Job MakeJob(std::span<const plan::NpuOp> ops, bool chainable) const;

 private:
  Status Allocate(const plan::CompiledProgram& program, device::Device* device);
  Status WriteConstants(const plan::CompiledProgram& program);
  Status WriteCommands(const plan::CompiledProgram& program);
  void MakeViews(const plan::CompiledProgram& program);
  uint32_t AddressOf(const plan::NpuOp& op, const encode::Relocation& relocation) const;
  // The command list of one task, addresses filled in.
  std::vector<uint64_t> RelocatedList(const plan::NpuOp& op, size_t task) const;
  Status WriteStepCommands(const plan::NpuStep& step);
  static std::byte* Align(std::byte* p);

  bool chain_ = false;  // the device runs several tasks in one kick
  const plan::CompiledProgram* program_ = nullptr;
  std::unique_ptr<device::Buffer> constants_, commands_, arena_;
  std::vector<std::unique_ptr<device::Buffer>> shared_;
  std::vector<std::byte> host_, scratch_;
  uint64_t scratch_bytes_ = 0;
  std::vector<layout::TensorView> views_;
};

}  // namespace npu::runtime

#endif  // SRC_RUNTIME_BUFFERS_H_
