// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "src/arith/half.h"
#include "src/sim/decode.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;
using regs::Block;

constexpr int64_t kAtom = 16;
constexpr int64_t kProvenPixels = 8191;  // of one task's output

std::string Num(int64_t v) { return std::to_string(v); }

template <typename F>
int Int(F field) {
  return static_cast<int>(field.get());
}

// Which units the launch combines, and what each of them waits for (rk3588-dpu-ppu 11.1).
void CheckPoolStreams(TaskView* view) {
  if (!view->has(Block::kPpu)) {
    view->Hang<rk::PpuRdmaCubeInWidth>("stream.ppu_missing",
                                       "PPU_RDMA is launched, but no PPU takes what it reads");
    return;
  }
  const bool others = view->has(Block::kDpu) || view->has(Block::kDpuRdma) ||
                      view->has(Block::kCna) || view->has(Block::kCore);
  view->Unimplemented<rk::PpuOperationModeCfg>(others, "unimplemented.dpu_to_ppu",
                                               "a pool in one launch with other units");
  if (!view->runs()) return;
  const bool outside = view->Get<rk::PpuOperationModeCfg>().flying_mode.get() != 0;
  if (!outside || !view->has(Block::kPpuRdma)) {
    view->Hang<rk::PpuOperationModeCfg>(
        "stream.ppu_source",
        "the PPU waits for a source that is not launched: a pool of memory "
        "needs FLYING_MODE 1 and PPU_RDMA");
  }
  if (view->Get<rk::PpuDataFormat>().dpu_flyin.get() != 0) {
    view->Hang<rk::PpuDataFormat>("stream.ppu_source", "DPU_FLYIN makes the PPU wait for the DPU");
  }
}

void DecodeExtents(const TaskView& view, PoolConfig* p) {
  const auto kernel = view.Get<rk::PpuPoolingKernelCfg>();
  const auto pad = view.Get<rk::PpuPoolingPaddingCfg>();
  p->channels = Int(view.Get<rk::PpuDataCubeInChannel>().cube_in_channel) + 1;
  p->ih = Int(view.Get<rk::PpuDataCubeInHeight>().cube_in_height) + 1;
  p->iw = Int(view.Get<rk::PpuDataCubeInWidth>().cube_in_width) + 1;
  p->oh = Int(view.Get<rk::PpuDataCubeOutHeight>().cube_out_height) + 1;
  p->ow = Int(view.Get<rk::PpuDataCubeOutWidth>().cube_out_width) + 1;
  p->kh = Int(kernel.kernel_height) + 1;
  p->kw = Int(kernel.kernel_width) + 1;
  p->sy = Int(kernel.kernel_stride_height) + 1;
  p->sx = Int(kernel.kernel_stride_width) + 1;
  p->pad_top = Int(pad.pad_top);
  p->pad_left = Int(pad.pad_left);
  p->pad_bottom = Int(pad.pad_bottom);
  p->pad_right = Int(pad.pad_right);
  p->src_base = view.Get<rk::PpuRdmaSrcBaseAddr>().src_base_addr.get();
  p->src_line_stride = kAtom * view.Get<rk::PpuRdmaSrcLineStride>().src_line_stride.get();
  p->src_surf_stride = kAtom * view.Get<rk::PpuRdmaSrcSurfStride>().src_surf_stride.get();
  p->dst_base = view.Get<rk::PpuDstBaseAddr>().dst_base_addr.get();
  p->dst_surf_stride = kAtom * view.Get<rk::PpuDstSurfStride>().dst_surf_stride.get();
  p->recip_width = Int(view.Get<rk::PpuRecipKernelWidth>().recip_kernel_width);
  p->recip_height = Int(view.Get<rk::PpuRecipKernelHeight>().recip_kernel_height);
}

