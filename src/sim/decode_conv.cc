// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/base/checked.h"
#include "src/sim/decode.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;

constexpr int kBanks = 12;
constexpr int kEntriesPerBank = 512;
constexpr int kBankBytes = 32 * 1024;

std::string Num(int64_t v) { return std::to_string(v); }

template <typename F>
int Int(F field) {
  return static_cast<int>(field.get());
}

void DecodeGeometry(const TaskView& view, ConvConfig* c) {
  const auto con1 = view.Get<rk::CnaConvCon1>();
  const auto con3 = view.Get<rk::CnaConvCon3>();
  const auto size0 = view.Get<rk::CnaDataSize0>();
  const auto weights = view.Get<rk::CnaWeightSize2>();
  const auto out0 = view.Get<rk::CoreDataoutSize0>();
  const auto pad = view.Get<rk::CnaPadCon0>();
  c->fp16 = con1.proc_precision.as_enum() == rk::PrecisionMac::kFp16;
  c->depthwise = con1.conv_mode.as_enum() == rk::ConvMode::kDepthwise;
  c->ih = Int(size0.datain_height);
  c->iw = Int(size0.datain_width);
  c->ic = Int(view.Get<rk::CnaDataSize1>().datain_channel);
  c->oh = Int(out0.dataout_height) + 1;
  c->ow = Int(out0.dataout_width) + 1;
  c->oc = Int(view.Get<rk::CoreDataoutSize1>().dataout_channel) + 1;
  c->kernels = Int(weights.weight_kernels);
  c->kh = Int(weights.weight_height);
  c->kw = Int(weights.weight_width);
  c->sy = Int(con3.conv_y_stride);
  c->sx = Int(con3.conv_x_stride);
  c->dy = Int(con3.atrous_y_dilation) + 1;
  c->dx = Int(con3.atrous_x_dilation) + 1;
  c->pad_top = Int(pad.pad_top);
  c->pad_left = Int(pad.pad_left);
  const auto pad_value = static_cast<uint32_t>(view.Get<rk::CnaPadCon1>().pad_value.get());
  c->pad_value = static_cast<int8_t>(pad_value & 0xFF);
  c->pad_value_odd = static_cast<int8_t>((pad_value >> 8) & 0xFF);
  c->pad_half = static_cast<uint16_t>(pad_value & 0xFFFF);
}

void DecodeReader(const TaskView& view, ConvConfig* c) {
  const auto con1 = view.Get<rk::CnaConvCon1>();
  c->feature_base = view.Get<rk::CnaFeatureDataAddr>().feature_base_addr.get();
  c->weight_base = view.Get<rk::CnaDcompAddr0>().decompress_addr0.get();
  c->line_stride = view.Get<rk::CnaDmaCon1>().line_stride.get();
  c->surf_stride = view.Get<rk::CnaDmaCon2>().surf_stride.get();
  c->lines_per_burst = con1.group_line_off.get() != 0 ? 1 : 4;
  if (con1.argb_in.get() != 0) c->pixel_channels = 1;  // the only form CheckCoverage lets pass
  const auto cvt = view.Get<rk::CnaCvtCon0>();
  if (c->pixel_channels > 0 && cvt.cvt_bypass.get() == 0) {
    const auto set = view.Get<rk::CnaCvtCon1>();
    c->pixel_converter.enabled = true;
    c->pixel_converter.is_signed = cvt.data_sign.get() != 0;
    c->pixel_converter.factor =
        static_cast<int32_t>(set.cvt_scale0.get() >> Int(cvt.cvt_truncate_0));
    c->pixel_converter.offset = Int(set.cvt_offset0);
  }
}

