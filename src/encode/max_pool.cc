// SPDX-License-Identifier: Apache-2.0
// MAX_POOL_2D on the pooling unit: a selection, so exact. Padding carries the smallest value, which
// never wins over a tap inside the plane.
#include <algorithm>
#include <utility>

#include "src/base/checked.h"
#include "src/chip/profile.h"
#include "src/encode/elementwise.h"
#include "src/encode/reason.h"
#include "src/encode/rk3588/pool_task.h"

namespace npu::encode {
namespace {

constexpr uint32_t kMaxWindow = 16, kMaxStride = 16, kMaxPad = 7;
constexpr uint32_t kMaxExtent = 8191;        // 13-bit fields, one less as the drivers keep it
constexpr uint64_t kMaxOutputPixels = 8191;  // larger tasks are unproven (dpu-ppu 11.1)
// A plane lower or narrower than this that the pooling unit wrote is misread by its next task
// (dpu-ppu 11.3, erratum 1); who wrote the plane is not known here.
constexpr uint32_t kMinExtent = 4;

// Padding behind the plane that the last window reads.
uint32_t PadAfter(uint32_t in, uint32_t out, uint32_t k, uint32_t s, uint32_t before) {
  const int64_t end = int64_t{out - 1} * s + k - before;
  return end > in ? static_cast<uint32_t>(end - in) : 0;
}

Status CheckPool(const MaxPoolProblem& p) {
  for (const uint32_t v : {p.c, p.ih, p.iw, p.oh, p.ow, p.kh, p.kw, p.sh, p.sw}) {
    if (v == 0 || v > (1u << 20)) {
      return Status(ErrorCode::kInvalidArgument, "maximum pooling: an extent is 0 or above 2^20");
    }
  }
  if (p.kh > kMaxWindow || p.kw > kMaxWindow || p.sh > kMaxStride || p.sw > kMaxStride) {
    return Unsupported(reason::kPoolWindow, "the NPU pools windows and strides up to 16");
  }
  const uint32_t bottom = PadAfter(p.ih, p.oh, p.kh, p.sh, p.pad_top);
  const uint32_t right = PadAfter(p.iw, p.ow, p.kw, p.sw, p.pad_left);
  if (std::max({p.pad_top, p.pad_left, bottom, right}) > kMaxPad || p.pad_top >= p.kh ||
      p.pad_left >= p.kw || bottom >= p.kh || right >= p.kw) {
    return Unsupported(reason::kPoolWindow, "the padding is larger than the NPU's 7 or the window");
  }
  if (std::max({p.c, p.ih, p.iw}) > kMaxExtent || std::min(p.ih, p.iw) < kMinExtent) {
    return Unsupported(reason::kPoolPlane, "the NPU pools planes of 4x4 to 8191x8191 pixels");
  }
  if (p.clamp_lo > -128 || p.clamp_hi < 127) {
    return Unsupported(reason::kPoolActivation,
                       "a fused activation that limits a pooled value is not formed on the NPU");
  }
  return OkStatus();
}

// The band of `rows` output rows from `row` on, in place.
rk3588::PoolTask TaskOf(const MaxPoolProblem& p, uint32_t row, uint32_t rows) {
  rk3588::PoolTask t{.c = RoundUp(p.c, layout::kAtomBytes), .iw = p.iw, .oh = rows, .ow = p.ow};
  t.plane_ih = p.ih;
  t.plane_oh = p.oh;
  t.kh = p.kh;
  t.kw = p.kw;
  t.sh = p.sh;
  t.sw = p.sw;
  t.pad_left = p.pad_left;
  t.pad_right = PadAfter(p.iw, p.ow, p.kw, p.sw, p.pad_left);
  const int64_t first = int64_t{row} * p.sh - p.pad_top;
  const int64_t end = first + int64_t{rows - 1} * p.sh + p.kh;
  const int64_t in_row = std::max<int64_t>(first, 0), in_end = std::min<int64_t>(end, p.ih);
  t.pad_top = static_cast<uint32_t>(in_row - first);
  t.pad_bottom = static_cast<uint32_t>(end - in_end);
  // A task of all rows names the whole plane, as the drivers' programs do.
  t.ih = rows == p.oh ? p.ih : static_cast<uint32_t>(in_end - in_row);
  t.input_offset = static_cast<uint64_t>(in_row) * p.iw * layout::kAtomBytes;
  t.output_offset = uint64_t{row} * p.ow * layout::kAtomBytes;
  return t;
}

}  // namespace

Result<EncodedOp> EncodeMaxPool(const chip::Profile& chip, const MaxPoolProblem& p) {
  NPU_RETURN_IF_ERROR(CheckPool(p));
  EncodedOp op;
  const uint32_t channels = RoundUp(p.c, layout::kAtomBytes);
  op.input = {.channels = p.c, .allocated_channels = channels, .height = p.ih, .width = p.iw};
  op.output = {.channels = p.c, .allocated_channels = channels, .height = p.oh, .width = p.ow};
  if (std::max(op.input.bytes(), op.output.bytes()) >= chip.memory.address_space_bytes / 4) {
    return Unsupported(reason::kAddressSpace, "the tensors do not fit the NPU's address space");
  }
  SiliconPool pool{.c = p.c, .ih = p.ih, .iw = p.iw, .oh = p.oh, .ow = p.ow};
  pool.kh = p.kh;
  pool.kw = p.kw;
  pool.sh = p.sh;
  pool.sw = p.sw;
  pool.pad_top = p.pad_top;
  pool.pad_left = p.pad_left;
  op.silicon = pool;
  op.route = "npu-pool";
  const auto largest = static_cast<uint32_t>(std::max<uint64_t>(1, kMaxOutputPixels / p.ow));
  const uint32_t bands = CeilDiv(p.oh, largest);
  const uint32_t rows = CeilDiv(p.oh, bands);
  for (uint32_t row = 0; row < p.oh; row += rows) {
    const rk3588::PoolTask task = TaskOf(p, row, std::min(rows, p.oh - row));
    NPU_ASSIGN_OR_RETURN(TaskProgram program, rk3588::BuildPoolTask(task));
    program.terms = cost::TermsOf(cost::PoolExtents{.input_pixels = uint64_t{task.ih} * task.iw,
                                                    .output_pixels = uint64_t{task.oh} * task.ow,
                                                    .channels = channels});
    op.tasks.push_back(std::move(program));
  }
  return op;
}

}  // namespace npu::encode