void DecodeTypes(const Assumptions& assume, TaskView* view, PoolConfig* p) {
  const auto precision = view->Get<rk::PpuDataFormat>().proc_precision.as_enum();
  p->fp16 = precision == rk::PrecisionDpu::kFp16;
  view->Unimplemented<rk::PpuDataFormat>(
      precision != rk::PrecisionDpu::kFp16 && precision != rk::PrecisionDpu::kInt8,
      "unimplemented.ppu_precision", "pools of elements other than int8 and fp16");
  if (!view->runs()) return;
  const auto width = view->Get<rk::PpuRdmaDataFormat>().in_precision.as_enum();
  if (width != (p->fp16 ? rk::DataBits::kBits16 : rk::DataBits::kBits8)) {
    view->Garbage<rk::PpuRdmaDataFormat>(
        "ppu.width_code", "PPU_RDMA's width code must be 1 for 8-bit and 2 for 16-bit elements");
  }
  if (!p->fp16 && !assume.ppu_pools_int8) {
    view->Garbage<rk::PpuDataFormat>("ppu.int8", "the PPU is assumed not to pool int8");
  }
  const auto method = view->Get<rk::PpuOperationModeCfg>().pooling_method.get();
  if (method == 3) {
    view->Garbage<rk::PpuOperationModeCfg>("ppu.method", "there is no pooling method 3");
  }
  p->method = method == 0   ? PoolMethod::kAverage
              : method == 1 ? PoolMethod::kMax
                            : PoolMethod::kMin;
}

void GatePool(TaskView* view) {
  const auto mode = view->Get<rk::PpuOperationModeCfg>();
  view->Unimplemented<rk::PpuOperationModeCfg>(mode.index_en.get() != 0, "unimplemented.ppu_index",
                                               "position output of a max pool (INDEX_EN)");
  view->Unimplemented<rk::PpuOperationModeCfg>(
      mode.use_cnt.get() != 0 || mode.notch_addr.get() != 0, "unimplemented.ppu_modes",
      "USE_CNT and NOTCH_ADDR of a pool");
  const auto misc = view->Get<rk::PpuMiscCtrl>();
  view->Unimplemented<rk::PpuMiscCtrl>(
      misc.nonalign.get() != 0 || misc.mc_surf_out.get() != 0 || misc.surf_len.get() != 0,
      "unimplemented.ppu_write_modes", "non-aligned and multi-surface output of a pool");
}

void CheckPoolCubes(const PoolConfig& p, TaskView* view) {
  if (Int(view->Get<rk::PpuRdmaCubeInWidth>().cube_in_width) + 1 != p.iw ||
      Int(view->Get<rk::PpuRdmaCubeInHeight>().cube_in_height) + 1 != p.ih ||
      Int(view->Get<rk::PpuRdmaCubeInChannel>().cube_in_channel) + 1 != p.channels) {
    view->Hang<rk::PpuRdmaCubeInWidth>("ppu.cube_mismatch",
                                       "PPU_RDMA's cube differs from the PPU's input");
  }
  if (Int(view->Get<rk::PpuDataCubeOutChannel>().cube_out_channel) + 1 != p.channels) {
    view->Hang<rk::PpuDataCubeOutChannel>("ppu.cube_mismatch",
                                          "a pool has as many output as input channels");
  }
  const int below = (p.oh - 1) * p.sy + p.kh - p.pad_top - p.ih;
  const int right = (p.ow - 1) * p.sx + p.kw - p.pad_left - p.iw;
  if (below > p.pad_bottom || right > p.pad_right) {
    view->Warn<rk::PpuPoolingPaddingCfg>(
        "ppu.padding", "windows reach " + Num(below) + " rows below and " + Num(right) +
                           " columns right of the input, more than is programmed as padding");
  }
  if (p.surfaces() > 1 && p.dst_surf_stride < p.oh * p.ow * kAtom) {
    view->Wrong<rk::PpuDstSurfStride>(
        "ppu.surface_stride", "output surfaces overlap: the stride is smaller than a plane");
  }
  const int64_t index_add = kAtom * view->Get<rk::PpuDataFormat>().index_add.get();
  if (index_add != p.dst_surf_stride) {
    view->Warn<rk::PpuDataFormat>("ppu.index_add",
                                  "INDEX_ADD is not the output's surface stride, as it always is");
  }
  if (int64_t{p.oh} * p.ow > kProvenPixels) {
    view->Warn<rk::PpuDataCubeOutHeight>(
        "ppu.output_pixels", "more than 8191 output pixels in one pool: nobody has tried");
  }
}

