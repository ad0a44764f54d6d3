// SPDX-License-Identifier: Apache-2.0
#include "src/host/broadcast.h"

#include <algorithm>
#include <cstring>

#include "src/base/checked.h"

namespace npu::host {

// A new innermost loop; joined with the one around it where both walk on without a jump.
void Broadcast::Nest::Push(const Loop& loop) {
  if (loop.count == 1) return;
  if (inner.count == 1) {
    inner = loop;
  } else if (inner.a == loop.a * loop.count && inner.b == loop.b * loop.count &&
             inner.out == loop.out * loop.count) {
    inner = {inner.count * loop.count, loop.a, loop.b, loop.out};
  } else {
    outer[depth++] = inner;
    inner = loop;
  }
}

Broadcast::Broadcast(const ir::Graph& graph, const ir::Node& node)
    : output_(graph.output(node).type.shape) {
  a_ = MakeOperand(graph.input(node, 0), output_.rank());
  b_ = MakeOperand(graph.input(node, 1), output_.rank());
  cubes_ = output_.rank() == 4 && output_[0] == 1;
}

Broadcast::Operand Broadcast::MakeOperand(const ir::Value& value, size_t rank) {
  Operand operand;
  std::vector<int32_t> dims(rank, 1);
  const std::span<const int32_t> own = value.type.shape.dims();
  std::copy(own.begin(), own.end(), dims.end() - static_cast<ptrdiff_t>(own.size()));
  operand.shape = Shape::From(dims).value_or(Shape{});
  if (!value.is_constant()) return operand;
  const size_t channels = rank == 0 ? 1 : static_cast<size_t>(operand.shape.back(0));
  operand.padded_channels = channels == 1 ? 1 : RoundUp<size_t>(channels, layout::kAtomBytes);
  const size_t pixels = value.constant.size() / channels;
  operand.constant.assign(pixels * operand.padded_channels, 0);
  for (size_t i = 0; i < pixels; ++i) {
    std::memcpy(operand.constant.data() + i * operand.padded_channels,
                value.constant.data() + i * channels, channels);
  }
  return operand;
}

// Byte strides of one operand for every axis of the output in row-major order.
std::array<size_t, Shape::kMaxRank> Broadcast::RowMajorStrides(const Operand& operand) {
  std::array<size_t, Shape::kMaxRank> strides{};
  size_t stride = 1;
  for (size_t axis = operand.shape.rank(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(operand.shape[axis]);
    strides[axis] = extent == 1 ? 0 : stride;
    const bool innermost = axis + 1 == operand.shape.rank();
    stride *= innermost && operand.padded_channels > 0 ? operand.padded_channels : extent;
  }
  return strides;
}

// The same for the loops (group, row, column, lane) of a cube.
std::array<size_t, 4> Broadcast::CubeStrides(const Operand& operand,
                                             const layout::TensorView& view) {
  const auto extent = [&](size_t i) { return static_cast<size_t>(operand.shape.back(i)); };
  const bool constant = operand.padded_channels > 0;
  const size_t pixel = constant ? operand.padded_channels : layout::kAtomBytes;
  const size_t group = constant ? layout::kAtomBytes : static_cast<size_t>(view.surface_bytes);
  return {extent(0) == 1 ? 0 : group, extent(2) == 1 ? 0 : extent(1) * pixel,
          extent(1) == 1 ? 0 : pixel, extent(0) == 1 ? size_t{0} : size_t{1}};
}

Broadcast::Nest Broadcast::RowMajorNest() const {
  const auto a = RowMajorStrides(a_);
  const auto b = RowMajorStrides(b_);
  Nest nest;
  auto stride = static_cast<size_t>(output_.elements());
  for (size_t axis = 0; axis < output_.rank(); ++axis) {
    const auto count = static_cast<size_t>(output_[axis]);
    stride /= count;
    nest.Push({count, a[axis], b[axis], stride});
  }
  return nest;
}

Broadcast::Nest Broadcast::CubeNest(const layout::TensorView& a, const layout::TensorView& b,
                                    const layout::TensorView& out) const {
  const auto sa = CubeStrides(a_, a);
  const auto sb = CubeStrides(b_, b);
  const auto h = static_cast<size_t>(output_[1]);
  const auto w = static_cast<size_t>(output_[2]);
  const size_t groups = CeilDiv(static_cast<size_t>(output_[3]), size_t{layout::kAtomBytes});
  Nest nest;
  nest.Push({groups, sa[0], sb[0], static_cast<size_t>(out.surface_bytes)});
  nest.Push({h, sa[1], sb[1], w * layout::kAtomBytes});
  nest.Push({w, sa[2], sb[2], layout::kAtomBytes});
  nest.Push({layout::kAtomBytes, sa[3], sb[3], 1});
  return nest;
}

}  // namespace npu::host
