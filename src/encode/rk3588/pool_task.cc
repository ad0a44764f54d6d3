// SPDX-License-Identifier: Apache-2.0
#include "src/encode/rk3588/pool_task.h"

#include "src/encode/rk3588/list_builder.h"

namespace npu::encode::rk3588 {
namespace {

using regs::Var;
namespace r = regs::rk3588;

// The padding register holds a sign-extended value of 35 bits (dpu-ppu 11.2).
constexpr uint32_t kNegativeHigh = 7;

void SetReader(const PoolTask& t, ListBuilder* list) {
  const Var width(int64_t{t.iw} - 1), height(int64_t{t.ih} - 1), channels(int64_t{t.c} - 1);
  list->Set(r::PpuDataCubeInWidth{.cube_in_width = width});
  list->Set(r::PpuDataCubeInHeight{.cube_in_height = height});
  list->Set(r::PpuDataCubeInChannel{.cube_in_channel = channels});
  list->Set(r::PpuRdmaCubeInWidth{.cube_in_width = width});
  list->Set(r::PpuRdmaCubeInHeight{.cube_in_height = height});
  list->Set(r::PpuRdmaCubeInChannel{.cube_in_channel = channels});
  list->SetAddress<r::PpuRdmaSrcBaseAddr>(Slot::kInput, t.input_offset);
  list->Set(r::PpuRdmaSrcLineStride{.src_line_stride = Var(t.iw)});
  list->Set(r::PpuRdmaSrcSurfStride{.src_surf_stride = Var(uint64_t{t.plane_ih} * t.iw)});
  // ASSUMPTION ppu_int8: a width code, 1 for 8 bits (docs/hardware/open-questions.md).
  list->Set(r::PpuRdmaDataFormat{.in_precision = r::DataBits::kBits8});
}

void SetWindow(const PoolTask& t, ListBuilder* list) {
  list->Set(r::PpuOperationModeCfg{.pooling_method = r::PoolMethod::kMax, .flying_mode = 1});
  list->Set(r::PpuPoolingKernelCfg{.kernel_width = Var(int64_t{t.kw} - 1),
                                   .kernel_height = Var(int64_t{t.kh} - 1),
                                   .kernel_stride_width = Var(int64_t{t.sw} - 1),
                                   .kernel_stride_height = Var(int64_t{t.sh} - 1)});
  list->Set(r::PpuPoolingPaddingCfg{.pad_left = Var(t.pad_left),
                                    .pad_top = Var(t.pad_top),
                                    .pad_right = Var(t.pad_right),
                                    .pad_bottom = Var(t.pad_bottom)});
  if (t.pad_left + t.pad_top + t.pad_right + t.pad_bottom == 0) return;
  list->Set(r::PpuPaddingValue1Cfg{.pad_value_0 = Var(int32_t{t.pad_value})});
  list->Set(r::PpuPaddingValue2Cfg{.pad_value_1 = Var(t.pad_value < 0 ? kNegativeHigh : 0)});
}

void SetWriter(const PoolTask& t, ListBuilder* list) {
  const Var surface(uint64_t{t.plane_oh} * t.ow);
  list->Set(r::PpuDataCubeOutWidth{.cube_out_width = Var(int64_t{t.ow} - 1)});
  list->Set(r::PpuDataCubeOutHeight{.cube_out_height = Var(int64_t{t.oh} - 1)});
  list->Set(r::PpuDataCubeOutChannel{.cube_out_channel = Var(int64_t{t.c} - 1)});
  list->SetAddress<r::PpuDstBaseAddr>(Slot::kOutput, t.output_offset);
  list->Set(r::PpuDstSurfStride{.dst_surf_stride = surface});
  list->Set(r::PpuDataFormat{.proc_precision = r::PrecisionDpu::kInt8, .index_add = surface});
}

}  // namespace

Result<TaskProgram> BuildPoolTask(const PoolTask& task) {
  ListBuilder list(ListBuilder::Unit::kPool);
  SetReader(task, &list);
  SetWindow(task, &list);
  SetWriter(task, &list);
  return list.Finish();
}

}  // namespace npu::encode::rk3588
