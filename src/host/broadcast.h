// SPDX-License-Identifier: Apache-2.0
// Elementwise operations of two operands with NumPy's broadcasting, in both orders: the walk over
// the output, shared by every such kernel.
#ifndef SRC_HOST_BROADCAST_H_
#define SRC_HOST_BROADCAST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/data_type.h"
#include "src/host/kernel.h"
#include "src/ir/graph.h"
#include "src/layout/tensor_view.h"

namespace npu::host {

// A stretch of `count` outputs: operand a is read at a[i * step_a], b alike. Steps are 0 (one value
// for all) or 1.
struct BroadcastRow {
  const uint8_t* a = nullptr;
  size_t step_a = 0;
  const uint8_t* b = nullptr;
  size_t step_b = 0;
  size_t count = 0;
  int8_t* out = nullptr;
};

// out[i] = fn(a[i], b[i]) over int8 values, with a loop of its own for each common pair of steps so
// that compilers vectorize them.
template <typename Fn>
void MapRow(const BroadcastRow& row, const Fn& fn) {
  const auto* a = reinterpret_cast<const int8_t*>(row.a);
  const auto* b = reinterpret_cast<const int8_t*>(row.b);
  if (row.step_a != 0 && row.step_b != 0) {
    for (size_t i = 0; i < row.count; ++i) row.out[i] = fn(a[i], b[i]);
  } else if (row.step_a != 0) {
    const int8_t same = *b;
    for (size_t i = 0; i < row.count; ++i) row.out[i] = fn(a[i], same);
  } else {
    const int8_t same = *a;
    for (size_t i = 0; i < row.count; ++i) row.out[i] = fn(same, b[i * row.step_b]);
  }
}

// Inputs 0 and 1 of a node of bytes, broadcast to output 0. Constants are copied.
class Broadcast {
 public:
  // The support rule holds: both operands broadcast to the output, rank <= Shape::kMaxRank.
  Broadcast(const ir::Graph& graph, const ir::Node& node);

  OrderSupport order_support() const {
    return cubes_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }

  // Calls fn(BroadcastRow) for every row. A row of a cube has the lanes of padding too.
  template <typename Fn>
  void ForEachRow(std::span<const layout::TensorView> inputs, const layout::TensorView& output,
                  const Fn& fn) const {
    const Nest nest = output.order == layout::Order::kCube ? CubeNest(inputs[0], inputs[1], output)
                                                           : RowMajorNest();
    const Loop& inner = nest.inner;
    BroadcastRow row{.a = Bytes(a_, inputs[0]),
                     .step_a = inner.a,
                     .b = Bytes(b_, inputs[1]),
                     .step_b = inner.b,
                     .count = inner.count,
                     .out = output.as<int8_t>()};
    std::array<size_t, kMaxLoops> at{};
    while (true) {
      fn(row);
      size_t level = nest.depth;
      for (; level > 0; --level) {
        const Loop& loop = nest.outer[level - 1];
        row.a += loop.a;
        row.b += loop.b;
        row.out += loop.out;
        if (++at[level - 1] < loop.count) break;
        row.a -= loop.a * loop.count;
        row.b -= loop.b * loop.count;
        row.out -= loop.out * loop.count;
        at[level - 1] = 0;
      }
      if (level == 0) return;
    }
  }

 private:
  static constexpr size_t kMaxLoops = Shape::kMaxRank + 1;

  // Strides in bytes, 0 where an operand is broadcast.
  struct Loop {
    size_t count = 1;
    size_t a = 0, b = 0, out = 1;
  };
  struct Nest {
    std::array<Loop, kMaxLoops> outer{};  // outermost first
    size_t depth = 0;                     // loops in `outer`
    Loop inner;

    void Push(const Loop& loop);
  };

  // One operand: its extents right-aligned to the output's rank, and for constants its bytes. Those
  // are stored with the channels of a pixel padded to whole cube groups, so that the same copy
  // serves both orders.
  struct Operand {
    Shape shape;
    std::vector<uint8_t> constant;
    size_t padded_channels = 0;  // constants: bytes between pixels
  };

  static Operand MakeOperand(const ir::Value& value, size_t rank);
  static std::array<size_t, Shape::kMaxRank> RowMajorStrides(const Operand& operand);
  static std::array<size_t, 4> CubeStrides(const Operand& operand, const layout::TensorView& view);
  static const uint8_t* Bytes(const Operand& operand, const layout::TensorView& view) {
    return operand.padded_channels > 0 ? operand.constant.data() : view.as<const uint8_t>();
  }
  Nest RowMajorNest() const;
  Nest CubeNest(const layout::TensorView& a, const layout::TensorView& b,
                const layout::TensorView& out) const;

  Operand a_, b_;
  Shape output_;
  bool cubes_ = false;
};

}  // namespace npu::host

#endif  // SRC_HOST_BROADCAST_H_
