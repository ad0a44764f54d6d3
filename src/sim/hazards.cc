// SPDX-License-Identifier: Apache-2.0
#include "src/sim/hazards.h"

#include <cstdio>

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;
using regs::Block;

// What the stages of a DPU launch expect from memory.
struct OperandNeeds {
  bool bs_alu = false, bs_mul = false, cpend = false;
  bool bn = false;
  bool ew = false;
};

bool FromMemory(rk::OperandSrc source) { return source != rk::OperandSrc::kRegister; }

OperandNeeds NeedsOf(const TaskView& view) {
  OperandNeeds needs;
  const auto bs = view.Get<rk::DpuBsCfg>();
  const auto bs_mul = view.Get<rk::DpuBsMulCfg>();
  if (bs.bs_bypass.get() == 0) {
    needs.bs_alu = bs.bs_alu_bypass.get() == 0 && FromMemory(bs.bs_alu_src.as_enum());
    needs.bs_mul = bs.bs_mul_bypass.get() == 0 && FromMemory(bs_mul.bs_mul_src.as_enum());
  }
  const auto ow = view.Get<rk::DpuBsOwCfg>();
  needs.cpend = ow.od_bypass.get() == 0 && FromMemory(ow.ow_src.as_enum());
  const auto bn = view.Get<rk::DpuBnCfg>();
  const auto bn_mul = view.Get<rk::DpuBnMulCfg>();
  if (bn.bn_bypass.get() == 0) {
    needs.bn = (bn.bn_alu_bypass.get() == 0 && FromMemory(bn.bn_alu_src.as_enum())) ||
               (bn.bn_mul_bypass.get() == 0 && FromMemory(bn_mul.bn_mul_src.as_enum()));
  }
  const auto ew = view.Get<rk::DpuEwCfg>();
  needs.ew =
      ew.ew_bypass.get() == 0 && ew.ew_op_bypass.get() == 0 && FromMemory(ew.ew_op_src.as_enum());
  return needs;
}

void CheckMainStream(const Assumptions& assume, bool flying, TaskView* view) {
  const bool cna = view->has(Block::kCna);
  const bool core = view->has(Block::kCore);
  if (!flying && (!core || !cna)) {
    view->Hang<rk::DpuFeatureModeCfg>(
        "stream.main_missing",
        "the DPU waits for the convolution, but CNA and CORE are not both in the launch mask");
  }
  if (flying && (core || cna)) {
    view->Hang<rk::DpuFeatureModeCfg>("stream.core_unread",
                                      "CNA or CORE is launched, but the DPU reads MRDMA (flying)");
  }
  if (view->has(Block::kDpuRdma)) return;
  if (flying) {
    view->Hang<rk::DpuFeatureModeCfg>(
        "stream.main_missing", "the DPU reads MRDMA, but DPU_RDMA is not in the launch mask");
  } else if (assume.rdma_must_be_configured_once && !view->file().configured(Block::kDpuRdma)) {
    view->Hang<rk::DpuFeatureModeCfg>(
        "stream.rdma_never_configured",
        "DPU_RDMA is not in the launch mask and was never configured since reset");
  }
}

void CheckReadDma(bool flying, const OperandNeeds& needs, TaskView* view) {
  const auto mode = view->Get<rk::DpuRdmaFeatureModeCfg>();
  const bool mrdma = mode.mrdma_disable.get() == 0;
  const bool combined = mode.comb_use.get() != 0;
  if ((mode.flying_mode.get() != 0) != flying) {
    view->Hang<rk::DpuRdmaFeatureModeCfg>("stream.flying_mismatch",
                                          "DPU and DPU_RDMA disagree about flying mode");
  }
  if (!flying && mrdma && !combined) {
    view->Hang<rk::DpuRdmaFeatureModeCfg>(
        "stream.mrdma_unfed",
        "MRDMA is enabled behind a convolution that does not combine it (set MRDMA_DISABLE)");
  }
  if (flying && !mrdma) {
    view->Hang<rk::DpuRdmaFeatureModeCfg>("stream.main_missing",
                                          "the DPU reads MRDMA, but MRDMA is disabled");
  }
  const bool erdma = view->Get<rk::DpuRdmaErdmaCfg>().erdma_disable.get() == 0;
  if (erdma && !needs.ew) {
    view->Hang<rk::DpuRdmaErdmaCfg>("stream.erdma_unread",
                                    "ERDMA is enabled, but EW takes no operand from memory");
  }
  if (!flying && needs.ew && erdma && !(mrdma && combined)) {
    view->Hang<rk::DpuRdmaFeatureModeCfg>(
        "stream.erdma_without_mrdma",
        "behind a convolution the EW operand needs MRDMA as well (COMB_USE 5)");
  }
  if (!flying && mrdma && combined && !needs.ew) {
    view->Hang<rk::DpuRdmaFeatureModeCfg>("stream.mrdma_unread",
                                          "MRDMA is combined into EW, but EW takes no operand");
  }
  const auto nrdma = view->Get<rk::DpuRdmaNrdmaCfg>();
  if (needs.bn || nrdma.nrdma_use_alu.get() != 0 || nrdma.nrdma_use_cpend.get() != 0 ||
      nrdma.nrdma_use_mul.get() != 0 || nrdma.nrdma_use_trt.get() != 0) {
    view->Hang<rk::DpuRdmaNrdmaCfg>("stream.nrdma", "BN operands from memory hang (erratum E18)");
  }
}

