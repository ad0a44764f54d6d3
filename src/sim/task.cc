// SPDX-License-Identifier: Apache-2.0
#include "src/sim/task.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "src/base/checked.h"
#include "src/sim/coverage.h"
#include "src/sim/datapath.h"
#include "src/sim/decode.h"
#include "src/sim/fast_elementwise.h"
#include "src/sim/hazards.h"
#include "src/sim/pool_task.h"

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;

// Saturating product of non-negative extents: hostile registers can ask for more than 2^64.
uint64_t Product(std::initializer_list<int64_t> factors) {
  uint64_t product = 1;
  for (const int64_t f : factors) {
    const auto next = CheckedMul(product, static_cast<uint64_t>(f));
    if (!next) return UINT64_MAX;
    product = *next;
  }
  return product;
}

// The terms of performance-facts 4.1.
TaskReport Account(const ConvConfig* c, const DpuConfig& d) {
  TaskReport report;
  const int64_t pixels = int64_t{d.height} * d.width;
  const int64_t channels16 = RoundUp(d.channels, d.flying ? d.operand_lanes() : 16);
  const uint64_t plane = Product({pixels, channels16});
  const uint64_t input_bytes = Product({pixels, channels16, d.real ? 2 : 1});
  report.dpu_elements = plane;
  report.output_bytes = Product({pixels, channels16, d.out_bytes()});
  if (d.ew.op && !d.ew.from_register) report.output_bytes += input_bytes;
  if (d.flying) report.feature_bytes = input_bytes;
  if (c == nullptr) return report;
  const int64_t taps = int64_t{c->kh} * c->kw;
  if (c->depthwise) {
    report.macs = Product({pixels, c->ic, taps});
    report.mac_cycles = Product({pixels, CeilDiv(d.channels, c->out_group()), taps});
  } else {
    report.macs = Product({pixels, d.channels, c->ic, taps});
    const int64_t inputs = c->pixel_channels > 0
                               ? std::max<int64_t>(1, c->pixel_channels * taps / 32)
                               : CeilDiv(c->ic, 32) * taps;
    report.mac_cycles = Product({pixels, CeilDiv(d.channels, c->out_group()), inputs});
    report.dpu_elements = Product({pixels, RoundUp(d.channels, 32)});
  }
  const int64_t bytes_per_pixel =
      c->pixel_channels > 0 ? c->pixel_channels : RoundUp(c->ic, c->lanes()) * c->element_bytes();
  if (!c->data_reuse) report.feature_bytes = Product({c->ih, c->iw, bytes_per_pixel});
  if (!c->weight_reuse)
    report.weight_bytes = Product({c->kernels, taps, c->ic, c->element_bytes()});
  return report;
}

// Raw integer outputs wider than 8 bits are wrong from the second task of a kick on.
int64_t ChainResidue(const SimOptions& options, const TaskContext& context, const DpuConfig& d,
                     TaskView* view) {
  if (!options.assume.chained_raw_integer_is_wrong || context.index_in_kick == 0) return 0;
  const bool raw = d.out_type == OutType::kInt32 || d.out_type == OutType::kFp32;
  if (d.flying || d.real || !raw) return 0;
  view->Wrong<rk::DpuDataFormat>(
      "pc.chained_raw_integer",
      "32-bit integer output in a chained kick: only the first task is right (registers Q3)");
  // The residue rule is not measured; any wrong value shows the error.
  return *context.last_accumulator != 0 ? *context.last_accumulator : 1;
}

template <typename Reg>
void ReportFault(const MemoryFault& fault, TaskView* view) {
  char text[80];
  std::snprintf(text, sizeof(text), "Page fault at 0x%08llx of type %s",
                static_cast<unsigned long long>(fault.address), fault.write ? "write" : "read");
  view->Fault<Reg>(fault.write ? "memory.write_fault" : "memory.read_fault", text);
}

void Compute(const Datapath& path, const TaskContext& context, AddressSpace* memory,
             TaskView* view) {
  const DatapathResult result = RunClear(path, memory);
  *context.last_accumulator = result.last_accumulator;
  if (!result.fault) return;
  if (result.fault->write) {
    ReportFault<rk::DpuDstBaseAddr>(*result.fault, view);
  } else {
    ReportFault<rk::DpuRdmaSrcBaseAddr>(*result.fault, view);
  }
}

// True if the fast path ran the task; else the clear path finds its operands in CBUF.
bool RunFast(const ConvConfig& conv, const DpuConfig& dpu, const RdmaConfig& rdma,
             const TaskContext& context, AddressSpace* memory) {
  if (context.fast == nullptr) return false;
  const std::optional<int32_t> last = context.fast->Run(conv, dpu, rdma, memory, context.cbuf);
  if (last) {
    *context.last_accumulator = *last;
  } else if (conv.data_reuse || conv.weight_reuse) {
    // Only then: a declined task without reuse bits may have overwritten the fast path's snapshot.
    context.fast->Materialize(context.cbuf);
  }
  return last.has_value();
}

}  // namespace

TaskReport RunTask(const SimOptions& options, const TaskContext& context, AddressSpace* memory,
                   TaskView* view) {
  if (view->has(regs::Block::kPpu) || view->has(regs::Block::kPpuRdma)) {
    return RunPoolTask(options, context, memory, view);
  }
  CheckStreams(options.assume, view);
  if (!view->runs()) return {};
  CheckAlignment(view);
  CheckDestination(*memory, view);
  if (!view->runs()) return {};
  CheckCoverage(view);
  if (!view->runs()) return {};
  std::optional<ConvConfig> conv;
  if (view->has(regs::Block::kCna)) conv = DecodeConv(view);
  if (!view->runs()) return {};
  const ConvConfig* c = conv ? &*conv : nullptr;
  DpuConfig dpu = DecodeDpu(c, view);
  const RdmaConfig rdma = DecodeRdma(dpu, view);
  const TaskReport report = Account(c, dpu);
  if (std::max(report.macs, report.dpu_elements) > options.max_task_macs) {
    view->Hang<rk::DpuDataCubeHeight>("task.too_long",
                                      "the task would outlive the kernel's watchdog");
  }
  if (!view->runs()) return report;
  if (context.tasks_in_kick > 1 && rdma.bs_mul && !*context.warned_of_chaining) {
    *context.warned_of_chaining = true;
    view->Warn<rk::DpuRdmaBrdmaCfg>(
        "pc.chained_per_channel",
        "per-channel multipliers in a chained kick: one driver reports that it does not work");
  }
  dpu.residue = ChainResidue(options, context, dpu, view);
  if (!view->runs()) return report;
  if (c != nullptr && RunFast(*c, dpu, rdma, context, memory)) return report;
  if (c != nullptr) LoadOperands(*c, context.first_of_job, *memory, context.cbuf, view);
  if (!view->runs()) return report;
  std::vector<ChannelOperands> operands;
  int64_t fault = 0;
  if (!FetchChannelOperands(dpu, rdma, *memory, &operands, &fault)) {
    ReportFault<rk::DpuRdmaBsBaseAddr>({fault, false}, view);
    return report;
  }
  if (c == nullptr && context.fast != nullptr &&
      RunElementwiseFast(dpu, rdma, operands, memory, options.pool)) {
    return report;
  }
  Datapath path;
  path.conv = c;
  path.features = c != nullptr ? &context.cbuf->features : nullptr;
  path.weights = c != nullptr ? &context.cbuf->weights : nullptr;
  path.dpu = &dpu;
  path.rdma = &rdma;
  path.operands = &operands;
  Compute(path, context, memory, view);
  return report;
}

}  // namespace npu::sim
