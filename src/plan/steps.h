// SPDX-License-Identifier: Apache-2.0
// Pass 3: the steps of a program and the tensor versions (slots) they read and write. A tensor
// stays in the order its producer left it in; a layout change appears only where a consumer needs
// one.
#ifndef SRC_PLAN_STEPS_H_
#define SRC_PLAN_STEPS_H_

#include <cstdint>
#include <vector>

#include "src/plan/program.h"
#include "src/plan/route.h"

namespace npu::plan {

class StepBuilder {
 public:
  // `program->graph` is set and stays unchanged.
  explicit StepBuilder(CompiledProgram* program);

  // Appends the steps of one node; call in schedule order. Takes over the node's kernel and words.
  void AddNode(int32_t node, RoutedNode routed);
  // Leaves every graph output row-major, rebased ones as uint8.
  void Finish();

 private:
  void AddNpuOp(int32_t node, const encode::EncodedOp* op, const host::Kernel* requantize);
  void AddHostStep(int32_t node, const host::Kernel* kernel);
  // Makes the cubes of a concatenation along the channels parts of the result's cube, so that their
  // producers write it and nothing is left to do. False, and nothing changed, where that is wrong.
  bool PlaceConcatenation(int32_t node);
  bool MayBecomePart(SlotId slot) const;
  bool RunsOnCubes(const ir::Node& node, const host::Kernel& kernel) const;
  // The slot of `value` in that form, made by a pack or unpack step if it does not exist yet.
  SlotId EnsureRowMajor(ir::ValueId value);
  SlotId EnsureCube(ir::ValueId value, const layout::CubeShape& shape);
  SlotId FindCube(ir::ValueId value, const layout::CubeShape& shape) const;
  SlotId FindRowMajor(ir::ValueId value) const;
  SlotId FindHostUint8(ir::ValueId value) const;
  SlotId NewRowMajor(ir::ValueId value);
  SlotId NewCube(ir::ValueId value, const layout::CubeShape& shape);
  std::vector<SlotId>& versions(ir::ValueId value) { return versions_[static_cast<size_t>(value)]; }

  CompiledProgram* program_;
  std::vector<std::vector<SlotId>> versions_;  // of each value, the producer's form first
};

// The cube of an 8-bit image [1,H,W,C] (or of any tensor of one pixel, seen as [1,1,1,elements]).
// Whole groups of 16 channels are allocated.
layout::CubeShape ImageCube(const ir::TensorType& type);

}  // namespace npu::plan

#endif  // SRC_PLAN_STEPS_H_
