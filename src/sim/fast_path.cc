// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "src/base/checked.h"
#include "src/sim/fast_kernels.h"
#include "src/sim/fast_outputs.h"
#include "src/sim/fast_stages.h"

namespace npu::sim {
namespace {

using fast::kAtom;
using fast::kKernelGroup;
using fast::kPixelSlack;

constexpr size_t kSegmentPixels = 112;  // sums of a segment and one unit stay in the L1 cache
constexpr int64_t kLargestKernel = 32 * 1024;  // bytes: one CBUF bank; bounds every sum below 2^30
constexpr int64_t kBiasLimit = int64_t{1} << 30;

// Pixels that are 16 bytes apart in the packed input and out_pitch apart in an output surface.
struct Segment {
  size_t pixels = 0;
  int64_t input = 0, output = 0, operand = 0;  // byte offsets within a surface
  size_t window = 0;                           // index of its first pixel, row-major
};

// One task, ready to compute.
struct Job {
  const ConvConfig& conv;
  const DpuConfig& dpu;
  std::span<const ChannelOperands> operands;
  const fast::PackedFeatures& features;
  const fast::PackedWeights& weights;
  const fast::Surfaces& surfaces;
  std::vector<Segment> segments = {};
  size_t out_pitch = kAtom, operand_pitch = kAtom;
  std::vector<int64_t> taps = {};     // byte offsets: quads (direct) or positions (depthwise)
  std::vector<int32_t> init = {};     // start values of every unit
  std::vector<int32_t> windows = {};  // direct with CPEND: [pixel]
  bool cpend = false;

