// SPDX-License-Identifier: Apache-2.0
// What a task's registers say, decoded once: plain numbers for the datapath, the same for the clear
// and the fast path. Every value here has been checked against hostile registers (see checks.h), so
// the stages need no range checks of their own beyond memory access.
#ifndef SRC_SIM_CONFIG_H_
#define SRC_SIM_CONFIG_H_

#include <array>
#include <cstdint>

#include "src/arith/silicon.h"

namespace npu::sim {

// Input converter of the packed-pixel mode: x' = ((pixel * scale) >> truncate) + offset, pixel
// unsigned unless is_signed. Checked: the shift is exact (scale a multiple of 2^truncate).
struct PixelConverter {
  bool enabled = false;
  bool is_signed = true;
  int32_t factor = 1;  // scale >> truncate
  int32_t offset = 0;
};

// CNA and CORE of an int8 or fp16 convolution, depthwise convolution or matmul
// (rk3588-conv-matmul 3, 4).
struct ConvConfig {
  bool fp16 = false;  // else int8
  bool depthwise = false;
  int ic = 0, ih = 0, iw = 0;  // programmed input: ic >= 1
  int oc = 0, oh = 0, ow = 0;  // programmed output
  int kernels = 0;             // kernels in the weight stream; 1 for depthwise
  int kh = 0, kw = 0;
  int sy = 1, sx = 1;  // strides
  int dy = 1, dx = 1;  // dilations
  int pad_top = 0, pad_left = 0;
  // Byte 0 of PAD_CON1, and byte 1, which odd channels below 32 of each depthwise group of 64 read
  // (rk3588-conv-matmul 6.2).
  int8_t pad_value = 0, pad_value_odd = 0;
  uint16_t pad_half = 0;  // fp16: the low half of PAD_CON1

  // Feature reader (3.2), strides in atoms of 16 bytes; pixels in packed-pixel mode (8.7).
  int64_t feature_base = 0;
  int64_t line_stride = 0, surf_stride = 0;
  int lines_per_burst = 4;  // 1 with GROUP_LINE_OFF
  int pixel_channels = 0;   // > 0: packed pixels with that many interleaved channels
  PixelConverter pixel_converter;

  int64_t weight_base = 0;

  // CBUF.
  int data_banks = 0, weight_banks = 0, data_entries = 0;
  bool data_reuse = false, weight_reuse = false;

  // CORE.
  bool qd_en = false;  // window sums are delivered to CPEND
  int clip_shift = 0;
  arith::Rounding clip_rounding = arith::Rounding::kHalfEven;

  // Channels of one output block (kernel group) and input channels of one weight group.
  int out_group() const { return (depthwise ? 64 : 32) / element_bytes(); }
  int element_bytes() const { return fp16 ? 2 : 1; }
  int lanes() const { return 16 / element_bytes(); }  // channels of one feature atom
  static constexpr int kInGroup = 32;
  int8_t pad_of(int channel) const {
    return depthwise && (channel % 64) < 32 && (channel & 1) != 0 ? pad_value_odd : pad_value;
  }
};

enum class AluOp : uint8_t { kAdd, kSub, kMax, kMin, kMul, kDiv };

// BS or BN (rk3588-conv-matmul 6.5): BS adds first, BN multiplies first. With *_memory the operand
// is per channel, from BRDMA, else the constant. The *_real operands are those of float tasks: fp32
// of the ALU and ReLUx, fp16 of the multiplier.
struct ScaleStage {
  bool alu = false, mul = false, relu = false, relux = false, prelu = false;
  AluOp alu_op = AluOp::kAdd;
  bool alu_from_memory = false, mul_from_memory = false;
  int32_t alu_operand = 0;
  int16_t mul_operand = 0;
  int shift_positive = 0, shift_negative = 0;
  int32_t relux_limit = 0;
  float alu_real = 0.0f, mul_real = 0.0f, relux_real = 0.0f;
  bool active() const { return alu || mul || relu || relux; }
};

// EW with an 8-bit operand per element, fp16 in float tasks (rk3588-dpu-ppu 4.6).
struct EwStage {
  bool op = false, relu = false, relux = false;
  bool from_register = false;  // the operand is the constant 0 (float tasks only)
  AluOp alu_op = AluOp::kAdd;
  bool convert = false;
  arith::Converter converter;
  int32_t relux_limit = 0;
  float relux_real = 0.0f;
};

enum class OutType : uint8_t { kInt8, kFp16, kInt32, kFp32, kNothing };

// DPU and its write DMA.
struct DpuConfig {
  bool real = false;    // fp16 task: the stages compute in fp32
  bool flying = false;  // main input from MRDMA instead of CORE
  int channels = 0, height = 0, width = 0;
  int group = 32;  // channels delivered as one block: out_group() of the conv, an atom if flying

