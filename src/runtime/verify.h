// SPDX-License-Identifier: Apache-2.0
// verify=first: one NPU operation recomputed on the host from the device's own inputs.
#ifndef SRC_RUNTIME_VERIFY_H_
#define SRC_RUNTIME_VERIFY_H_

#include <cstdint>
#include <span>
#include <string>

#include "npu/status.h"
#include "src/layout/tensor_view.h"
#include "src/plan/program.h"

namespace npu::runtime {

struct VerifyResult {
  uint64_t mismatches = 0;  // elements that differ
  std::string first;        // "(h,w,c)=(2,0,5): device 3, expected 4"
};

// Compares the real channels of the output cube with silicon arithmetic over the input cubes.
// Allocates.
// `inputs`: the operation's one or two input cubes.
Result<VerifyResult> VerifyOp(const plan::NpuOp& op, std::span<const layout::TensorView> inputs,
                              const layout::TensorView& output);

}  // namespace npu::runtime

#endif  // SRC_RUNTIME_VERIFY_H_
