// SPDX-License-Identifier: Apache-2.0
#include "src/encode/rk3588/conv_encoder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/base/checked.h"
#include "src/encode/reason.h"
#include "src/encode/rk3588/conv_task.h"
#include "src/encode/rk3588/tiling.h"
#include "src/layout/operand_records.h"
#include "src/layout/weight_cube.h"

namespace npu::encode::rk3588 {
namespace {

struct Limit {
  std::string_view reason;
  std::string_view what;
  uint64_t value = 0;
  uint64_t max = 0;
};

Status CheckLimit(const Limit& limit) {
  if (limit.value <= limit.max) return OkStatus();
  return Unsupported(limit.reason, std::string(limit.what) + " is " + std::to_string(limit.value) +
                                       ", the NPU's limit is " + std::to_string(limit.max));
}

// Channel counts as the registers carry them. Input channels are whole groups of 32 (the padding
// lanes' weights are the zero point); a depthwise task reads groups of 32 but writes blocks of 64.
uint32_t ProgrammedInput(const SiliconConv& c) { return RoundUp(c.ic, kInputGroup); }
uint32_t ProgrammedOutput(const SiliconConv& c) {
  return RoundUp(c.oc, c.depthwise ? kDepthwiseGroup : kKernelGroup);
}

// Padding lanes carry the zero point: the compensation takes away what they add, also where the CNA
// pads them. ASSUMPTION cpend_padding_lanes (docs/hardware).
std::vector<std::byte> PackWeights(const SiliconConv& c) {
  if (c.depthwise) {
    const layout::DepthwiseWeightShape shape{.c = c.ic,
                                             .kh = c.kh,
                                             .kw = c.kw,
                                             .c_programmed = ProgrammedInput(c),
                                             .group = kDepthwiseGroup};
    return layout::PackDepthwiseWeights(shape, c.weights, c.weight_zero_point);
  }
  const layout::DirectWeightShape shape{.oc = c.oc,
                                        .ic = c.ic,
                                        .kh = c.kh,
                                        .kw = c.kw,
                                        .oc_programmed = ProgrammedOutput(c),
                                        .ic_programmed = ProgrammedInput(c),
                                        .oc_group = kKernelGroup,
                                        .ic_group = kInputGroup};
  return layout::PackDirectWeights(shape, c.weights, c.weight_zero_point);
}

std::vector<std::byte> PackOperands(const SiliconConv& c) {
  if (c.raw_int32) return {};
  if (c.multiplier.empty()) return layout::PackAddends(c.addend, ProgrammedOutput(c));
  return layout::PackRecords(c.addend, c.multiplier, ProgrammedOutput(c));
}

ConvTask TaskOf(const SiliconConv& c, const Tile& tile) {
  ConvTask t{.depthwise = c.depthwise, .ic = ProgrammedInput(c), .ih = tile.in_rows, .iw = c.iw};
  if (c.depthwise) t.ic = std::min(tile.channels, t.ic - tile.channel);
  t.plane_ih = c.ih;
  t.oc = tile.channels;
  t.oh = tile.rows;
  t.ow = c.ow;
  t.plane_oh = c.oh;
  t.kh = c.kh;
  t.kw = c.kw;
  t.sh = c.sh;
  t.sw = c.sw;
  t.dh = c.dh;
  t.dw = c.dw;
  t.pad_top = tile.pad_top;
  t.pad_left = c.pad_left;
  t.pad_value = c.pad_value;
  t.weight_zero_point = c.weight_zero_point;
  t.data_banks = tile.data_banks;
  t.weight_banks = tile.weight_banks;
  t.raw_int32 = c.raw_int32;
  t.per_channel = !c.multiplier.empty();
  t.bs_shift = c.bs_shift;
  t.relu = c.relu;
  t.relux = c.relux;
  t.relux_limit = c.relux_limit;
  t.out_scale = c.out_scale;
  t.out_shift = c.out_shift;
  t.out_offset = c.out_offset;
  return t;
}

// Byte offsets of a tile inside the input, output, weights and operands of the operation.
void SetOffsets(const EncodedOp& op, const SiliconConv& c, const Tile& tile, ConvTask* t) {
  t->input_offset = uint64_t{tile.in_row} * c.iw * layout::kAtomBytes;
  if (c.depthwise) {
    t->input_offset += tile.channel / op.input.c2() * op.input.surface_bytes();
  }
  t->output_offset = uint64_t{tile.row} * c.ow * layout::kAtomBytes +
                     tile.channel / op.output.c2() * op.output.surface_bytes();
  // Channel tiles start at whole groups, so a group's weights are one contiguous piece.
  t->weights_offset = uint64_t{tile.channel} * c.kh * c.kw * (c.depthwise ? 1 : t->ic);
  t->operands_offset =
      uint64_t{tile.channel} *
      (c.multiplier.empty() ? layout::kAddendBytesPerChannel : layout::kRecordBytesPerChannel);
}

cost::ConvExtents ExtentsOf(const ConvTask& t) {
  cost::ConvExtents extents;
  extents.pixels = uint64_t{t.oh} * t.ow;
  extents.ic = t.ic;
  extents.oc = t.oc;
  extents.kh = t.kh;
  extents.kw = t.kw;
  extents.input_pixels = uint64_t{t.ih} * t.iw;
  extents.depthwise = t.depthwise;
  extents.output_bytes = t.raw_int32 ? 4 : 1;
  return extents;
}

// "conv.kernel_bytes": one kernel, or one group of a depthwise convolution.
uint64_t KernelBytes(const SiliconConv& c) {
  const uint32_t channels = ProgrammedInput(c);
  return uint64_t{c.kh} * c.kw * (c.depthwise ? std::min(channels, kDepthwiseGroup) : channels);
}

}  // namespace

Status CheckLimits(const chip::Profile& chip, const SiliconConv& c) {
  const chip::FeatureLimits& f = chip.feature;
  if (c.depthwise && c.raw_int32) {
    return Unsupported(reason::kRawDepthwise,
                       "a depthwise convolution has no 32-bit output on the NPU");
  }
  const uint64_t ic_max = c.depthwise ? f.output_channels_max : f.input_channels_max;
  const Limit limits[] = {
      {reason::kChannels, "the number of input channels", ProgrammedInput(c), ic_max},
      {reason::kWidth, "the input width", c.iw, f.input_width_max},
      {reason::kOutput, "the output width", c.ow, f.output_width_max},
      {reason::kKernel, "the kernel height", c.kh, f.kernel_max},
      {reason::kKernel, "the kernel width", c.kw, f.kernel_max},
      {reason::kStride, "the stride down", c.sh, f.stride_max},
      {reason::kStride, "the stride across", c.sw, f.stride_max},
      {reason::kDilation, "the dilation down", c.dh, f.dilation_max},
      {reason::kDilation, "the dilation across", c.dw, f.dilation_max},
      {reason::kPadding, "the top padding", c.pad_top, f.pad_max},
      {reason::kPadding, "the left padding", c.pad_left, f.pad_max},
      {reason::kKernelBytes, "one kernel in bytes", KernelBytes(c), f.kernel_bytes_max},
  };
  for (const Limit& limit : limits) NPU_RETURN_IF_ERROR(CheckLimit(limit));
  return OkStatus();
}

Result<EncodedOp> EncodeSilicon(const chip::Profile& chip, SiliconConv conv) {
  NPU_RETURN_IF_ERROR(CheckLimits(chip, conv));
  const chip::Precision* int8 = chip.FindPrecision("int8");
  if (int8 == nullptr) return Status(ErrorCode::kInternal, "the chip has no int8 precision");
  EncodedOp op;
  const auto& c = op.silicon.emplace<SiliconConv>(std::move(conv));
  op.input = {
      .channels = c.ic, .allocated_channels = ProgrammedInput(c), .height = c.ih, .width = c.iw};
  op.output = {.channels = c.oc,
               .allocated_channels = ProgrammedOutput(c),
               .height = c.oh,
               .width = c.ow,
               .element_bytes = c.raw_int32 ? 4u : 1u};
  for (const layout::CubeShape* cube : {&op.input, &op.output}) {
    NPU_RETURN_IF_ERROR(CheckLimit({reason::kAddressSpace, "a tensor in bytes", cube->bytes(),
                                    chip.memory.address_space_bytes - 1}));
  }
  const TileProblem problem{.depthwise = c.depthwise,
                            .ic = ProgrammedInput(c),
                            .ih = c.ih,
                            .iw = c.iw,
                            .oc = ProgrammedOutput(c),
                            .oh = c.oh,
                            .ow = c.ow,
                            .kh = c.kh,
                            .kw = c.kw,
                            .sh = c.sh,
                            .dh = c.dh,
                            .pad_top = c.pad_top};
  NPU_ASSIGN_OR_RETURN(const std::vector<Tile> tiles, PlanTiles(chip, problem));
  for (const Tile& tile : tiles) {
    ConvTask task = TaskOf(c, tile);
    SetOffsets(op, c, tile, &task);
    NPU_ASSIGN_OR_RETURN(TaskProgram program, BuildConvTask(task));
    program.terms = cost::TermsOf(ExtentsOf(task), *int8);
    op.tasks.push_back(std::move(program));
  }
  op.weights = PackWeights(c);
  op.operands = PackOperands(c);
  op.route = c.raw_int32            ? "npu-int32-host-requant"
             : c.multiplier.empty() ? "npu-int8"
                                    : "npu-int8-perchannel";
  op.macs = uint64_t{c.oc} * c.oh * c.ow * c.kh * c.kw * (c.depthwise ? 1 : c.ic);
  return op;
}

}  // namespace npu::encode::rk3588