void DecodeBuffer(const TaskView& view, ConvConfig* c) {
  const auto cbuf = view.Get<rk::CnaCbufCon0>();
  c->data_banks = Int(cbuf.data_bank);
  c->weight_banks = Int(cbuf.weight_bank);
  c->data_reuse = cbuf.data_reuse.get() != 0;
  c->weight_reuse = cbuf.weight_reuse.get() != 0;
  c->data_entries = Int(view.Get<rk::CnaCbufCon1>().data_entries);
  const auto clip = view.Get<rk::CoreClipTruncate>();
  c->qd_en = view.Get<rk::CoreMiscCfg>().qd_en.get() != 0;
  c->clip_shift = Int(clip.clip_truncate);
  c->clip_rounding = clip.round_type.as_enum() == rk::RoundMode::kHalfToEven
                         ? arith::Rounding::kHalfEven
                         : arith::Rounding::kHalfUp;
}

void CheckGeometry(const ConvConfig& c, TaskView* view) {
  if (c.ih == 0 || c.iw == 0) {
    view->Hang<rk::CnaDataSize0>("cna.empty_input", "the input has no rows or no columns");
  }
  if (c.ic == 0) view->Hang<rk::CnaDataSize1>("cna.empty_input", "the input has no channels");
  if (c.kernels == 0 || c.kh == 0 || c.kw == 0) {
    view->Hang<rk::CnaWeightSize2>("cna.empty_kernel", "the kernel is empty");
  }
  if (c.sx == 0 || c.sy == 0) view->Hang<rk::CnaConvCon3>("cna.zero_stride", "a stride is 0");
  if (view->Get<rk::CoreMiscCfg>().dw_en.get() != (c.depthwise ? 1 : 0)) {
    view->Hang<rk::CoreMiscCfg>("core.mode_mismatch", "CNA and CORE disagree about depthwise");
  }
  if (c.depthwise && c.kernels != 1) {
    view->Garbage<rk::CnaWeightSize2>("cna.depthwise_kernels",
                                      "a depthwise task has one kernel, not " + Num(c.kernels));
  }
  const int out_width = Int(view->Get<rk::CnaDataSize2>().dataout_width);
  const int64_t pixels = view->Get<rk::CnaDataSize3>().dataout_atomics.get();
  if (out_width != c.ow || pixels != int64_t{c.ow} * c.oh) {
    view->Hang<rk::CnaDataSize3>("cna.output_mismatch", "CNA produces " + Num(out_width) +
                                                            " columns and " + Num(pixels) +
                                                            " pixels, CORE expects " + Num(c.ow) +
                                                            " and " + Num(int64_t{c.ow} * c.oh));
  }
  if (!view->runs()) return;
  const auto dma0 = view->Get<rk::CnaFcDataSize0>();
  const int channels = Int(view->Get<rk::CnaFcDataSize1>().dma_channel);
  view->Unimplemented<rk::CnaFcDataSize0>(
      Int(dma0.dma_height) != c.ih || Int(dma0.dma_width) != c.iw || channels != c.ic,
      "unimplemented.dma_window", "DMA size (FC_DATA_SIZE) different from the task's input size");
}

void CheckPadding(const ConvConfig& c, TaskView* view) {
  const auto word = static_cast<uint32_t>(view->Get<rk::CnaPadCon1>().pad_value.get());
  const uint32_t low = word & (c.fp16 ? 0xFFFF : 0xFF);
  const bool pads = c.pad_top != 0 || c.pad_left != 0 ||
                    (c.oh - 1) * c.sy - c.pad_top + (c.kh - 1) * c.dy >= c.ih ||
                    (c.ow - 1) * c.sx - c.pad_left + (c.kw - 1) * c.dx >= c.iw;
  if (pads && c.fp16 && word != low * 0x00010001u) {
    view->Warn<rk::CnaPadCon1>("cna.pad_bytes", "the pad value is not in both halves: unmeasured");
  } else if (pads && !c.fp16 && word != low * 0x01010101u) {
    view->Warn<rk::CnaPadCon1>(
        "cna.pad_bytes",
        "the pad byte is not in all four bytes: depthwise borders read byte 1 in odd channels "
        "below 32, other forms are unmeasured");
  }
}

