// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_pool.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/arith/rounding.h"

namespace npu::sim {
namespace {

constexpr size_t kAtom = 16;

// Host pointers of every surface.
struct Planes {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
};

bool Locate(const PoolConfig& p, const AddressSpace& memory, Planes* planes) {
  constexpr auto kBytes = static_cast<int64_t>(kAtom);
  const int64_t line = p.columns_read() * kBytes;
  const int64_t last_row = std::min<int64_t>(p.ih, (p.oh - 1) * p.sy + p.kh - p.pad_top) - 1;
  if (line <= 0 || last_row < 0) return false;  // windows of padding alone: leave them
  const int64_t in_bytes = last_row * p.src_line_stride + line;
  const int64_t out_bytes = int64_t{p.oh} * p.ow * kBytes;
  const int64_t last = p.surfaces() - 1;
  if (last > 0 && p.dst_surf_stride < out_bytes) return false;
  const int64_t in_end = p.src_base + last * p.src_surf_stride + in_bytes;
  const int64_t out_end = p.dst_base + last * p.dst_surf_stride + out_bytes;
  if (p.src_base < out_end && p.dst_base < in_end) return false;
  for (int64_t s = 0; s <= last; ++s) {
    planes->in.push_back(memory.Translate(p.src_base + s * p.src_surf_stride, in_bytes));
    planes->out.push_back(memory.Translate(p.dst_base + s * p.dst_surf_stride, out_bytes));
    if (planes->in.back() == nullptr || planes->out.back() == nullptr) return false;
  }
  return true;
}

struct MaxOf {
  using Value = int8_t;
  static constexpr Value kStart = -128;
  static Value Reduce(Value a, Value b) { return a > b ? a : b; }
};
struct MinOf {
  using Value = int8_t;
  static constexpr Value kStart = 127;
  static Value Reduce(Value a, Value b) { return a < b ? a : b; }
};
// At most 256 values of a window: 16 bits hold every sum.
struct SumOf {
  using Value = int16_t;
  static constexpr Value kStart = 0;
  static Value Reduce(Value a, Value b) { return static_cast<Value>(a + b); }
};

// The rows under one row of windows reduced to one, [columns of the padded plane][16].
template <typename Op>
void ReduceRows(const PoolConfig& p, const std::byte* plane, int oy,
                std::vector<typename Op::Value>* columns) {
  using Value = typename Op::Value;
  const size_t width = static_cast<size_t>((p.ow - 1) * p.sx + p.kw) * kAtom;
  columns->assign(width, Op::kStart);
  const auto left = std::min(static_cast<size_t>(p.pad_left) * kAtom, width);
  const auto inside = static_cast<size_t>(p.columns_read()) * kAtom;
  Value* to = columns->data();
  const auto pad = Value{p.pad_value};
  const auto reduce_pad = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = Op::Reduce(to[i], pad);
  };
  for (int j = 0; j < p.kh; ++j) {
    const int y = oy * p.sy + j - p.pad_top;
    if (y < 0 || y >= p.ih) {
      reduce_pad(0, width);
      continue;
    }
    const auto* row = reinterpret_cast<const int8_t*>(plane + y * p.src_line_stride);
    reduce_pad(0, left);
    Value* const middle = to + left;
    for (size_t i = 0; i < inside; ++i) middle[i] = Op::Reduce(middle[i], Value{row[i]});
    reduce_pad(left + inside, width);
  }
}

template <typename Op>
void ReduceColumns(const PoolConfig& p, const typename Op::Value* columns,
                   typename Op::Value* out) {
  for (int ox = 0; ox < p.ow; ++ox) {
    const typename Op::Value* window = columns + static_cast<size_t>(ox * p.sx) * kAtom;
    typename Op::Value* to = out + static_cast<size_t>(ox) * kAtom;
    for (size_t lane = 0; lane < kAtom; ++lane) to[lane] = window[lane];
    for (int i = 1; i < p.kw; ++i) {
      window += kAtom;
      for (size_t lane = 0; lane < kAtom; ++lane) to[lane] = Op::Reduce(to[lane], window[lane]);
    }
  }
}

template <typename Op>
void RunRows(const PoolConfig& p, const Planes& planes, size_t surface, int first, int last) {
  std::vector<typename Op::Value> columns, row(static_cast<size_t>(p.ow) * kAtom);
  for (int oy = first; oy < last; ++oy) {
    ReduceRows<Op>(p, planes.in[surface], oy, &columns);
    ReduceColumns<Op>(p, columns.data(), row.data());
    auto* to =
        reinterpret_cast<int8_t*>(planes.out[surface] + static_cast<size_t>(oy) * row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      if constexpr (sizeof(typename Op::Value) == 1) {
        to[i] = row[i];
      } else {
        const int64_t scaled = int64_t{row[i]} * p.recip_width * p.recip_height;
        to[i] = static_cast<int8_t>(arith::ShiftRightRound<arith::Rounding::kHalfEven>(scaled, 32));
      }
    }
  }
}

}  // namespace

bool RunPoolFast(const PoolConfig& p, AddressSpace* memory, WorkerPool* pool) {
  Planes planes;
  if (p.fp16 || !Locate(p, *memory, &planes)) return false;
  const auto run = p.method == PoolMethod::kMax   ? RunRows<MaxOf>
                   : p.method == PoolMethod::kMin ? RunRows<MinOf>
                                                  : RunRows<SumOf>;
  const size_t surfaces = planes.in.size();
  const size_t threads = pool != nullptr ? pool->threads() : 1;
  const size_t pieces =
      std::min<size_t>(surfaces >= 2 * threads ? 1 : 2 * threads, static_cast<size_t>(p.oh));
  const auto unit = [&](size_t i) {
    const size_t piece = i % pieces;
    const auto rows = static_cast<size_t>(p.oh);
    run(p, planes, i / pieces, static_cast<int>(rows * piece / pieces),
        static_cast<int>(rows * (piece + 1) / pieces));
  };
  if (pool != nullptr) {
    pool->ParallelFor(surfaces * pieces, unit);
  } else {
    for (size_t i = 0; i < surfaces * pieces; ++i) unit(i);
  }
  return true;
}

}  // namespace npu::sim
