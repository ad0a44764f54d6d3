// SPDX-License-Identifier: Apache-2.0
// Activation layout changes between the host's NHWC and the NPU's cube.
#ifndef SRC_LAYOUT_PACK_H_
#define SRC_LAYOUT_PACK_H_

#include <cstddef>
#include <cstdint>

#include "src/layout/tensor_view.h"

namespace npu::layout {

// NHWC int8 (batch 1, dense) -> cube. Writes all whole groups that hold a real channel; the padding
// lanes of the last one are set to 0. `flip_sign_bit` turns uint8 bytes into int8 (q - 128).
void PackInt8(const std::byte* nhwc, const CubeShape& cube, bool flip_sign_bit, std::byte* out);
// Cube -> NHWC int8, the inverse; padding lanes are dropped.
void UnpackInt8(const std::byte* cube_bytes, const CubeShape& cube, bool flip_sign_bit,
                std::byte* nhwc);

// int8 <-> uint8: every byte XOR 80h. `from` and `to` are the same memory or do not overlap.
void FlipSignBits(const std::byte* from, size_t bytes, std::byte* to);

// Cube of int32 (four channels an atom, element_bytes 4) -> NHWC int32: raw convolution sums. No
// alignment is needed of `cube_bytes`. Source: rk3588-conv-matmul 3.7.
void UnpackInt32(const std::byte* cube_bytes, const CubeShape& cube, int32_t* nhwc);

}  // namespace npu::layout

#endif  // SRC_LAYOUT_PACK_H_