  bool cpend = false;  // OD_BYPASS = 0
  bool cpend_from_memory = false;
  int16_t ow_op = 0;
  ScaleStage bs, bn;
  EwStage ew;
  arith::Converter out_cvt;
  OutType out_type = OutType::kInt8;
  // Float tasks: narrow to fp16 (else 16-bit outputs get the low half of the fp32), then lower the
  // exponent field. half_lanes: the division program, fp16 throughout (rk3588-dpu-ppu 8.1).
  bool narrow = false, half_lanes = false;
  int minus_exponent = 0;

  // Writer (rk3588-conv-matmul 3.7), strides in bytes.
  int64_t dst_base = 0, dst_surf_stride = 0, surface_add = 0;
  int surfaces = 1;        // SIZE_E + 1: surfaces of one block that are written
  int64_t line_pitch = 0;  // 16 * (width + notch)
  int out_bytes() const {
    return out_type == OutType::kInt8 ? 1 : out_type == OutType::kFp16 ? 2 : 4;
  }
  // Channels of one atom of the cubes that DPU_RDMA reads.
  int operand_lanes() const { return real ? 8 : 16; }
  int out_atom() const { return 16 / out_bytes(); }
  // Accumulator residue of a chained raw-integer task (registers-rk3588 Q3); 0 otherwise.
  int64_t residue = 0;
};

enum class EwSource : uint8_t { kNone, kConvFed, kFlying };

// DPU_RDMA. Strides in bytes (rk3588-conv-matmul 3.8, rk3588-dpu-ppu 5).
struct RdmaConfig {
  bool enabled = false;
  int channels = 0, height = 0, width = 0;
  bool bs_alu = false, bs_cpend = false, bs_mul = false;  // what BRDMA fetches
  int64_t bs_base = 0;
  EwSource ew = EwSource::kNone;
  int64_t src_base = 0, ew_base = 0;
  int64_t surf_notch = 0, ew_surf_stride = 0, ew_surf_notch = 0;
};

enum class PoolMethod : uint8_t { kAverage, kMax, kMin };

// PPU and PPU_RDMA of a pool that reads memory (rk3588-dpu-ppu 11), strides in bytes.
struct PoolConfig {
  bool fp16 = false;  // else int8
  PoolMethod method = PoolMethod::kMax;
  int channels = 0;
  int ih = 0, iw = 0, oh = 0, ow = 0;
  int kh = 0, kw = 0, sy = 1, sx = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  // What positions outside the input read: an int8 value, or fp16 bits.
  int8_t pad_value = 0;
  uint16_t pad_half = 0;
  int32_t recip_width = 0, recip_height = 0;  // average: integers (int8) or fp16 bits

  int64_t src_base = 0, src_line_stride = 0, src_surf_stride = 0;
  int64_t dst_base = 0, dst_surf_stride = 0;

  int lanes() const { return fp16 ? 8 : 16; }  // channels of one atom
  int surfaces() const { return (channels + lanes() - 1) / lanes(); }
  // Columns of the input that some window covers: [0, columns_read()).
  int columns_read() const {
    const int end = (ow - 1) * sx + kw - pad_left;
    return end < iw ? (end > 0 ? end : 0) : iw;
  }
};

}  // namespace npu::sim

#endif  // SRC_SIM_CONFIG_H_
