// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_elementwise.h"

#include <algorithm>
#include <array>

#include "src/base/checked.h"
#include "src/sim/fast_kernels.h"
#include "src/sim/fast_outputs.h"
#include "src/sim/fast_stages.h"

namespace npu::sim {
namespace {

using fast::kAtom;

constexpr size_t kSegmentPixels = 128;  // their widened values stay in the L1 cache

// One task: rows of `columns` pixels that are 16 bytes apart.
struct Job {
  const DpuConfig& dpu;
  std::span<const ChannelOperands> operands;
  const fast::Surfaces& surfaces;
  size_t columns = 0;
};

void RunSegment(const Job& job, size_t atom, size_t row, size_t first, size_t pixels,
                fast::PostRow* post) {
  alignas(64) std::array<int32_t, kSegmentPixels * kAtom> values;
  const auto at = static_cast<int64_t>(first * kAtom);
  const auto y = static_cast<int64_t>(row);
  const auto* main =
      reinterpret_cast<const int8_t*>(job.surfaces.main[atom]) + y * job.surfaces.main_pitch + at;
  for (size_t i = 0; i < pixels * kAtom; ++i) values[i] = main[i];
  post->sums = values.data();
  post->pixels = pixels;
  post->out[0] = job.surfaces.output[atom] + y * job.surfaces.line_pitch + at;
  if (!job.surfaces.operand.empty()) {
    post->operand = reinterpret_cast<const int8_t*>(job.surfaces.operand[atom]) +
                    y * job.surfaces.operand_pitch + at;
  }
  fast::PostProcess(*post);
}

// Pixels [first, last) of one atom, rows one after another.
void RunPixels(const Job& job, size_t atom, size_t first, size_t last) {
  fast::PostRow post = fast::MakeStages(job.dpu, job.operands.subspan(atom * kAtom, kAtom));
  while (first < last) {
    const size_t column = first % job.columns;
    const size_t pixels = std::min({kSegmentPixels, job.columns - column, last - first});
    RunSegment(job, atom, first / job.columns, column, pixels, &post);
    first += pixels;
  }
}

}  // namespace

bool RunElementwiseFast(const DpuConfig& dpu, const RdmaConfig& rdma,
                        std::span<const ChannelOperands> operands, AddressSpace* memory,
                        WorkerPool* pool) {
  const bool covered =
      dpu.flying && dpu.out_type == OutType::kInt8 && dpu.surfaces == 1 && fast::CanExpress(dpu);
  fast::Surfaces surfaces;
  if (!covered || !fast::LocateSurfaces(dpu, rdma, *memory, &surfaces)) return false;
  Job job{.dpu = dpu, .operands = operands, .surfaces = surfaces};
  const auto width = static_cast<size_t>(dpu.width), height = static_cast<size_t>(dpu.height);
  const int64_t dense = int64_t{kAtom} * dpu.width;
  const bool joined = surfaces.main_pitch == dense && surfaces.line_pitch == dense &&
                      (surfaces.operand.empty() || surfaces.operand_pitch == dense);
  job.columns = joined ? width * height : width;
  const size_t atoms = surfaces.main.size();
  const size_t threads = pool != nullptr ? pool->threads() : 1;
  const size_t pixels = width * height;
  const size_t pieces =
      threads == 1 ? 1 : std::min(CeilDiv<size_t>(4 * threads, atoms), CeilDiv(pixels, kAtom));
  const auto run = [&](size_t i) {
    const size_t piece = i % pieces;
    RunPixels(job, i / pieces, pixels * piece / pieces, pixels * (piece + 1) / pieces);
  };
  if (pool != nullptr) {
    pool->ParallelFor(atoms * pieces, run);
  } else {
    for (size_t i = 0; i < atoms * pieces; ++i) run(i);
  }
  return true;
}

}  // namespace npu::sim
