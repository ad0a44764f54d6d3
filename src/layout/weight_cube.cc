// SPDX-License-Identifier: Apache-2.0
#include "src/layout/weight_cube.h"

#include <cassert>
#include <cstring>

namespace npu::layout {

std::vector<std::byte> PackDirectWeights(const DirectWeightShape& s,
                                         std::span<const int8_t> weights, int8_t zero_point) {
  assert(weights.size() == uint64_t{s.oc} * s.kh * s.kw * s.ic);
  std::vector<std::byte> cube(s.bytes());
  for (uint32_t oc = 0; oc < s.oc; ++oc) {
    for (uint32_t tap = 0; tap < s.kh * s.kw; ++tap) {
      const int8_t* from = weights.data() + (uint64_t{oc} * s.kh * s.kw + tap) * s.ic;
      for (uint32_t first = 0; first < s.ic_programmed; first += s.ic_group) {
        const uint32_t lanes = std::min(s.ic_group, s.ic_programmed - first);
        const uint32_t real = s.ic > first ? std::min(lanes, s.ic - first) : 0;
        std::byte* to = cube.data() + DirectWeightOffset(s, oc, first, tap / s.kw, tap % s.kw);
        if (real != 0) std::memcpy(to, from + first, real);
        std::fill(to + real, to + lanes, static_cast<std::byte>(zero_point));
      }
    }
  }
  return cube;
}

std::vector<std::byte> PackDepthwiseWeights(const DepthwiseWeightShape& s,
                                            std::span<const int8_t> weights, int8_t zero_point) {
  const uint32_t taps = s.kh * s.kw;
  assert(weights.size() == uint64_t{s.c} * taps);
  std::vector<std::byte> cube(s.bytes(), static_cast<std::byte>(zero_point));
  for (uint32_t c = 0; c < s.c; ++c) {
    for (uint32_t tap = 0; tap < taps; ++tap) {
      cube[DepthwiseWeightOffset(s, c, tap / s.kw, tap % s.kw)] =
          static_cast<std::byte>(weights[uint64_t{c} * taps + tap]);
    }
  }
  return cube;
}

}  // namespace npu::layout
