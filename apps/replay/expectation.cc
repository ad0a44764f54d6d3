// SPDX-License-Identifier: Apache-2.0
#include "apps/replay/expectation.h"

namespace npu::replay {
namespace {

using sim::Outcome;

constexpr Expectation kExpectations[] = {
    {"neg_batched_flag_gapped_layout", "pc.chain_missing", 1, Outcome::kHang, Verdict::kTimedOut},
    {"neg_bo_in_both_lists", "kernel.job_rejected", 0, Outcome::kComplete, Verdict::kRejected},
    {"neg_chain_int8", "pc.chained_raw_integer", 1, Outcome::kComplete, Verdict::kCompleted},
    {"neg_conv_height_3", "cna.surface_stride_clamped", 0, Outcome::kComplete, Verdict::kCompleted},
    {"neg_count_too_small", "pc.no_enable", 0, Outcome::kHang, Verdict::kTimedOut},
    {"neg_delta_task", "stream.mrdma_unfed", 1, Outcome::kHang, Verdict::kTimedOut},
    {"neg_dst_unmapped", "memory.write_fault", 0, Outcome::kFault, Verdict::kTimedOut},
    {"neg_matmul_height_1", "cna.surface_stride_clamped", 0, Outcome::kComplete,
     Verdict::kCompleted},
    {"neg_mrdma_block_omitted", "stream.rdma_never_configured", 0, Outcome::kHang,
     Verdict::kTimedOut},
    {"neg_mrdma_enabled_unfed", "stream.mrdma_unfed", 0, Outcome::kHang, Verdict::kTimedOut},
    {"neg_regcmd_unmapped", "memory.fetch_fault", 0, Outcome::kFault, Verdict::kTimedOut},
};

}  // namespace

const Expectation* FindExpectation(const device::JobFile& file) {
  if (!file.negative()) return nullptr;
  for (const Expectation& e : kExpectations) {
    if (e.name == file.name) return &e;
  }
  return nullptr;
}

}  // namespace npu::replay
