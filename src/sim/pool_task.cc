// SPDX-License-Identifier: Apache-2.0
#include "src/sim/pool_task.h"

#include <cstdio>
#include <optional>

#include "src/cost/model.h"
#include "src/sim/decode.h"
#include "src/sim/fast_pool.h"
#include "src/sim/hazards.h"
#include "src/sim/ppu.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;

TaskReport Account(const PoolConfig& p) {
  const cost::TaskTerms terms =
      cost::TermsOf(cost::PoolExtents{.input_pixels = static_cast<uint64_t>(int64_t{p.ih} * p.iw),
                                      .output_pixels = static_cast<uint64_t>(int64_t{p.oh} * p.ow),
                                      .channels = static_cast<uint32_t>(p.channels),
                                      .lanes = static_cast<uint32_t>(p.lanes()),
                                      .element_bytes = p.fp16 ? 2u : 1u});
  TaskReport report;
  report.unit = terms.unit;
  report.dpu_elements = terms.elements;
  report.feature_bytes = terms.feature_bytes;
  report.output_bytes = terms.output_bytes;
  return report;
}

// Comparisons or additions; extents are 13 bits and kernels 4, so 64 bits hold them.
uint64_t Operations(const PoolConfig& p) {
  return static_cast<uint64_t>(p.channels) * static_cast<uint64_t>(int64_t{p.oh} * p.ow) *
         static_cast<uint64_t>(int64_t{p.kh} * p.kw);
}

void ReportFault(const MemoryFault& fault, TaskView* view) {
  char text[80];
  std::snprintf(text, sizeof(text), "Page fault at 0x%08llx of type %s",
                static_cast<unsigned long long>(fault.address), fault.write ? "write" : "read");
  if (fault.write) return view->Fault<rk::PpuDstBaseAddr>("memory.write_fault", text);
  view->Fault<rk::PpuRdmaSrcBaseAddr>("memory.read_fault", text);
}

}  // namespace

TaskReport RunPoolTask(const SimOptions& options, const TaskContext& context, AddressSpace* memory,
                       TaskView* view) {
  const PoolConfig pool = DecodePool(options.assume, view);
  if (!view->runs()) return {};
  CheckDestination(*memory, view);
  if (Operations(pool) > options.max_task_macs) {
    view->Hang<rk::PpuDataCubeOutHeight>("task.too_long",
                                         "the task would outlive the kernel's watchdog");
  }
  if (!view->runs()) return {};
  if (context.small_planes->IsMisread(pool, *memory)) {
    view->Garbage<rk::PpuRdmaSrcBaseAddr>(
        "ppu.small_intermediate",
        "the pool reads a cube of fewer than 4 rows or columns that a pool wrote: misread");
    return Account(pool);
  }
  if (context.fast == nullptr || !RunPoolFast(pool, memory, options.pool)) {
    const std::optional<MemoryFault> fault = RunPoolClear(pool, memory);
    if (fault) ReportFault(*fault, view);
  }
  context.small_planes->NoteOutput(pool, *memory);
  return Account(pool);
}

}  // namespace npu::sim
