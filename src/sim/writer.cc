// SPDX-License-Identifier: Apache-2.0
#include "src/sim/writer.h"

#include <algorithm>
#include <vector>

namespace npu::sim {

int64_t OutputRowAddress(const DpuConfig& d, int block, int surface, int y) {
  return d.dst_base + block * d.surface_add + surface * d.dst_surf_stride + y * d.line_pitch;
}

bool WriteRow(const DpuConfig& d, int block, int y, std::span<const uint32_t> elements,
              AddressSpace* memory, int64_t* fault) {
  const int bytes = d.out_bytes();
  const int lanes = d.out_atom();
  const int surfaces = std::min(d.surfaces, d.group / lanes);
  std::vector<std::byte> row(static_cast<size_t>(d.width) * 16);
  for (int surface = 0; surface < surfaces; ++surface) {
    std::byte* to = row.data();
    for (int x = 0; x < d.width; ++x) {
      const uint32_t* from = elements.data() + x * d.group + surface * lanes;
      for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < bytes; ++i) *to++ = static_cast<std::byte>(from[lane] >> (8 * i));
      }
    }
    const int64_t address = OutputRowAddress(d, block, surface, y);
    if (!memory->Write(address, row)) {
      *fault = address;
      return false;
    }
  }
  return true;
}

}  // namespace npu::sim
