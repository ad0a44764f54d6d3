// SPDX-License-Identifier: Apache-2.0
#include "src/sim/datapath.h"

#include <algorithm>

#include "src/base/checked.h"
#include "src/sim/core.h"
#include "src/sim/dpu.h"
#include "src/sim/writer.h"

namespace npu::sim {
namespace {

constexpr int kAtomBytes = 16;

// Buffers of one row of one block, reused from row to row.
struct RowBuffers {
  AccumulatorRow acc;
  std::vector<std::byte> atoms;    // one row of one surface
  std::vector<int8_t> ew;          // [width][group]
  std::vector<uint32_t> elements;  // [width][group]
};

// A row of 8-bit atoms of every surface of the block into [width][group].
template <typename Address, typename Store>
bool FetchSurfaces(const DpuConfig& d, int block, const AddressSpace& memory, Address address,
                   Store store, RowBuffers* buffers, DatapathResult* result) {
  const int surfaces_per_block = d.group / kAtomBytes;
  const int surfaces = CeilDiv(d.channels, kAtomBytes);
  buffers->atoms.resize(static_cast<size_t>(int64_t{d.width} * kAtomBytes));
  for (int j = 0; j < surfaces_per_block; ++j) {
    const int surface = block * surfaces_per_block + j;
    if (surface >= surfaces) break;
    const int64_t from = address(surface);
    if (!memory.Read(from, buffers->atoms)) {
      result->fault = MemoryFault{from, false};
      return false;
    }
    for (int x = 0; x < d.width; ++x) {
      for (int lane = 0; lane < kAtomBytes; ++lane) {
        const auto value = static_cast<int8_t>(
            buffers->atoms[static_cast<size_t>(int64_t{x} * kAtomBytes + lane)]);
        store(static_cast<size_t>(int64_t{x} * d.group + j * kAtomBytes + lane), value);
      }
    }
  }
  return true;
}

bool FetchMain(const Datapath& path, int block, int y, const AddressSpace& memory,
               RowBuffers* buffers, DatapathResult* result) {
  const DpuConfig& d = *path.dpu;
  if (path.conv != nullptr) {
    AccumulateRow(*path.conv, *path.features, *path.weights, y, block * d.group, d.group, d.residue,
                  &buffers->acc);
    return true;
  }
  const auto size = static_cast<size_t>(int64_t{d.width} * d.group);
  buffers->acc.channels = d.group;
  buffers->acc.acc.assign(size, 0);
  buffers->acc.window_sum.assign(size, 0);
  return FetchSurfaces(
      d, block, memory, [&](int s) { return MainRowAddress(*path.rdma, s, y); },
      [&](size_t at, int8_t v) { buffers->acc.acc[at] = v; }, buffers, result);
}

bool FetchOperand(const Datapath& path, int block, int y, const AddressSpace& memory,
                  RowBuffers* buffers, DatapathResult* result) {
  const DpuConfig& d = *path.dpu;
  buffers->ew.assign(static_cast<size_t>(int64_t{d.width} * d.group), 0);
  if (!d.ew.op || path.rdma->ew == EwSource::kNone) return true;
  return FetchSurfaces(
      d, block, memory, [&](int s) { return EwRowAddress(*path.rdma, s, y); },
      [&](size_t at, int8_t v) { buffers->ew[at] = v; }, buffers, result);
}

void PostProcess(const Datapath& path, int block, RowBuffers* buffers) {
  const DpuConfig& d = *path.dpu;
  buffers->elements.resize(buffers->acc.acc.size());
  for (size_t i = 0; i < buffers->elements.size(); ++i) {
    const size_t channel = static_cast<size_t>(block * d.group) + i % static_cast<size_t>(d.group);
    buffers->elements[i] = DpuElement(d, (*path.operands)[channel], buffers->acc.acc[i],
                                      buffers->acc.window_sum[i], buffers->ew[i]);
  }
}

}  // namespace

DatapathResult RunClear(const Datapath& path, AddressSpace* memory) {
  const DpuConfig& d = *path.dpu;
  if (d.real) return RunClearReal(path, memory);
  DatapathResult result;
  RowBuffers buffers;
  const int blocks = CeilDiv(d.channels, d.group);
  for (int y = 0; y < d.height; ++y) {
    for (int block = 0; block < blocks; ++block) {
      if (!FetchMain(path, block, y, *memory, &buffers, &result)) return result;
      if (!FetchOperand(path, block, y, *memory, &buffers, &result)) return result;
      PostProcess(path, block, &buffers);
      result.last_accumulator = buffers.acc.acc.back();
      if (d.out_type == OutType::kNothing) continue;
      int64_t fault = 0;
      if (!WriteRow(d, block, y, buffers.elements, memory, &fault)) {
        result.fault = MemoryFault{fault, true};
        return result;
      }
    }
  }
  return result;
}

}  // namespace npu::sim
