// SPDX-License-Identifier: Apache-2.0
// One elementwise task of the RK3588: int8 cubes from memory through the post-processing unit alone
// ("flying", rk3588-dpu-ppu 7 and 9.4). An element's place does not matter, so whole cubes are read
// as rows of atoms.
#ifndef SRC_ENCODE_RK3588_ELEMENTWISE_TASK_H_
#define SRC_ENCODE_RK3588_ELEMENTWISE_TASK_H_

#include <cstdint>
#include <vector>

#include "npu/status.h"
#include "src/arith/elementwise.h"
#include "src/encode/encoded_op.h"

namespace npu::encode::rk3588 {

struct ElementwiseTask {
  uint32_t rows = 1, columns = 1;  // of 16-byte atoms
  uint64_t offset = 0;             // bytes into input, operand and output alike
  arith::ElementwiseStages stages;
};

// Error kOutOfRange when a value does not fit its register field.
Result<TaskProgram> BuildElementwiseTask(const ElementwiseTask& task);

// Cuts `atoms` atoms into rectangles the unit takes, the fewest first found. `columns` and `rows`
// of a rectangle stay within what is proven (dpu-ppu 7: 4096 columns).
struct AtomRectangle {
  uint32_t rows = 1, columns = 1;
  uint64_t first = 0;
};
std::vector<AtomRectangle> CutAtoms(uint64_t atoms);

}  // namespace npu::encode::rk3588

#endif  // SRC_ENCODE_RK3588_ELEMENTWISE_TASK_H_
