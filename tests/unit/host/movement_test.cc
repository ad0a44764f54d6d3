// SPDX-License-Identifier: Apache-2.0
// Kernels that move data: on cubes they give what they give row-major, and the copy behind them
// gives what plain loops give. Equality with TFLite: tests/frontends/test_movement.py.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "src/host/kernels.h"
#include "src/host/strided_copy.h"
#include "src/layout/pack.h"
#include "tests/unit/host/one_node.h"

namespace npu::host {
namespace {

using test::Int8Type;
using test::OneNode;
using test::PlainType;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

ir::TensorType Ints32(size_t count) {
  return PlainType(DataType::kInt32, {static_cast<int32_t>(count)});
}

layout::CubeShape CubeOf(const Shape& shape) {
  layout::CubeShape cube{.channels = static_cast<uint32_t>(shape[3]),
                         .height = static_cast<uint32_t>(shape[1]),
                         .width = static_cast<uint32_t>(shape[2])};
  cube.allocated_channels = RoundUp(cube.channels, cube.c2());
  return cube;
}

// A tensor as a cube whose padding lanes hold rubbish.
struct Cube {
  explicit Cube(const Shape& tensor) : shape(tensor), geometry(CubeOf(tensor)) {
    bytes.resize(geometry.bytes(), std::byte{0x5A});
  }
  layout::TensorView view() {
    return {.data = bytes.data(),
            .dtype = DataType::kInt8,
            .shape = shape,
            .order = layout::Order::kCube,
            .surface_bytes = geometry.surface_bytes()};
  }
  Shape shape;
  layout::CubeShape geometry;
  std::vector<std::byte> bytes;
};

// Every output of the node from random input, row-major and through cubes.
void ExpectCubesAgree(const OneNode& one, ir::ValueId data, KernelResult kernel, uint32_t seed) {
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  ASSERT_EQ((*kernel)->order_support(), OrderSupport::kImage);
  const ir::Graph& graph = one.graph();
  Bytes input(static_cast<size_t>(graph.type(data).shape.elements()));
  std::mt19937 random(seed);
  for (int8_t& byte : input) byte = static_cast<int8_t>(random() & 0xFF);
  Cube from(graph.type(data).shape);
  for (uint32_t h = 0, at = 0; h < from.geometry.height; ++h) {
    for (uint32_t w = 0; w < from.geometry.width; ++w) {
      for (uint32_t c = 0; c < from.geometry.channels; ++c) {
        from.bytes[layout::CubeOffset(from.geometry, c, h, w)] = std::byte(input[at++]);
      }
    }
  }
  std::vector<layout::TensorView> rows_in, cubes_in, rows_out, cubes_out;
  for (const ir::ValueId id : one.node().inputs) {
    rows_in.push_back(id == data ? test::RowMajorView(graph.type(id), input)
                                 : layout::TensorView{});
    cubes_in.push_back(id == data ? from.view() : layout::TensorView{});
  }
  std::vector<Bytes> rows;
  std::vector<Cube> cubes;
  for (const ir::ValueId id : one.node().outputs) {
    rows.emplace_back(static_cast<size_t>(graph.type(id).shape.elements()), int8_t{99});
    cubes.emplace_back(graph.type(id).shape);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    rows_out.push_back(test::RowMajorView(graph.type(one.node().outputs[i]), rows[i]));
    cubes_out.push_back(cubes[i].view());
  }
  std::vector<std::byte> scratch((*kernel)->scratch_bytes());
  (*kernel)->Run(rows_in, rows_out, scratch);
  (*kernel)->Run(cubes_in, cubes_out, scratch);
  for (size_t i = 0; i < rows.size(); ++i) {
    Bytes unpacked(rows[i].size());
    layout::UnpackInt8(cubes[i].bytes.data(), cubes[i].geometry, false,
                       reinterpret_cast<std::byte*>(unpacked.data()));
    EXPECT_EQ(unpacked, rows[i]) << "output " << i;
  }
}

// Channel offsets inside, at and across the borders of groups.
TEST(Movement, SlicesOfCubes) {
  for (const int32_t begin : {0, 3, 16, 20, 32}) {
    for (const int32_t count : {1, 12, 16, 17, 32}) {
      SCOPED_TRACE(testing::Message() << begin << " " << count);
      OneNode one(ir::SliceParams{});
      one.Input(Int8Type({1, 5, 6, 64}, 1.0F, 0))
          .Constant(Ints32(4), Ints{0, 1, 2, begin})
          .Constant(Ints32(4), Ints{1, 3, 4, count})
          .Output(Int8Type({1, 3, 4, count}, 1.0F, 0));
      ExpectCubesAgree(one, 0, MakeSlice(one.graph(), one.node()), 1);
    }
  }
}

TEST(Movement, StridedSlicesOfCubes) {
  for (const int32_t step : {1, 2, -1, -3}) {
    OneNode one(ir::StridedSliceParams{.begin_mask = 15, .end_mask = 15});
    const int32_t channels = step == 1 ? 40 : step == 2 ? 20 : step == -1 ? 40 : 14;
    one.Input(Int8Type({1, 5, 6, 40}, 1.0F, 0))
        .Constant(Ints32(4), Ints{0, 0, 0, 0})
        .Constant(Ints32(4), Ints{0, 0, 0, 0})
        .Constant(Ints32(4), Ints{1, -2, 3, step})
        .Output(Int8Type({1, 3, 2, channels}, 1.0F, 0));
    ExpectCubesAgree(one, 0, MakeStridedSlice(one.graph(), one.node()), 2);
  }
}

TEST(Movement, SplitsOfCubes) {
  OneNode one(ir::SplitParams{.kind = ir::SplitKind::kSplitV});
  one.Input(Int8Type({1, 3, 4, 57}, 1.0F, 0))
      .Constant(Ints32(3), Ints{16, 24, 17})
      .Constant(Ints32(1), Ints{3});
  for (const int32_t part : {16, 24, 17}) one.Output(Int8Type({1, 3, 4, part}, 1.0F, 0));
  ExpectCubesAgree(one, 0, MakeSplit(one.graph(), one.node()), 3);
  OneNode rows(ir::SplitParams{});
  rows.Constant(Ints32(1), Ints{1}).Input(Int8Type({1, 6, 4, 20}, 1.0F, 0));
  for (int i = 0; i < 3; ++i) rows.Output(Int8Type({1, 2, 4, 20}, 1.0F, 0));
  ExpectCubesAgree(rows, 1, MakeSplit(rows.graph(), rows.node()), 4);
}

TEST(Movement, PadsOfCubes) {
  for (const int32_t before : {0, 1, 16}) {
    for (const int32_t after : {0, 5}) {
      SCOPED_TRACE(testing::Message() << before << " " << after);
      const ir::TensorType out = Int8Type({1, 6, 7, 20 + before + after}, 1.0F, 7);
      const Ints paddings{0, 0, 1, 2, 0, 3, before, after};
      OneNode one(ir::PadParams{});
      one.Input(Int8Type({1, 3, 4, 20}, 1.0F, 7)).Constant(Ints32(8), paddings).Output(out);
      ExpectCubesAgree(one, 0, MakePad(one.graph(), one.node()), 5);
      OneNode mirror(ir::MirrorPadParams{.symmetric = true});
      mirror.Input(Int8Type({1, 3, 4, 20}, 1.0F, 7)).Constant(Ints32(8), paddings).Output(out);
      ExpectCubesAgree(mirror, 0, MakeMirrorPad(mirror.graph(), mirror.node()), 6);
    }
  }
}

TEST(Movement, ResizesOfCubes) {
  for (const bool half : {false, true}) {
    OneNode one(ir::ResizeNearestParams{.align_corners = !half, .half_pixel_centers = half});
    one.Input(Int8Type({1, 3, 4, 20}, 1.0F, 0))
        .Constant(Ints32(2), Ints{7, 5})
        .Output(Int8Type({1, 7, 5, 20}, 1.0F, 0));
    ExpectCubesAgree(one, 0, MakeResizeNearest(one.graph(), one.node()), 7);
    OneNode bilinear(ir::ResizeBilinearParams{.align_corners = !half, .half_pixel_centers = half});
    bilinear.Input(Int8Type({1, 3, 4, 20}, 1.0F, 0))
        .Constant(Ints32(2), Ints{7, 5})
        .Output(Int8Type({1, 7, 5, 20}, 1.0F, 0));
    bilinear.type(0).rebased_uint8 = bilinear.type(2).rebased_uint8 = true;
    ExpectCubesAgree(bilinear, 0, MakeResizeBilinear(bilinear.graph(), bilinear.node()), 8);
  }
}

// A tensor whose axes are permuted, some of them reversed.
TEST(StridedCopy, EqualsPlainLoops) {
  std::mt19937 random(9);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  for (int round = 0; round < 300; ++round) {
    const size_t rank = 1 + below(5);
    std::vector<size_t> extents(rank), order(rank);
    for (size_t& extent : extents) extent = 1 + below(round % 10 == 0 && rank < 3 ? 90 : 6);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<CopyAxis> axes(rank);
    ptrdiff_t total = 1, first = 0;
    for (size_t i = rank; i-- > 0; total *= static_cast<ptrdiff_t>(extents[i])) {
      axes[i] = {.count = extents[i], .from = total, .to = 0};
    }
    ptrdiff_t to = 1;
    for (const size_t axis : order) {
      axes[axis].to = to;
      to *= static_cast<ptrdiff_t>(extents[axis]);
      if (below(4) != 0) continue;
      first += axes[axis].from * static_cast<ptrdiff_t>(extents[axis] - 1);
      axes[axis].from = -axes[axis].from;
    }
    std::vector<std::byte> from(static_cast<size_t>(total)), got(from.size()),
        expected(from.size());
    for (std::byte& byte : from) byte = std::byte(random() & 0xFF);
    StridedCopy(axes).Run(from.data() + first, got.data());
    std::vector<size_t> at(rank, 0);
    for (ptrdiff_t n = 0; n < total; ++n) {
      ptrdiff_t source = first, target = 0;
      for (size_t i = 0; i < rank; ++i) {
        source += static_cast<ptrdiff_t>(at[i]) * axes[i].from;
        target += static_cast<ptrdiff_t>(at[i]) * axes[i].to;
      }
      expected[static_cast<size_t>(target)] = from[static_cast<size_t>(source)];
      for (size_t i = rank; i-- > 0 && ++at[i] == extents[i];) at[i] = 0;
    }
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace npu::host
