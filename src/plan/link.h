// SPDX-License-Identifier: Apache-2.0
// Pass 5: places constants and command lists.
#ifndef SRC_PLAN_LINK_H_
#define SRC_PLAN_LINK_H_

#include "npu/status.h"
#include "src/plan/program.h"

namespace npu::plan {

// Fills program->constants (equal blobs are stored once), the offsets of every NPU operation and
// program->commands_bytes. Addresses stay open until a session knows its buffers.
Status LinkProgram(CompiledProgram* program);

}  // namespace npu::plan

#endif  // SRC_PLAN_LINK_H_