  size_t unit_channels() const { return conv.depthwise ? kAtom : kKernelGroup; }
};

bool IsCovered(const ConvConfig& c, const DpuConfig& d) {
  const bool plain = !c.fp16 && !c.data_reuse && !c.weight_reuse && c.clip_shift == 0 && !d.flying;
  const bool shapes_agree =
      d.width == c.ow && d.height == c.oh && d.group == c.out_group() && d.channels % d.group == 0;
  const int64_t kernel = int64_t{c.kh} * c.kw * (c.depthwise ? 1 : c.ic);
  return plain && shapes_agree && kernel <= kLargestKernel && (!c.depthwise || c.kernels == 1) &&
         std::abs(d.residue) < kBiasLimit && fast::CanExpress(d);
}

// Rows may be joined into one long row when pixels stay equally far apart everywhere.
bool RowsJoin(const Job& job) {
  const ConvConfig& c = job.conv;
  if (job.features.row_pitch() != int64_t{16} * c.ow || c.sx != 1 || c.sy != 1) return false;
  if (c.ow == 1) return true;
  const bool operand_joins =
      job.surfaces.operand.empty() || job.surfaces.operand_pitch == int64_t{16} * c.ow;
  return operand_joins && job.surfaces.line_pitch == int64_t{16} * c.ow;
}

void MakeSegments(Job* job) {
  const ConvConfig& c = job->conv;
  const bool join = RowsJoin(*job);
  if (c.ow == 1 && join) {
    job->out_pitch = static_cast<size_t>(job->surfaces.line_pitch);
    job->operand_pitch = static_cast<size_t>(job->surfaces.operand_pitch);
  }
  const size_t columns = static_cast<size_t>(c.ow) * static_cast<size_t>(join ? c.oh : 1);
  const size_t pieces = CeilDiv(columns, kSegmentPixels);
  for (int row = 0; row < (join ? 1 : c.oh); ++row) {
    for (size_t piece = 0; piece < pieces; ++piece) {
      const size_t first = columns * piece / pieces;
      const auto at = static_cast<int64_t>(first);
      Segment s;
      s.pixels = columns * (piece + 1) / pieces - first;
      s.input = row * c.sy * job->features.row_pitch() + at * int64_t{16};
      s.output = row * job->surfaces.line_pitch + at * static_cast<int64_t>(job->out_pitch);
      s.operand = row * job->surfaces.operand_pitch + at * static_cast<int64_t>(job->operand_pitch);
      s.window = static_cast<size_t>(row) * columns + first;
      job->segments.push_back(s);
    }
  }
}

int64_t PositionOffset(const Job& job, int kh, int kw) {
  return kh * job.conv.dy * job.features.row_pitch() + job.features.ColumnOffset(kw * job.conv.dx);
}

void MakeTaps(Job* job) {
  const ConvConfig& c = job->conv;
  if (!c.depthwise) {
    for (const fast::Quad& q : job->weights.quads) {
      job->taps.push_back(q.surface * job->features.surface_pitch() +
                          PositionOffset(*job, q.kh, q.kw) + q.quarter * 4);
    }
    return;
  }
  for (int kh = 0; kh < c.kh; ++kh) {
    for (int kw = 0; kw < c.kw; ++kw) job->taps.push_back(PositionOffset(*job, kh, kw));
  }
  while (job->taps.size() % 4 != 0) job->taps.push_back(0);
}

// Sums over all channels of each window's inputs, for CPEND of a direct convolution.
void MakeWindows(Job* job) {
  const ConvConfig& c = job->conv;
  const size_t positions = static_cast<size_t>(c.kh) * static_cast<size_t>(c.kw);
  std::vector<int32_t> columns;
  job->features.ChannelSums(&columns);
  std::vector<size_t> offsets;
  for (size_t i = 0; i < positions; ++i) {
    const auto kw = static_cast<size_t>(c.kw);
    const int64_t offset = PositionOffset(*job, static_cast<int>(i / kw), static_cast<int>(i % kw));
    offsets.push_back(static_cast<size_t>(offset) / kAtom);
  }
  for (const Segment& s : job->segments) {
    for (size_t pixel = 0; pixel < s.pixels; ++pixel) {
      const size_t at = static_cast<size_t>(s.input) / kAtom + pixel;
      int32_t sum = 0;
      for (const size_t offset : offsets) sum += columns[at + offset];
      job->windows.push_back(sum);
    }
  }
}

// Sums of one segment and unit; the two halves of a direct unit lie 16 ints apart.
struct Sums {
  alignas(64) std::array<int32_t, (kSegmentPixels + kPixelSlack) * kKernelGroup> main;
  alignas(64) std::array<int32_t, (kSegmentPixels + kPixelSlack) * kAtom> window;
};

void ComputeSums(const Job& job, size_t unit, const Segment& segment, Sums* sums) {
  if (!job.conv.depthwise) {
    fast::ConvolveDirect({.input = job.features.data() + segment.input,
                          .taps = job.taps,
                          .weights = job.weights.Unit(unit),
                          .init = job.init.data() + unit * kKernelGroup,
                          .sums = sums->main.data(),
                          .pixels = segment.pixels});
    return;
  }
  if (static_cast<int>(unit * kAtom) >= job.conv.ic) {  // channels without input
    for (size_t i = 0; i < segment.pixels * kAtom; ++i) {
      sums->main[i] = job.init[unit * kAtom + i % kAtom];
    }
    return;
  }
  const uint8_t* input = job.features.data() +
                         static_cast<int64_t>(unit) * job.features.surface_pitch() + segment.input;
  const fast::DepthwiseRow row = {.input = input,
                                  .taps = job.taps,
                                  .weights = job.weights.Unit(unit),
                                  .init = job.init.data() + unit * kAtom,
                                  .sums = sums->main.data(),
                                  .pixels = segment.pixels};
  fast::ConvolveDepthwise(row);
}

// Window sums of a depthwise segment by the same kernel: weight 1 at the real taps.
void ComputeDepthwiseWindows(const Job& job, size_t unit, const Segment& segment, Sums* sums) {
  const int positions = job.conv.kh * job.conv.kw;
  const int first = static_cast<int>(unit * kAtom);
  if (first >= job.conv.ic) {
    sums->window.fill(0);
    return;
  }
  alignas(64) std::array<int32_t, kAtom> init{};
  fast::AlignedBytes weights;
  uint8_t* ones = weights.Resize(job.taps.size() * kAtom);
  std::fill_n(ones, job.taps.size() * kAtom, uint8_t{0});
  for (int lane = 0; lane < static_cast<int>(kAtom); ++lane) {
    if (first + lane >= job.conv.ic) break;
    init[static_cast<size_t>(lane)] = -128 * positions;
    for (int tap = 0; tap < positions; ++tap) {
      ones[tap / 4 * 64 + lane * 4 + tap % 4] = 1;
    }
  }
  fast::ConvolveDepthwise({.input = job.features.data() +
                                    static_cast<int64_t>(unit) * job.features.surface_pitch() +
                                    segment.input,
                           .taps = job.taps,
                           .weights = reinterpret_cast<const int8_t*>(ones),
                           .init = init.data(),
                           .sums = sums->window.data(),
                           .pixels = segment.pixels});
}

// Output pointers of the atom's channels: one surface of bytes, or four of words.
void SetOutputs(const Job& job, size_t atom, const Segment& segment, fast::PostRow* row) {
  const size_t surfaces = kAtom / static_cast<size_t>(job.dpu.out_atom());
  for (size_t i = 0; i < surfaces; ++i) {
    std::byte* surface = job.surfaces.output[atom * surfaces + i];
    row->out[i] = surface == nullptr ? nullptr : surface + segment.output;
  }
}

void FinishAtom(const Job& job, size_t atom, const Segment& segment, const int32_t* sums,
                const Sums& all, fast::PostRow* row) {
  row->sums = sums;
  row->sums_pitch = job.unit_channels();
  row->pixels = segment.pixels;
  row->out_pitch = job.out_pitch;
  SetOutputs(job, atom, segment, row);
  if (!job.surfaces.operand.empty()) {
    row->operand = reinterpret_cast<const int8_t*>(job.surfaces.operand[atom]) + segment.operand;
    row->operand_pitch = job.operand_pitch;
  }
  if (job.cpend) {
    row->window_per_channel = job.conv.depthwise;
    row->window_pitch = job.conv.depthwise ? kAtom : 1;
    row->window = job.conv.depthwise ? all.window.data() : job.windows.data() + segment.window;
  }
  if (row->type == fast::RowOutput::kInt8 && row->out[0] == nullptr) return;
  fast::PostProcess(*row);
}

// Segments [first, last) of one unit. Returns the last sum computed.
int32_t ComputeUnit(const Job& job, size_t unit, size_t first, size_t last) {
  const size_t atoms = job.unit_channels() / kAtom;
  std::array<fast::PostRow, kKernelGroup / kAtom> rows;
  for (size_t i = 0; i < atoms; ++i) {
    rows[i] = fast::MakeStages(job.dpu, job.operands.subspan((unit * atoms + i) * kAtom, kAtom));
  }
  Sums sums;
  for (size_t s = first; s < last; ++s) {
    const Segment& segment = job.segments[s];
    ComputeSums(job, unit, segment, &sums);
    if (job.cpend && job.conv.depthwise) ComputeDepthwiseWindows(job, unit, segment, &sums);
    for (size_t i = 0; i < atoms; ++i) {
      FinishAtom(job, unit * atoms + i, segment, sums.main.data() + i * kAtom, sums, &rows[i]);
    }
  }
  return sums.main[job.segments[last - 1].pixels * job.unit_channels() - 1];
}

// Hands out (unit, range of segments) to the threads; a unit's segments stay together as far as
// there are units enough, so that its weights stay in the cache.
int32_t ComputeAll(const Job& job, size_t units, WorkerPool* pool) {
  const size_t threads = pool != nullptr ? pool->threads() : 1;
  const size_t wanted = threads == 1 ? 1 : CeilDiv<size_t>(4 * threads, units);
  const size_t pieces = std::min(wanted, job.segments.size());
  int32_t last_sum = 0;
  const auto run = [&](size_t i) {
    const size_t unit = i / pieces, piece = i % pieces;
    const int32_t sum = ComputeUnit(job, unit, job.segments.size() * piece / pieces,
                                    job.segments.size() * (piece + 1) / pieces);
    if (i + 1 == units * pieces) last_sum = sum;
  };
  if (pool != nullptr) {
    pool->ParallelFor(units * pieces, run);
  } else {
    for (size_t i = 0; i < units * pieces; ++i) run(i);
  }
  return last_sum;
}

// What LoadOperands would have noted; the operands themselves stay packed (Materialize).
void Describe(const ConvConfig& c, Cbuf* cbuf) {
  constexpr int64_t kBankBytes = 32 * 1024;
  cbuf->has_features = cbuf->has_weights = true;
  cbuf->weights_resident = int64_t{c.kernels} * c.kh * c.kw * c.ic <= c.weight_banks * kBankBytes;
  cbuf->data_banks = c.data_banks;
  cbuf->weight_banks = c.weight_banks;
  cbuf->features = {};
  cbuf->features.height = c.ih;
  cbuf->features.width = c.iw;
  cbuf->features.channels = c.ic;
  cbuf->features.pitch = RoundUp(c.ic, static_cast<int>(kAtom));
  cbuf->weights = {};
  cbuf->weights.kernels = c.kernels;
  cbuf->weights.kh = c.kh;
  cbuf->weights.kw = c.kw;
  cbuf->weights.ic = c.ic;
  cbuf->weights.depthwise = c.depthwise;
}

}  // namespace

std::optional<int32_t> FastPath::Run(const ConvConfig& conv, const DpuConfig& dpu,
                                     const RdmaConfig& rdma, AddressSpace* memory, Cbuf* cbuf) {
  if (!IsCovered(conv, dpu)) return std::nullopt;
  std::vector<ChannelOperands> operands;
  int64_t fault = 0;
  if (!FetchChannelOperands(dpu, rdma, *memory, &operands, &fault)) return std::nullopt;
  fast::Surfaces surfaces;
  if (!fast::LocateSurfaces(dpu, rdma, *memory, &surfaces)) return std::nullopt;
  const int unit_channels = static_cast<int>(conv.depthwise ? kAtom : kKernelGroup);
  const int units = dpu.channels / unit_channels;
  const std::shared_ptr<const fast::PackedWeights> weights = weights_.Get(conv, units, *memory);
  if (weights == nullptr || !features_.Pack(conv, *memory, pool_)) return std::nullopt;

  Job job{.conv = conv,
          .dpu = dpu,
          .operands = operands,
          .features = features_,
          .weights = *weights,
          .surfaces = surfaces,
          .init = weights->init};
  for (int32_t& v : job.init) v += static_cast<int32_t>(dpu.residue);
  MakeSegments(&job);
  MakeTaps(&job);
  job.cpend = dpu.cpend && std::any_of(operands.begin(), operands.end(),
                                       [](const ChannelOperands& o) { return o.ow_op != 0; });
  if (job.cpend && !conv.depthwise) MakeWindows(&job);
  const int32_t last = ComputeAll(job, static_cast<size_t>(units), pool_);
  last_weights_ = weights;
  Describe(conv, cbuf);
  return last;
}

void FastPath::Materialize(Cbuf* cbuf) const {
  if (last_weights_ == nullptr) return;
  if (cbuf->has_features && !cbuf->features.fp16 && cbuf->features.data.empty())
    features_.Unpack(&cbuf->features);
  if (cbuf->has_weights && !cbuf->weights.fp16 && cbuf->weights.data.empty())
    Unpack(*last_weights_, &cbuf->weights);
}

}  // namespace npu::sim
