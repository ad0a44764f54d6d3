// SPDX-License-Identifier: Apache-2.0
// One constant a case; only NPU_CASE_FITS may compile (see ../CMakeLists.txt).
#include "gen/rk3588/registers.h"

#if defined(NPU_CASE_FITS)
npu::regs::rk3588::CnaConvCon3 reg{.conv_x_stride = 7};
#elif defined(NPU_CASE_TOO_WIDE)
npu::regs::rk3588::CnaConvCon3 reg{.conv_x_stride = 8};
#elif defined(NPU_CASE_NEGATIVE)
npu::regs::rk3588::CnaConvCon3 reg{.conv_x_stride = -1};
#elif defined(NPU_CASE_UNALIGNED_ADDRESS)
npu::regs::rk3588::PcBaseAddress reg{.pc_source_addr = 0x1008};
#endif
