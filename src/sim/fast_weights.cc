// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "src/base/checked.h"
#include "src/sim/fast_kernels.h"

namespace npu::sim::fast {
namespace {

constexpr size_t kMostCachedBytes = size_t{1} << 27;
constexpr int kQuadChannels = 4;

size_t ToSize(int v) { return static_cast<size_t>(v); }

// Up to four weights of (kernel, channels from 4 * quad) at one position; the rest 0.
std::array<int8_t, kQuadChannels> LoadQuad(const ConvConfig& c, std::span<const std::byte> stream,
                                           int kernel, const Quad& q) {
  std::array<int8_t, kQuadChannels> weights{};
  const int channel = q.surface * static_cast<int>(kAtom) + q.quarter * kQuadChannels;
  if (kernel >= c.kernels || channel >= c.ic) return weights;
  const auto lanes = static_cast<size_t>(std::min(kQuadChannels, c.ic - channel));
  // A quad never crosses a group of input channels, so its lanes are adjacent in the stream.
  std::memcpy(weights.data(), stream.data() + WeightOffset(c, kernel, channel, q.kh, q.kw), lanes);
  return weights;
}

bool IsZero(const ConvConfig& c, std::span<const std::byte> stream, const Quad& q) {
  constexpr std::array<int8_t, kQuadChannels> kZero{};
  for (int kernel = 0; kernel < c.kernels; ++kernel) {
    if (LoadQuad(c, stream, kernel, q) != kZero) return false;
  }
  return true;
}

std::vector<Quad> UsefulQuads(const ConvConfig& c, std::span<const std::byte> stream) {
  std::vector<Quad> quads;
  const int surfaces = CeilDiv(c.ic, static_cast<int>(kAtom));
  for (int surface = 0; surface < surfaces; ++surface) {
    for (int kh = 0; kh < c.kh; ++kh) {
      for (int kw = 0; kw < c.kw; ++kw) {
        for (int quarter = 0; quarter < kQuadChannels; ++quarter) {
          const Quad q = {surface, kh, kw, quarter};
          if (!IsZero(c, stream, q)) quads.push_back(q);
        }
      }
    }
  }
  return quads;
}

void PackDirect(const ConvConfig& c, PackedWeights* w) {
  const std::span<const std::byte> stream = w->stream;
  w->quads = UsefulQuads(c, stream);
  const size_t block = ChannelBlock();
  w->unit_bytes = w->quads.size() * kKernelGroup * kQuadChannels;
  w->init.assign(ToSize(w->units) * kKernelGroup, 0);
  uint8_t* to = w->data.Resize(w->unit_bytes * ToSize(w->units));
  for (size_t first = 0; first < w->init.size(); first += block) {
    for (const Quad& q : w->quads) {
      for (size_t kernel = first; kernel < first + block; ++kernel) {
        const auto weights = LoadQuad(c, stream, static_cast<int>(kernel), q);
        std::memcpy(to, weights.data(), weights.size());
        to += weights.size();
        for (const int8_t weight : weights) w->init[kernel] -= 128 * weight;
      }
    }
  }
}

void PackDepthwise(const ConvConfig& c, PackedWeights* w) {
  const int taps = c.kh * c.kw;
  const int tap_quads = CeilDiv(taps, 4);
  w->unit_bytes = ToSize(tap_quads) * kAtom * 4;
  w->init.assign(ToSize(w->units) * kAtom, 0);
  uint8_t* to = w->data.Resize(w->unit_bytes * ToSize(w->units));
  std::memset(to, 0, w->unit_bytes * ToSize(w->units));
  for (int channel = 0; channel < std::min(c.ic, w->units * static_cast<int>(kAtom)); ++channel) {
    uint8_t* unit = to + ToSize(channel) / kAtom * w->unit_bytes;
    for (int tap = 0; tap < taps; ++tap) {
      const std::byte weight =
          w->stream[static_cast<size_t>(WeightOffset(c, 0, channel, tap / c.kw, tap % c.kw))];
      unit[ToSize(tap / 4) * kAtom * 4 + ToSize(channel) % kAtom * 4 + ToSize(tap % 4)] =
          static_cast<uint8_t>(weight);
      w->init[ToSize(channel)] -= 128 * static_cast<int8_t>(weight);
    }
  }
}

bool SameShape(const PackedWeights& w, const ConvConfig& c, int units) {
  return w.units == units && w.kernels == c.kernels && w.ic == c.ic && w.kh == c.kh &&
         w.kw == c.kw && w.depthwise == c.depthwise;
}

}  // namespace

void Unpack(const PackedWeights& packed, WeightCube* cube) {
  ConvConfig c;
  c.depthwise = packed.depthwise;
  c.kernels = packed.kernels;
  c.ic = packed.ic;
  c.kh = packed.kh;
  c.kw = packed.kw;
  *cube = {};
  cube->kernels = packed.kernels;
  cube->kh = packed.kh;
  cube->kw = packed.kw;
  cube->ic = packed.ic;
  cube->depthwise = packed.depthwise;
  cube->data.resize(packed.stream.size());
  int8_t* to = cube->data.data();
  for (int k = 0; k < c.kernels; ++k) {
    for (int y = 0; y < c.kh; ++y) {
      for (int x = 0; x < c.kw; ++x) {
        for (int channel = 0; channel < c.ic; ++channel) {
          *to++ = static_cast<int8_t>(
              packed.stream[static_cast<size_t>(WeightOffset(c, k, channel, y, x))]);
        }
      }
    }
  }
}

std::shared_ptr<const PackedWeights> WeightCache::Get(const ConvConfig& c, int units,
                                                      const AddressSpace& memory) {
  const int64_t bytes = int64_t{c.kernels} * c.kh * c.kw * c.ic;
  const std::byte* stream = memory.Translate(c.weight_base, bytes);
  if (stream == nullptr) return nullptr;
  const auto size = static_cast<size_t>(bytes);
  const auto found = entries_.find(c.weight_base);
  if (found != entries_.end()) {
    const PackedWeights& known = *found->second;
    if (SameShape(known, c, units) && std::memcmp(known.stream.data(), stream, size) == 0) {
      return found->second;
    }
    bytes_ -= known.stream.size();
    entries_.erase(found);
  }
  if (bytes_ + size > kMostCachedBytes) {
    entries_.clear();
    bytes_ = 0;
  }
  auto fresh = std::make_shared<PackedWeights>();
  fresh->units = units;
  fresh->kernels = c.kernels;
  fresh->ic = c.ic;
  fresh->kh = c.kh;
  fresh->kw = c.kw;
  fresh->depthwise = c.depthwise;
  fresh->stream.assign(stream, stream + size);
  if (c.depthwise) {
    PackDepthwise(c, fresh.get());
  } else {
    PackDirect(c, fresh.get());
  }
  bytes_ += size;
  entries_[c.weight_base] = fresh;
  return fresh;
}

}  // namespace npu::sim::fast
