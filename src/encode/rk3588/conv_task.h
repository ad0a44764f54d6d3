// SPDX-License-Identifier: Apache-2.0
// One int8 convolution task of the RK3588: numbers in, command list out. Everything here is the
// hardware's own view (programmed channels, rows of this tile); tiling and packing come before.
// Source: rk3588-conv-matmul sections 3, 4 and 15.
#ifndef SRC_ENCODE_RK3588_CONV_TASK_H_
#define SRC_ENCODE_RK3588_CONV_TASK_H_

#include <cstdint>

#include "npu/status.h"
#include "src/encode/encoded_op.h"

namespace npu::encode::rk3588 {

// Channels of one kernel group (direct) and of one depthwise block: what the writer stores at once.
inline constexpr uint32_t kKernelGroup = 32;
inline constexpr uint32_t kInputGroup = 32;
inline constexpr uint32_t kDepthwiseGroup = 64;

struct ConvTask {
  bool depthwise = false;
  uint32_t ic = 0;          // programmed input channels
  uint32_t ih = 0, iw = 0;  // rows this task reads, width of the plane
  uint32_t plane_ih = 0;    // rows of the whole input plane in memory
  uint32_t oc = 0;          // programmed output channels: whole writer groups
  uint32_t oh = 0, ow = 0;  // rows and columns this task writes
  uint32_t plane_oh = 0;    // rows of the whole output plane in memory
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  uint32_t pad_top = 0, pad_left = 0;
  int8_t pad_value = 0;
  int16_t weight_zero_point = 0;
  uint32_t data_banks = 0, weight_banks = 0;

  bool raw_int32 = false;    // everything below is unused
  bool per_channel = false;  // 64-byte records with multipliers, else dense addends
  uint32_t bs_shift = 0;
  bool relu = false;
  bool relux = false;  // clamp to [0, relux_limit]
  int32_t relux_limit = 0;
  int32_t out_scale = 1;
  uint32_t out_shift = 0;
  int32_t out_offset = 0;

  // Byte offsets of this task inside the operation's buffers.
  uint64_t input_offset = 0, output_offset = 0, weights_offset = 0, operands_offset = 0;
};

// Error kOutOfRange when a value does not fit its register field.
Result<TaskProgram> BuildConvTask(const ConvTask& task);

// CBUF entries (64 bytes) of one input line, rk3588-conv-matmul 5.1.
constexpr uint64_t LineEntries(uint32_t ic, uint32_t iw) {
  const uint64_t atoms = (uint64_t{ic} + 15) / 16;
  const uint64_t rest = atoms % 4;
  return atoms / 4 * iw + (rest == 3 ? uint64_t{iw} : (rest * iw + 3) / 4);
}

}  // namespace npu::encode::rk3588

#endif  // SRC_ENCODE_RK3588_CONV_TASK_H_
