// SPDX-License-Identifier: Apache-2.0
// The clear path of float tasks: fp16 cubes, fp32 stages.
#include <algorithm>

#include "src/arith/half.h"
#include "src/base/checked.h"
#include "src/sim/core.h"
#include "src/sim/datapath.h"
#include "src/sim/real.h"
#include "src/sim/writer.h"

namespace npu::sim {
namespace {

constexpr int kAtomBytes = 16;
constexpr int kLanes = 8;

// Buffers of one row of one block, [width][group], reused from row to row.
struct RowBuffers {
  std::vector<float> main, operand;
  std::vector<std::byte> atoms;  // one row of one surface
  std::vector<uint32_t> elements;
};

// A row of 16-bit atoms of every surface of the block.
template <typename Address>
bool FetchSurfaces(const DpuConfig& d, int block, const AddressSpace& memory, Address address,
                   std::vector<float>* values, std::vector<std::byte>* atoms,
                   DatapathResult* result) {
  values->assign(static_cast<size_t>(int64_t{d.width} * d.group), 0.0f);
  atoms->resize(static_cast<size_t>(int64_t{d.width} * kAtomBytes));
  const int surfaces_per_block = d.group / kLanes;
  const int surfaces = CeilDiv(d.channels, kLanes);
  for (int j = 0; j < surfaces_per_block; ++j) {
    const int surface = block * surfaces_per_block + j;
    if (surface >= surfaces) break;
    const int64_t from = address(surface);
    if (!memory.Read(from, *atoms)) {
      result->fault = MemoryFault{from, false};
      return false;
    }
    const std::byte* at = atoms->data();
    for (int x = 0; x < d.width; ++x) {
      float* to = values->data() + int64_t{x} * d.group + int64_t{j} * kLanes;
      for (int lane = 0; lane < kLanes; ++lane, at += 2) {
        to[lane] = arith::HalfToFloat(static_cast<uint16_t>(
            std::to_integer<uint32_t>(at[0]) | (std::to_integer<uint32_t>(at[1]) << 8)));
      }
    }
  }
  return true;
}

bool FetchRow(const Datapath& path, int block, int y, const AddressSpace& memory,
              RowBuffers* buffers, DatapathResult* result) {
  const DpuConfig& d = *path.dpu;
  if (path.conv != nullptr) {
    AccumulateRealRow(*path.conv, *path.features, *path.weights, y, block * d.group, d.group,
                      &buffers->main);
  } else {
    const auto main = [&](int surface) { return MainRowAddress(*path.rdma, surface, y); };
    if (!FetchSurfaces(d, block, memory, main, &buffers->main, &buffers->atoms, result)) {
      return false;
    }
  }
  buffers->operand.assign(buffers->main.size(), 0.0f);
  if (!d.ew.op || path.rdma->ew == EwSource::kNone || d.ew.from_register) return true;
  const auto operand = [&](int surface) { return EwRowAddress(*path.rdma, surface, y); };
  return FetchSurfaces(d, block, memory, operand, &buffers->operand, &buffers->atoms, result);
}

}  // namespace

DatapathResult RunClearReal(const Datapath& path, AddressSpace* memory) {
  const DpuConfig& d = *path.dpu;
  DatapathResult result;
  RowBuffers buffers;
  const int blocks = CeilDiv(d.channels, d.group);
  for (int y = 0; y < d.height; ++y) {
    for (int block = 0; block < blocks; ++block) {
      if (!FetchRow(path, block, y, *memory, &buffers, &result)) return result;
      buffers.elements.resize(buffers.main.size());
      for (size_t i = 0; i < buffers.elements.size(); ++i) {
        const size_t channel =
            static_cast<size_t>(block * d.group) + i % static_cast<size_t>(d.group);
        buffers.elements[i] =
            DpuElementReal(d, (*path.operands)[channel], buffers.main[i], buffers.operand[i]);
      }
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
