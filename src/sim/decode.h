// SPDX-License-Identifier: Apache-2.0
// From registers to the config structs, with every check that silicon's own behaviour calls for.
// Findings go to the view; a config is only meaningful while view->runs().
#ifndef SRC_SIM_DECODE_H_
#define SRC_SIM_DECODE_H_

#include "src/sim/config.h"
#include "src/sim/simulator.h"
#include "src/sim/task_view.h"

namespace npu::sim {

// CBUF entries of one input line: 64-byte units, three left-over atoms cost a whole entry a pixel.
// `lanes`: channels of an atom. Source: rk3588-conv-matmul 5.1. Examples of int8: (28, 64 channels)
// 28; (7, 48) 7; (14, 112) 28.
int EntriesPerLine(int iw, int ic, int lanes = 16);
// Banks the rows need: ceil(ih * entries / 512).
int BanksNeeded(int ih, int entries_per_line);

// CNA and CORE. Reports "cna.*", "core.*".
ConvConfig DecodeConv(TaskView* view);

// DPU and its writer; `conv` is null for a flying task. Reports "dpu.*", "writer.*".
DpuConfig DecodeDpu(const ConvConfig* conv, TaskView* view);

// DPU_RDMA; all off when it is not launched. Reports "rdma.*".
RdmaConfig DecodeRdma(const DpuConfig& dpu, TaskView* view);

// PPU and PPU_RDMA of a launch that has one of them. Reports "ppu.*", "stream.ppu*".
PoolConfig DecodePool(const Assumptions& assume, TaskView* view);

}  // namespace npu::sim

#endif  // SRC_SIM_DECODE_H_
