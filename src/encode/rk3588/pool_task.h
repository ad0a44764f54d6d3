// SPDX-License-Identifier: Apache-2.0
// One int8 maximum-pooling task of the RK3588's pooling unit, memory to memory. Source:
// rk3588-dpu-ppu 11, 15.7.
#ifndef SRC_ENCODE_RK3588_POOL_TASK_H_
#define SRC_ENCODE_RK3588_POOL_TASK_H_

#include <cstdint>

#include "npu/status.h"
#include "src/encode/encoded_op.h"

namespace npu::encode::rk3588 {

struct PoolTask {
  uint32_t c = 0;           // programmed channels: whole atoms
  uint32_t ih = 0, iw = 0;  // rows this task reads, width of the plane
  uint32_t oh = 0, ow = 0;  // rows and columns it writes
  uint32_t plane_ih = 0, plane_oh = 0;
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1;
  uint32_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int8_t pad_value = -128;
  uint64_t input_offset = 0, output_offset = 0;
};

// Error kOutOfRange when a value does not fit its register field.
Result<TaskProgram> BuildPoolTask(const PoolTask& task);

}  // namespace npu::encode::rk3588

#endif  // SRC_ENCODE_RK3588_POOL_TASK_H_
