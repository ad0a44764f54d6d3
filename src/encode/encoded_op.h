// SPDX-License-Identifier: Apache-2.0
// What an encoder hands to the planner: command words with open addresses, the constants they read,
// and the arithmetic they perform. Data only: nothing here talks to a device or names a chip.
#ifndef SRC_ENCODE_ENCODED_OP_H_
#define SRC_ENCODE_ENCODED_OP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "src/arith/elementwise.h"
#include "src/cost/model.h"
#include "src/layout/tensor_view.h"

namespace npu::encode {

// The buffers an encoded operation refers to; the planner gives each an address.
enum class Slot : uint8_t { kInput, kOutput, kWeights, kOperands, kInputB };

// The 32-bit value field of word `word` becomes address(slot) + offset.
struct Relocation {
  uint32_t word = 0;
  Slot slot = Slot::kInput;
  uint32_t offset = 0;
};

// One task: a complete command list, tail included, whole lines of 64 bytes so that lists follow
// each other without gaps. In the tail the link words are NOP and 0 (not chained).
struct TaskProgram {
  std::vector<uint64_t> words;
  std::vector<Relocation> relocations;
  cost::TaskTerms terms;  // what the timing model needs to know of the task
};

// The arithmetic of one convolution-class operation as the silicon performs it (rk3588-conv-matmul
// section 6), for the host's recomputation (verify=first) and for reports. Shapes are real extents:
// padding channels do not appear. The sum is over in-range taps of (x - 0) * w plus pad_value * w
// for taps outside, w being weights[] - weight_zero_point.
struct SiliconConv {
  bool depthwise = false;
  uint32_t ic = 0, ih = 0, iw = 0;
  uint32_t oc = 0, oh = 0, ow = 0;
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  uint32_t pad_top = 0, pad_left = 0;
  int8_t pad_value = 0;
  std::vector<int8_t> weights{};      // [oc][kh][kw][ic], depthwise [c][kh][kw]
  int8_t weight_zero_point = 0;       // subtracted by CPEND (conv-matmul 6.3); 0 for raw_int32
  bool raw_int32 = false;             // the output is the sum itself, everything below unused
  std::vector<int32_t> addend{};      // A[oc], folded bias
  std::vector<int16_t> multiplier{};  // C[oc]; empty: no BS multiply (per tensor)
  uint32_t bs_shift = 0;
  bool relu = false;   // max(v, 0) after BS
  bool relux = false;  // min(v, relux_limit) after BS
  int32_t relux_limit = 0;
  int32_t out_scale = 1;  // OUT_CVT: MUL, SHIFT, OFFSET; ties to even
  uint32_t out_shift = 0;
  int32_t out_offset = 0;
};

// One elementwise operation on one or two int8 cubes of equal extents, by the post-processing unit
// alone; the arithmetic of an element is stated at arith::ElementwiseStages.
struct SiliconElementwise {
  uint32_t c = 0, h = 0, w = 0;  // real extents
  arith::ElementwiseStages stages;
};

// One int8 pooling operation of the pooling unit (rk3588-dpu-ppu 11): the largest or smallest value
// of a window; taps outside the plane read pad_value.
struct SiliconPool {
  enum class Method : uint8_t { kMaximum, kMinimum };
  Method method = Method::kMaximum;
  uint32_t c = 0, ih = 0, iw = 0, oh = 0, ow = 0;
  uint32_t kh = 1, kw = 1, sh = 1, sw = 1;
  uint32_t pad_top = 0, pad_left = 0;
  int8_t pad_value = -128;
};

using Silicon = std::variant<SiliconConv, SiliconElementwise, SiliconPool>;

// Proven bound of the difference to BUILTIN_REF given the same input, in counts.
struct ErrorBound {
  double worst_counts = 0.0;  // real-valued bound before rounding to whole counts
  int32_t counts = 0;         // 0: identical
};

struct EncodedOp {
  std::string route;          // "npu-int8", "npu-int8-perchannel", "npu-int32-host-requant" ...
  layout::CubeShape input;    // what the tasks read; allocated_channels is what must exist
  layout::CubeShape input_b;  // the second run-time operand; no channels: there is none
  layout::CubeShape output;   // what they write; element_bytes 1 or 4
  std::vector<std::byte> weights;   // weight cube, 16-byte aligned, all tiles
  std::vector<std::byte> operands;  // BRDMA operands, 64-byte aligned; may be empty
  std::vector<TaskProgram> tasks;   // in order
  Silicon silicon;
  ErrorBound bound;
  uint64_t macs = 0;  // real multiply-accumulates, padding excluded

  bool has_input_b() const { return input_b.channels != 0; }
  // The output holds raw int32 sums that the host requantizes.
  bool raw_int32() const {
    const auto* conv = std::get_if<SiliconConv>(&silicon);
    return conv != nullptr && conv->raw_int32;
  }
};

}  // namespace npu::encode

#endif  // SRC_ENCODE_ENCODED_OP_H_