// Consumers of BRDMA and ERDMA that get nothing.
void CheckOperands(const OperandNeeds& needs, TaskView* view) {
  const bool rdma = view->has(Block::kDpuRdma);
  const auto brdma = rdma ? view->Get<rk::DpuRdmaBrdmaCfg>() : rk::DpuRdmaBrdmaCfg{};
  if ((needs.bs_alu && brdma.brdma_use_alu.get() == 0) ||
      (needs.bs_mul && brdma.brdma_use_mul.get() == 0) ||
      (needs.cpend && brdma.brdma_use_cpend.get() == 0)) {
    view->Hang<rk::DpuBsCfg>("stream.bs_operand_missing",
                             "BS or CPEND waits for an operand that BRDMA does not fetch");
  }
  if (needs.ew && (!rdma || view->Get<rk::DpuRdmaErdmaCfg>().erdma_disable.get() != 0)) {
    view->Hang<rk::DpuEwCfg>("stream.ew_operand_missing",
                             "EW waits for an operand from memory, but ERDMA is off");
  }
  if (!rdma && needs.bn) {
    view->Hang<rk::DpuBnCfg>("stream.nrdma", "BN operands from memory hang (erratum E18)");
  }
}

constexpr int64_t kAtom = 16;

template <typename Reg>
void CheckBase(int64_t address, TaskView* view) {
  if (address % kAtom == 0) return;
  view->Hang<Reg>("memory.unaligned", "a base address is not a multiple of 16");
}

}  // namespace

void CheckStreams(const Assumptions& assume, TaskView* view) {
  if (!view->has(Block::kDpu)) {
    view->Hang<rk::DpuFeatureModeCfg>(
        "stream.no_dpu", "no DPU in the launch mask: nothing is written, nothing completes");
    return;
  }
  const bool flying = view->Get<rk::DpuFeatureModeCfg>().flying_mode.get() != 0;
  const OperandNeeds needs = NeedsOf(*view);
  CheckMainStream(assume, flying, view);
  if (view->has(Block::kDpuRdma)) CheckReadDma(flying, needs, view);
  CheckOperands(needs, view);
}

void CheckAlignment(TaskView* view) {
  if (view->has(Block::kCna)) {
    if (view->Get<rk::CnaConvCon1>().argb_in.get() == 0) {
      CheckBase<rk::CnaFeatureDataAddr>(view->Get<rk::CnaFeatureDataAddr>().feature_base_addr.get(),
                                        view);
    }
    CheckBase<rk::CnaDcompAddr0>(view->Get<rk::CnaDcompAddr0>().decompress_addr0.get(), view);
  }
  CheckBase<rk::DpuDstBaseAddr>(view->Get<rk::DpuDstBaseAddr>().dst_base_addr.get(), view);
  if (!view->has(Block::kDpuRdma)) return;
  const OperandNeeds needs = NeedsOf(*view);
  if (needs.bs_alu || needs.bs_mul || needs.cpend) {
    CheckBase<rk::DpuRdmaBsBaseAddr>(view->Get<rk::DpuRdmaBsBaseAddr>().bs_base_addr.get(), view);
  }
  if (view->Get<rk::DpuRdmaFeatureModeCfg>().mrdma_disable.get() == 0) {
    CheckBase<rk::DpuRdmaSrcBaseAddr>(view->Get<rk::DpuRdmaSrcBaseAddr>().src_base_addr.get(),
                                      view);
  }
  if (needs.ew) {
    CheckBase<rk::DpuRdmaEwBaseAddr>(view->Get<rk::DpuRdmaEwBaseAddr>().ew_base_addr.get(), view);
  }
}

void CheckDestination(const AddressSpace& memory, TaskView* view) {
  const bool pool = view->has(Block::kPpu);
  const int64_t dst = pool ? view->Get<rk::PpuDstBaseAddr>().dst_base_addr.get()
                           : view->Get<rk::DpuDstBaseAddr>().dst_base_addr.get();
  if (memory.IsMapped(dst, 1)) return;
  char text[64];
  std::snprintf(text, sizeof(text), "Page fault at 0x%08x of type write",
                static_cast<unsigned>(dst));
  if (pool) return view->Fault<rk::PpuDstBaseAddr>("memory.write_fault", text);
  view->Fault<rk::DpuDstBaseAddr>("memory.write_fault", text);
}

}  // namespace npu::sim