void CheckWeights(const ConvConfig& c, TaskView* view) {
  const int64_t kernel = int64_t{c.kh} * c.kw * c.ic * c.element_bytes();
  if (kernel > kBankBytes && !c.depthwise) {
    view->Garbage<rk::CnaWeightSize1>("cna.kernel_exceeds_bank",
                                      "one kernel has " + Num(kernel) + " bytes, a bank 32768");
  }
  const int64_t programmed_kernel = view->Get<rk::CnaWeightSize1>().weight_bytes_per_kernel.get();
  const int64_t programmed_total = view->Get<rk::CnaWeightSize0>().weight_bytes.get();
  if (programmed_kernel != kernel || programmed_total != kernel * c.kernels) {
    view->Garbage<rk::CnaWeightSize0>(
        "cna.weight_size", "weight sizes must be " + Num(kernel) + " bytes a kernel and " +
                               Num(kernel * c.kernels) + " in all, not " + Num(programmed_kernel) +
                               " and " + Num(programmed_total));
  }
}

void CheckBuffer(const ConvConfig& c, TaskView* view) {
  const int fc_bank = Int(view->Get<rk::CnaCbufCon0>().fc_data_bank);
  if (fc_bank != 0) {
    view->Garbage<rk::CnaCbufCon0>("cna.fc_data_bank",
                                   "FC_DATA_BANK " + Num(fc_bank) + " corrupts (erratum E4)");
  }
  if (c.data_banks < 1 || c.weight_banks < 1 || c.data_banks + c.weight_banks > kBanks) {
    view->Garbage<rk::CnaCbufCon0>(
        "cna.bank_split", "data and weight banks must be at least 1 and at most 12 in all");
  }
  if (c.pixel_channels > 0) return;  // DATA_ENTRIES and the footprint are open in this mode
  const int entries = EntriesPerLine(c.iw, c.ic, c.lanes());
  const int needed = BanksNeeded(c.ih, entries);
  if (c.data_banks < needed) {
    view->Garbage<rk::CnaCbufCon0>("cna.data_banks", Num(c.ih) + " lines of " + Num(entries) +
                                                         " entries need " + Num(needed) +
                                                         " data banks, not " + Num(c.data_banks) +
                                                         ": the last rows are wrong (erratum E3)");
  }
  if (c.data_entries != entries) {
    view->Garbage<rk::CnaCbufCon1>(
        "cna.data_entries",
        "a line has " + Num(entries) + " entries, not " + Num(c.data_entries) + " (erratum E19)");
  }
}

void CheckSurfaceStride(const ConvConfig& c, TaskView* view) {
  if (c.pixel_channels == 0 && c.lines_per_burst == 4 && c.ih < 4 && c.ic > c.lanes() &&
      c.surf_stride == 0) {
    view->Warn<rk::CnaDmaCon2>(
        "cna.surface_stride_clamped",
        "fewer than 4 rows with SURF_STRIDE 0: right only inside a plane of exactly 4 rows; a "
        "plane of " +
            Num(c.ih) + " rows needs " + Num(int64_t{c.iw} * (c.ih - 4)) +
            " (erratum E1, reads the wrong surfaces)");
  }
}

}  // namespace

int EntriesPerLine(int iw, int ic, int lanes) {
  const int atoms = CeilDiv(ic, lanes);
  const int rest = atoms % 4;
  return (atoms / 4) * iw + (rest == 3 ? iw : CeilDiv(rest * iw, 4));
}

int BanksNeeded(int ih, int entries_per_line) {
  return static_cast<int>(CeilDiv<int64_t>(int64_t{ih} * entries_per_line, kEntriesPerBank));
}

ConvConfig DecodeConv(TaskView* view) {
  ConvConfig c;
  DecodeGeometry(*view, &c);
  DecodeReader(*view, &c);
  DecodeBuffer(*view, &c);
  CheckGeometry(c, view);
  if (!view->runs()) return c;
  CheckPadding(c, view);
  CheckWeights(c, view);
  CheckBuffer(c, view);
  CheckSurfaceStride(c, view);
  return c;
}

}  // namespace npu::sim
