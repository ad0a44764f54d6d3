// SPDX-License-Identifier: Apache-2.0
// Kernels on cubes against the same kernels row-major: shapes the model set does not have. Padding
// lanes hold random bytes, and bytes behind each buffer must stay.
#include <gtest/gtest.h>

#include <random>

#include "src/host/kernels.h"
#include "tests/unit/host/one_node.h"

namespace npu::host {
namespace {

using test::Int8Type;
using test::OneNode;
using test::PlainType;
using Bytes = std::vector<int8_t>;

constexpr size_t kGuard = 64;
constexpr int8_t kGuardByte = 0x33;

Bytes RandomBytes(std::mt19937& random, size_t count) {
  Bytes bytes(count);
  for (int8_t& b : bytes) b = static_cast<int8_t>(random());
  return bytes;
}

layout::CubeShape CubeOf(const Shape& shape) {
  const auto extent = [&](size_t i) { return static_cast<uint32_t>(shape[i]); };
  return {.channels = extent(3),
          .allocated_channels = extent(3),
          .height = extent(1),
          .width = extent(2)};
}

// Calls fn(index in row-major order, offset in the cube) for every element.
template <typename Fn>
void ForEach(const layout::CubeShape& cube, const Fn& fn) {
  size_t i = 0;
  for (uint32_t h = 0; h < cube.height; ++h) {
    for (uint32_t w = 0; w < cube.width; ++w) {
      for (uint32_t c = 0; c < cube.channels; ++c) fn(i++, layout::CubeOffset(cube, c, h, w));
    }
  }
}

Bytes ToCube(const Bytes& values, const Shape& shape, std::mt19937& random) {
  const layout::CubeShape cube = CubeOf(shape);
  Bytes bytes = RandomBytes(random, cube.bytes());
  ForEach(cube, [&](size_t i, uint64_t offset) { bytes[offset] = values[i]; });
  return bytes;
}

layout::TensorView CubeView(const Shape& shape, Bytes& bytes) {
  return {.data = reinterpret_cast<std::byte*>(bytes.data()),
          .dtype = DataType::kInt8,
          .shape = shape,
          .order = layout::Order::kCube,
          .surface_bytes = CubeOf(shape).surface_bytes()};
}

// Runs the node both ways on random inputs.
void ExpectSameOnCubes(const OneNode& one, KernelResult (*make)(const ir::Graph&, const ir::Node&),
                       uint32_t seed) {
  std::mt19937 random(seed);
  auto kernel = make(one.graph(), one.node());
  ASSERT_TRUE(kernel.ok());
  ASSERT_EQ((*kernel)->order_support(), OrderSupport::kImage);
  std::vector<Bytes> inputs, cubes;
  std::vector<layout::TensorView> views;
  cubes.reserve(one.node().inputs.size());
  for (const ir::ValueId id : one.node().inputs) {
    views.emplace_back();
    if (one.graph().value(id).is_constant()) continue;
    const Shape& shape = one.graph().type(id).shape;
    inputs.push_back(RandomBytes(random, static_cast<size_t>(shape.elements())));
    cubes.push_back(ToCube(inputs.back(), shape, random));
    views.back() = CubeView(shape, cubes.back());
  }
  const Bytes expected = test::RunKernel<int8_t, int8_t>(one, **kernel, inputs);
  const Shape& shape = one.graph().output(one.node()).type.shape;
  const layout::CubeShape cube = CubeOf(shape);
  Bytes out(cube.bytes() + kGuard, kGuardByte);
  const layout::TensorView output = CubeView(shape, out);
  std::vector<std::byte> scratch((*kernel)->scratch_bytes());
  (*kernel)->Run(views, {&output, 1}, scratch);
  ForEach(cube, [&](size_t i, uint64_t offset) { ASSERT_EQ(out[offset], expected[i]) << i; });
  for (size_t i = cube.bytes(); i < out.size(); ++i) ASSERT_EQ(out[i], kGuardByte);
}

TEST(BinaryOnCubes, BroadcastsEveryAxis) {
  const Shape out{1, 3, 5, 37};
  const std::vector<Shape> shapes = {{1, 3, 5, 37}, {1, 1, 1, 37}, {1, 3, 5, 1}, {1, 1, 5, 37},
                                     {1, 3, 1, 37}, {1, 1, 1, 1},  {1, 3, 1, 1}};
  uint32_t seed = 1;
  for (const ir::BinaryKind kind :
       {ir::BinaryKind::kAdd, ir::BinaryKind::kSub, ir::BinaryKind::kMul}) {
    for (const Shape& shape : shapes) {
      OneNode second(ir::BinaryParams{.kind = kind});
      second.Input(Int8Type(out, 0.05F, 3))
          .Input(Int8Type(shape, 0.02F, -7))
          .Output(Int8Type(out, 0.08F, 10));
      ExpectSameOnCubes(second, MakeBinary, seed++);
      OneNode first(ir::BinaryParams{.kind = kind});
      first.Input(Int8Type(shape, 0.05F, 3))
          .Input(Int8Type(out, 0.02F, -7))
          .Output(Int8Type(out, 0.08F, 10));
      ExpectSameOnCubes(first, MakeBinary, seed++);
    }
  }
}

TEST(BinaryOnCubes, ConstantsOfEveryShape) {
  std::mt19937 random(5);
  const Shape out{1, 3, 5, 37};
  const std::vector<Shape> shapes = {{37}, {1}, {}, {5, 37}, {3, 1, 1}, {1, 3, 5, 37}, {3, 5, 1}};
  for (const Shape& shape : shapes) {
    OneNode one(ir::BinaryParams{.kind = ir::BinaryKind::kSub});
    one.Constant(Int8Type(shape, 0.05F, 3),
                 RandomBytes(random, static_cast<size_t>(shape.elements())))
        .Input(Int8Type(out, 0.02F, -7))
        .Output(Int8Type(out, 0.08F, 10));
    ExpectSameOnCubes(one, MakeBinary, 6);
  }
}

TEST(ConcatenationOnCubes, EveryAxis) {
  OneNode channels(ir::ConcatenationParams{.axis = 3});
  channels.Input(Int8Type({1, 2, 3, 16}, 1.0F, 0))
      .Input(Int8Type({1, 2, 3, 7}, 1.0F, 0))
      .Input(Int8Type({1, 2, 3, 40}, 1.0F, 0))
      .Output(Int8Type({1, 2, 3, 63}, 1.0F, 0));
  ExpectSameOnCubes(channels, MakeConcatenation, 7);
  OneNode rows(ir::ConcatenationParams{.axis = -3});
  rows.Input(Int8Type({1, 2, 3, 20}, 1.0F, 0))
      .Input(Int8Type({1, 4, 3, 20}, 1.0F, 0))
      .Output(Int8Type({1, 6, 3, 20}, 1.0F, 0));
  ExpectSameOnCubes(rows, MakeConcatenation, 8);
  OneNode columns(ir::ConcatenationParams{.axis = 2});
  columns.Input(Int8Type({1, 2, 3, 20}, 1.0F, 0))
      .Input(Int8Type({1, 2, 1, 20}, 1.0F, 0))
      .Output(Int8Type({1, 2, 4, 20}, 1.0F, 0));
  ExpectSameOnCubes(columns, MakeConcatenation, 9);
}

TEST(PadOnCubes, PlaneAndTrailingChannels) {
  for (const int32_t extra : {0, 1, 12, 30}) {
    for (const int32_t channels : {5, 16, 21}) {
      OneNode one(ir::PadParams{});
      one.Input(Int8Type({1, 2, 3, channels}, 1.0F, -9))
          .Constant(PlainType(DataType::kInt32, {4, 2}),
                    std::vector<int32_t>{0, 0, 1, 0, 2, 1, 0, extra})
          .Output(Int8Type({1, 3, 6, channels + extra}, 1.0F, -9));
      ExpectSameOnCubes(one, MakePad, static_cast<uint32_t>(extra));
    }
  }
}

TEST(DepthwiseOnCubes, MultiplierCrossesGroups) {
  std::mt19937 random(10);
  OneNode one(ir::DepthwiseConv2dParams{.multiplier = 3});
  one.Input(Int8Type({1, 4, 5, 21}, 0.02F, 7))
      .Constant(Int8Type({1, 3, 3, 63}, 0.005F, 0), RandomBytes(random, 9 * 63))
      .Output(Int8Type({1, 4, 5, 63}, 0.06F, -3));
  ExpectSameOnCubes(one, MakeDepthwiseConv2d, 11);
}

TEST(MeanOnCubes, KeepsDimensions) {
  OneNode one(ir::MeanParams{.keep_dims = true});
  one.Input(Int8Type({1, 4, 5, 70}, 0.02F, 7))
      .Constant(PlainType(DataType::kInt32, {2}), std::vector<int32_t>{-2, 1})
      .Output(Int8Type({1, 1, 1, 70}, 0.01F, -3));
  ExpectSameOnCubes(one, MakeMean, 12);
}

}  // namespace
}  // namespace npu::host
