// SPDX-License-Identifier: Apache-2.0
#include "src/encode/rk3588/conv_task.h"

#include "src/encode/rk3588/list_builder.h"

namespace npu::encode::rk3588 {
namespace {

using regs::Var;
namespace r = regs::rk3588;

// Rows buffered ahead in depthwise tasks, beside stride and one: what every driver programs. It
// paces the DMA and does not change results (conv-matmul 4.6).
constexpr uint32_t kDepthwiseGrains = 50;

r::ConvMode Mode(const ConvTask& t) {
  return t.depthwise ? r::ConvMode::kDepthwise : r::ConvMode::kDirect;
}

// Surfaces one writer group fills: channels of the group * output bytes / 16 (conv-matmul 3.7).
uint32_t SurfacesPerGroup(const ConvTask& t) {
  if (t.depthwise) return kDepthwiseGroup / 16;
  return kKernelGroup * (t.raw_int32 ? 4 : 1) / 16;
}

int32_t Replicate(int8_t value) {
  const uint32_t byte = static_cast<uint8_t>(value);
  return static_cast<int32_t>(byte << 24 | byte << 16 | byte << 8 | byte);
}

void SetInput(const ConvTask& t, ListBuilder* list) {
  const uint32_t grains = t.depthwise ? kDepthwiseGrains + t.sh + 1 : t.ih + 1;
  list->Set(r::CnaConvCon1{.conv_mode = Mode(t)});
  list->Set(r::CnaConvCon2{.feature_grains = Var(grains)});
  list->Set(r::CnaConvCon3{.conv_x_stride = Var(t.sw),
                           .conv_y_stride = Var(t.sh),
                           .atrous_x_dilation = Var(int64_t{t.dw} - 1),
                           .atrous_y_dilation = Var(int64_t{t.dh} - 1)});
  list->Set(r::CnaDataSize0{.datain_height = Var(t.ih), .datain_width = Var(t.iw)});
  list->Set(
      r::CnaDataSize1{.datain_channel = Var(t.ic), .datain_channel_real = Var(int64_t{t.ic} - 1)});
  list->Set(r::CnaDataSize2{.dataout_width = Var(t.ow)});
  list->Set(r::CnaDataSize3{.dataout_atomics = Var(uint64_t{t.ow} * t.oh)});
  list->Set(r::CnaPadCon0{.pad_top = Var(t.pad_top), .pad_left = Var(t.pad_left)});
  list->Set(r::CnaPadCon1{.pad_value = Var(Replicate(t.pad_value))});
  list->SetAddress<r::CnaFeatureDataAddr>(Slot::kInput, t.input_offset);
  // Four lines are one burst; the surface stride counts from the end of a burst and is negative on
  // planes of less than four rows (conv-matmul 3.2, E1).
  list->Set(r::CnaDmaCon1{.line_stride = Var(uint64_t{4} * t.iw)});
  list->Set(r::CnaDmaCon2{.surf_stride = Var(int64_t{t.iw} * (int64_t{t.plane_ih} - 4))});
  list->Set(r::CnaFcDataSize0{.dma_height = Var(t.ih), .dma_width = Var(t.iw)});
  list->Set(r::CnaFcDataSize1{.dma_channel = Var(t.ic)});
}

void SetWeightsAndBuffer(const ConvTask& t, ListBuilder* list) {
  const uint32_t kernels = t.depthwise ? 1 : t.oc;
  const uint64_t kernel_bytes = uint64_t{t.kh} * t.kw * t.ic;
  list->Set(r::CnaWeightSize0{.weight_bytes = Var(kernel_bytes * kernels)});
  list->Set(r::CnaWeightSize1{.weight_bytes_per_kernel = Var(kernel_bytes)});
  list->Set(r::CnaWeightSize2{
      .weight_kernels = Var(kernels), .weight_height = Var(t.kh), .weight_width = Var(t.kw)});
  list->Set(r::CnaCbufCon0{.data_bank = Var(t.data_banks), .weight_bank = Var(t.weight_banks)});
  list->Set(r::CnaCbufCon1{.data_entries = Var(LineEntries(t.ic, t.iw))});
  list->SetAddress<r::CnaDcompAddr0>(Slot::kWeights, t.weights_offset);
}

void SetCore(const ConvTask& t, ListBuilder* list) {
  list->Set(r::CoreMiscCfg{.qd_en = Var(!t.raw_int32), .dw_en = Var(t.depthwise)});
  list->Set(r::CoreDataoutSize0{.dataout_width = Var(int64_t{t.ow} - 1),
                                .dataout_height = Var(int64_t{t.oh} - 1)});
  list->Set(r::CoreDataoutSize1{.dataout_channel = Var(int64_t{t.oc} - 1)});
}

void SetWriter(const ConvTask& t, ListBuilder* list) {
  const uint32_t surfaces = SurfacesPerGroup(t);
  const uint64_t pitch = uint64_t{t.plane_oh} * t.ow;
  const Var width(int64_t{t.ow} - 1), height(int64_t{t.oh} - 1), channels(int64_t{t.oc} - 1);
  const Var size_e(surfaces - 1);
  list->Set(r::DpuFeatureModeCfg{.output_mode = r::OutputMode::kToMemory,
                                 .conv_mode = Mode(t),
                                 .burst_len = r::BurstLen::kBurst16});
  list->SetAddress<r::DpuDstBaseAddr>(Slot::kOutput, t.output_offset);
  list->Set(r::DpuDstSurfStride{.dst_surf_stride = Var(pitch)});
  list->Set(r::DpuDataCubeWidth{.width = width});
  list->Set(r::DpuDataCubeHeight{.height = height});
  list->Set(r::DpuDataCubeChannel{.channel = channels, .orig_channel = channels});
  list->Set(r::DpuBsOwCfg{
      .od_bypass = Var(t.raw_int32), .size_e_0 = size_e, .size_e_1 = size_e, .size_e_2 = size_e});
  // Zero-point compensation; the raw writer has it bypassed (conv-matmul E7).
  list->Set(r::DpuBsOwOp{.ow_op = Var(t.raw_int32 ? 0 : -t.weight_zero_point)});
  list->Set(r::DpuWdmaSize0{.channel_wdma = channels});
  list->Set(r::DpuWdmaSize1{.width_wdma = width, .height_wdma = height});
  list->Set(r::DpuSurfaceAdd{.surf_add = Var(pitch * surfaces)});
  list->Set(r::DpuRdmaDataCubeWidth{.width = width});
  list->Set(r::DpuRdmaDataCubeHeight{.height = height});
  list->Set(r::DpuRdmaDataCubeChannel{.channel = channels});
  list->Set(r::DpuRdmaFeatureModeCfg{
      .conv_mode = Mode(t), .mrdma_disable = 1, .burst_len = r::BurstLen::kBurst16});
}

void SetRequantization(const ConvTask& t, ListBuilder* list) {
  list->Set(r::DpuDataFormat{
      .bs_mul_shift_value_neg = Var(t.per_channel ? t.bs_shift : 0),
      .out_precision = t.raw_int32 ? r::PrecisionDpu::kInt32 : r::PrecisionDpu::kInt8});
  if (t.raw_int32) return;  // BS, BN and converter stay neutral
  list->Set(r::DpuBsCfg{.bs_mul_bypass = Var(!t.per_channel),
                        .bs_relu_bypass = 1,
                        .bs_alu_src = r::OperandSrc::kDma,
                        .bs_alu_algo = r::AluAlgoAffine::kAdd});
  if (t.per_channel) {
    list->Set(
        r::DpuBsMulCfg{.bs_mul_src = r::OperandSrc::kDma, .bs_mul_shift_value = Var(t.bs_shift)});
  }
  if (t.relu || t.relux) {
    list->Set(r::DpuBnCfg{.bn_alu_bypass = 1, .bn_mul_bypass = 1, .bn_relux_en = Var(t.relux)});
  }
  // ASSUMPTION bn_relux: BN limits to [0, value] in the integer domain of v (conv-matmul 6.5, TRM).
  list->Set(r::DpuBnReluxCmpValue{.bn_relux_cmp_dat = Var(t.relux ? t.relux_limit : 0)});
  list->Set(r::DpuOutCvtOffset{.out_cvt_offset = Var(t.out_offset)});
  list->Set(r::DpuOutCvtScale{.out_cvt_scale = Var(t.out_scale)});
  list->Set(r::DpuOutCvtShift{.out_cvt_shift = Var(t.out_shift)});
  list->Set(r::DpuRdmaBrdmaCfg{.brdma_use_alu = 1,
                               .brdma_use_cpend = Var(t.per_channel),
                               .brdma_use_mul = Var(t.per_channel)});
  list->SetAddress<r::DpuRdmaBsBaseAddr>(Slot::kOperands, t.operands_offset);
}

}  // namespace

Result<TaskProgram> BuildConvTask(const ConvTask& task) {
  ListBuilder list;
  SetInput(task, &list);
  SetWeightsAndBuffer(task, &list);
  SetCore(task, &list);
  SetWriter(task, &list);
  SetRequantization(task, &list);
  return list.Finish();
}

}  // namespace npu::encode::rk3588