void DecodePadValue(TaskView* view, PoolConfig* p) {
  const auto low = static_cast<uint64_t>(
      static_cast<uint32_t>(view->Get<rk::PpuPaddingValue1Cfg>().pad_value_0.get()));
  const auto high = static_cast<uint64_t>(view->Get<rk::PpuPaddingValue2Cfg>().pad_value_1.get());
  const uint64_t field = (high << 32) | low;
  const bool pads = p->pad_top > 0 || p->pad_left > 0 ||
                    (p->oh - 1) * p->sy + p->kh - p->pad_top > p->ih ||
                    (p->ow - 1) * p->sx + p->kw - p->pad_left > p->iw;
  p->pad_half = static_cast<uint16_t>(field & 0xFFFF);
  p->pad_value = static_cast<int8_t>(field & 0xFF);
  if (p->fp16 || !pads) return;
  // A sign-extended 35-bit number.
  const auto value = static_cast<int64_t>(field << 29) >> 29;
  view->Unimplemented<rk::PpuPaddingValue1Cfg>(value < -128 || value > 127,
                                               "unimplemented.ppu_pad_value",
                                               "a pad value that is no int8 (35 bits, signed)");
}

// An average multiplies by two reciprocals; both formats are easily mistaken for one another.
void CheckReciprocals(const PoolConfig& p, TaskView* view) {
  if (p.method != PoolMethod::kAverage) return;
  double product = static_cast<double>(p.recip_width) * p.recip_height;
  if (p.fp16) {
    product = static_cast<double>(arith::HalfToFloat(static_cast<uint16_t>(p.recip_width))) *
              arith::HalfToFloat(static_cast<uint16_t>(p.recip_height));
  }
  const double gain = product * p.kw * p.kh / 4294967296.0;
  if (!(std::fabs(gain - 1.0) < 0.01)) {
    view->Wrong<rk::PpuRecipKernelWidth>(
        "ppu.reciprocal", "the reciprocals give " + std::to_string(gain) +
                              " times the mean (int8: integers 65536/k, fp16: fp16 bits)");
  }
}

void CheckPoolMemory(const PoolConfig& p, TaskView* view) {
  if (p.src_base % kAtom != 0) {
    view->Hang<rk::PpuRdmaSrcBaseAddr>("memory.unaligned",
                                       "a base address is not a multiple of 16");
  }
  const int64_t in_end = p.src_base + (p.surfaces() - 1) * p.src_surf_stride +
                         (p.ih - 1) * p.src_line_stride + p.iw * kAtom;
  const int64_t out_end =
      p.dst_base + (p.surfaces() - 1) * p.dst_surf_stride + int64_t{p.oh} * p.ow * kAtom;
  if (p.src_base < out_end && p.dst_base < in_end) {
    view->Warn<rk::PpuDstBaseAddr>("ppu.in_place",
                                   "the pool writes where it reads: nobody has tried");
  }
}

}  // namespace

PoolConfig DecodePool(const Assumptions& assume, TaskView* view) {
  PoolConfig p;
  CheckPoolStreams(view);
  if (!view->runs()) return p;
  GatePool(view);
  DecodeExtents(*view, &p);
  DecodeTypes(assume, view, &p);
  if (!view->runs()) return p;
  CheckPoolCubes(p, view);
  DecodePadValue(view, &p);
  CheckReciprocals(p, view);
  CheckPoolMemory(p, view);
  return p;
}

}  // namespace npu::sim
