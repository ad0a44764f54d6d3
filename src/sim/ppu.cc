// SPDX-License-Identifier: Apache-2.0
#include "src/sim/ppu.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/arith/half.h"
#include "src/arith/rounding.h"

namespace npu::sim {
namespace {

constexpr int64_t kAtom = 16;

// The input rows under one row of windows; null where a row lies outside the input.
struct WindowRows {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<bool> inside;
};

bool FetchRows(const PoolConfig& p, int surface, int oy, const AddressSpace& memory,
               WindowRows* rows, MemoryFault* fault) {
  rows->bytes.resize(static_cast<size_t>(p.kh));
  rows->inside.assign(static_cast<size_t>(p.kh), false);
  if (p.columns_read() == 0) return true;
  for (int j = 0; j < p.kh; ++j) {
    const int y = oy * p.sy + j - p.pad_top;
    if (y < 0 || y >= p.ih) continue;
    const int64_t address = p.src_base + surface * p.src_surf_stride + y * p.src_line_stride;
    std::vector<std::byte>& row = rows->bytes[static_cast<size_t>(j)];
    row.resize(static_cast<size_t>(p.columns_read() * kAtom));
    if (!memory.Read(address, row)) {
      *fault = {address, false};
      return false;
    }
    rows->inside[static_cast<size_t>(j)] = true;
  }
  return true;
}

template <typename T>
T Load(const std::byte* at) {
  if constexpr (sizeof(T) == 1) return static_cast<T>(at[0]);
  return static_cast<T>(std::to_integer<uint32_t>(at[0]) |
                        (std::to_integer<uint32_t>(at[sizeof(T) - 1]) << 8));
}

template <typename T>
void GatherWindow(const PoolConfig& p, const WindowRows& rows, int ox, int lane, T pad,
                  std::vector<T>* window) {
  window->clear();
  for (int j = 0; j < p.kh; ++j) {
    for (int i = 0; i < p.kw; ++i) {
      const int x = ox * p.sx + i - p.pad_left;
      const auto row = static_cast<size_t>(j);
      const bool inside = rows.inside[row] && x >= 0 && x < p.iw;
      const int64_t at = x * kAtom + lane * static_cast<int64_t>(sizeof(T));
      window->push_back(inside ? Load<T>(rows.bytes[row].data() + at) : pad);
    }
  }
}

template <typename T, typename Reduce>
std::optional<MemoryFault> RunPool(const PoolConfig& p, T pad, Reduce reduce,
                                   AddressSpace* memory) {
  WindowRows rows;
  std::vector<T> window;
  std::vector<std::byte> out(static_cast<size_t>(p.ow * kAtom));
  for (int surface = 0; surface < p.surfaces(); ++surface) {
    for (int oy = 0; oy < p.oh; ++oy) {
      MemoryFault fault;
      if (!FetchRows(p, surface, oy, *memory, &rows, &fault)) return fault;
      std::byte* to = out.data();
      for (int ox = 0; ox < p.ow; ++ox) {
        for (int lane = 0; lane < p.lanes(); ++lane) {
          GatherWindow<T>(p, rows, ox, lane, pad, &window);
          const auto value = static_cast<uint32_t>(reduce(p, std::span<const T>(window)));
          for (size_t i = 0; i < sizeof(T); ++i) *to++ = static_cast<std::byte>(value >> (8 * i));
        }
      }
      const int64_t address = p.dst_base + surface * p.dst_surf_stride + oy * p.ow * kAtom;
      if (!memory->Write(address, out)) return MemoryFault{address, true};
    }
  }
  return std::nullopt;
}

}  // namespace

int8_t PoolInt8(const PoolConfig& p, std::span<const int8_t> window) {
  if (p.method == PoolMethod::kMax) return *std::max_element(window.begin(), window.end());
  if (p.method == PoolMethod::kMin) return *std::min_element(window.begin(), window.end());
  int64_t sum = 0;
  for (const int8_t v : window) sum += v;
  // |sum| <= 2^15 and both reciprocals < 2^17: exact. The low byte is written without saturation.
  const int64_t scaled = sum * p.recip_width * p.recip_height;
  return static_cast<int8_t>(arith::ShiftRightRound<arith::Rounding::kHalfEven>(scaled, 32));
}

uint16_t PoolHalf(const PoolConfig& p, std::span<const uint16_t> window) {
  if (p.method == PoolMethod::kAverage) {
    float sum = 0.0f;
    for (const uint16_t v : window) sum += arith::HalfToFloat(v);
    const float rw = arith::HalfToFloat(static_cast<uint16_t>(p.recip_width));
    const float rh = arith::HalfToFloat(static_cast<uint16_t>(p.recip_height));
    return arith::FloatToHalf(sum * rw * rh * 0x1p-32f);
  }
  uint16_t best = window.front();
  for (const uint16_t v : window) {
    const float x = arith::HalfToFloat(v), y = arith::HalfToFloat(best);
    if (std::isnan(x)) return arith::kHalfNan;
    if (p.method == PoolMethod::kMax ? x > y : x < y) best = v;
  }
  return best;
}

std::optional<MemoryFault> RunPoolClear(const PoolConfig& p, AddressSpace* memory) {
  if (p.fp16) return RunPool<uint16_t>(p, p.pad_half, PoolHalf, memory);
  return RunPool<int8_t>(p, p.pad_value, PoolInt8, memory);
}

}  // namespace npu::sim
