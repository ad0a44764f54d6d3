// SPDX-License-Identifier: Apache-2.0
// The recomputation of NPU convolutions against plain loops, and raw sums finished on the host.
#include "src/host/silicon_conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "src/host/kernels.h"
#include "tests/unit/host/one_node.h"

namespace npu::host {
namespace {

using test::Int8Type;
using test::OneNode;
using test::PlainType;

std::vector<int8_t> RandomBytes(std::mt19937& random, size_t count) {
  std::uniform_int_distribution<int> byte(-128, 127);
  std::vector<int8_t> bytes(count);
  for (int8_t& b : bytes) b = static_cast<int8_t>(byte(random));
  return bytes;
}

encode::SiliconConv RandomConv(std::mt19937& random, bool depthwise) {
  const auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  encode::SiliconConv c;
  c.depthwise = depthwise;
  c.ic = pick(1, 40);
  c.oc = depthwise ? c.ic : pick(1, 40);
  c.ih = pick(1, 9);
  c.iw = pick(1, 9);
  c.kh = pick(1, 3);
  c.kw = pick(1, 3);
  c.sh = pick(1, 2);
  c.sw = pick(1, 2);
  c.dh = pick(1, 2);
  c.dw = pick(1, 2);
  c.pad_top = pick(0, 2);
  c.pad_left = pick(0, 2);
  c.oh = pick(1, 6);
  c.ow = pick(1, 6);  // taps beyond the plane are padding too
  c.pad_value = static_cast<int8_t>(static_cast<int>(pick(0, 255)) - 128);
  c.weights = RandomBytes(random, c.oc * c.kh * c.kw * (depthwise ? 1 : c.ic));
  for (uint32_t o = 0; o < c.oc; ++o) {
    c.addend.push_back(static_cast<int32_t>(pick(0, 20000)) - 10000);
    c.multiplier.push_back(static_cast<int16_t>(pick(1, 32767)));
  }
  c.bs_shift = pick(10, 15);
  c.out_scale = static_cast<int32_t>(pick(16384, 32767));
  c.out_shift = pick(20, 24);
  c.out_offset = static_cast<int32_t>(pick(0, 60)) - 30;
  return c;
}

int64_t Tap(const encode::SiliconConv& c, const std::vector<int8_t>& x, int64_t y, int64_t ix,
            uint32_t channel) {
  if (y < 0 || y >= c.ih || ix < 0 || ix >= c.iw) return c.pad_value;
  return x[static_cast<size_t>((y * c.iw + ix) * c.ic + channel)];
}

int64_t PlainSum(const encode::SiliconConv& c, const std::vector<int8_t>& x, uint32_t o, uint32_t y,
                 uint32_t ox) {
  int64_t sum = 0;
  for (uint32_t ky = 0; ky < c.kh; ++ky) {
    for (uint32_t kx = 0; kx < c.kw; ++kx) {
      const int64_t iy = int64_t{y} * c.sh + int64_t{ky} * c.dh - c.pad_top;
      const int64_t ix = int64_t{ox} * c.sw + int64_t{kx} * c.dw - c.pad_left;
      const size_t tap = (size_t{o} * c.kh + ky) * c.kw + kx;
      if (c.depthwise) {
        sum += Tap(c, x, iy, ix, o) * c.weights[tap];
        continue;
      }
      for (uint32_t i = 0; i < c.ic; ++i) sum += Tap(c, x, iy, ix, i) * c.weights[tap * c.ic + i];
    }
  }
  return sum;
}

// v / 2^shift, ties to even, by remainder: not the library's form.
int64_t HalfEven(int64_t v, uint32_t shift) {
  const int64_t unit = int64_t{1} << shift;
  int64_t floor = v / unit;
  int64_t rest = v % unit;
  if (rest < 0) {
    --floor;
    rest += unit;
  }
  return floor + ((2 * rest > unit || (2 * rest == unit && floor % 2 != 0)) ? 1 : 0);
}

int8_t PlainOutput(const encode::SiliconConv& c, int64_t sum, uint32_t o) {
  int64_t v = sum + c.addend[o];
  if (!c.multiplier.empty()) v = HalfEven(v * c.multiplier[o], c.bs_shift);
  v = std::clamp<int64_t>(v, INT32_MIN, INT32_MAX);
  if (c.relu || c.relux) v = std::max<int64_t>(v, 0);
  if (c.relux) v = std::min<int64_t>(v, c.relux_limit);
  return static_cast<int8_t>(
      std::clamp<int64_t>(HalfEven(v * c.out_scale, c.out_shift) + c.out_offset, -128, 127));
}

void ExpectPlain(const encode::SiliconConv& c, std::mt19937& random) {
  std::vector<int8_t> x = RandomBytes(random, size_t{c.ih} * c.iw * c.ic);
  std::vector<int8_t> bytes(size_t{c.oh} * c.ow * c.oc, 55);
  std::vector<int32_t> sums(bytes.size(), 55);
  auto kernel = MakeSiliconConv(c);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const layout::TensorView in{.data = reinterpret_cast<std::byte*>(x.data()), .shape = {}};
  const layout::TensorView out{.data = c.raw_int32 ? reinterpret_cast<std::byte*>(sums.data())
                                                   : reinterpret_cast<std::byte*>(bytes.data()),
                               .shape = {}};
  std::vector<std::byte> scratch((*kernel)->scratch_bytes());
  (*kernel)->Run({&in, 1}, {&out, 1}, scratch);
  size_t i = 0;
  for (uint32_t y = 0; y < c.oh; ++y) {
    for (uint32_t ox = 0; ox < c.ow; ++ox) {
      for (uint32_t o = 0; o < c.oc; ++o, ++i) {
        const int64_t sum = PlainSum(c, x, o, y, ox);
        if (c.raw_int32) {
          ASSERT_EQ(sums[i], sum);
        } else {
          ASSERT_EQ(bytes[i], PlainOutput(c, sum, o));
        }
      }
    }
  }
}

TEST(SiliconConv, EqualsPlainLoops) {
  std::mt19937 random(20261130);
  for (int i = 0; i < 60; ++i) {
    encode::SiliconConv c = RandomConv(random, i % 2 == 1);
    if (i % 3 == 1) c.multiplier.clear();
    c.relu = i % 4 == 1;
    c.relux = i % 5 == 1;
    c.relux_limit = 3000;
    c.raw_int32 = i % 6 == 0;
    ExpectPlain(c, random);
  }
}

TEST(SiliconConv, RejectsSizesThatContradict) {
  std::mt19937 random(7);
  const encode::SiliconConv good = RandomConv(random, false);
  const auto rejected = [](encode::SiliconConv c) {
    return MakeSiliconConv(c).status().code() == ErrorCode::kInvalidArgument;
  };
  EXPECT_FALSE(rejected(good));
  encode::SiliconConv c = good;
  c.weights.pop_back();
  EXPECT_TRUE(rejected(c));
  c = good;
  c.addend.push_back(0);
  EXPECT_TRUE(rejected(c));
  c = good;
  c.multiplier.pop_back();
  EXPECT_TRUE(rejected(c));
  c = good;
  c.out_shift = 64;
  EXPECT_TRUE(rejected(c));
  c = good;
  c.sh = 0;
  EXPECT_TRUE(rejected(c));
  c = RandomConv(random, true);
  ++c.oc;
  EXPECT_TRUE(rejected(c));
}

// Raw sums of a padded convolution through the host's requantization, everything in cubes.
TEST(Requantize, FinishesRawSumsOnCubes) {
  std::mt19937 random(3);
  ir::TensorType filter = Int8Type({37, 3, 3, 20}, 1.0F, 0);
  filter.quant = {.scales = {}, .zero_points = {}, .axis = 0};
  std::vector<int32_t> bias;
  for (int i = 0; i < 37; ++i) {
    filter.quant.scales.push_back(0.001F * static_cast<float>(i + 1));
    bias.push_back(100 * (i - 18));
  }
  const std::vector<int8_t> weights = RandomBytes(random, 37 * 9 * 20);
  OneNode one(ir::Conv2dParams{.sh = 2, .sw = 2, .activation = ir::Activation::kRelu});
  one.Input(Int8Type({1, 7, 6, 20}, 0.02F, -13))
      .Constant(filter, weights)
      .Constant(PlainType(DataType::kInt32, {37}), bias)
      .Output(Int8Type({1, 4, 3, 37}, 0.7F, -100));
  const std::vector<int8_t> x = RandomBytes(random, 7 * 6 * 20);
  const std::vector<int8_t> expected = test::Compute(one, MakeConv2d, {x});

  encode::SiliconConv raw{.ic = 20,
                          .ih = 7,
                          .iw = 6,
                          .oc = 37,
                          .oh = 4,
                          .ow = 3,
                          .kh = 3,
                          .kw = 3,
                          .sh = 2,
                          .sw = 2,
                          .pad_top = 1,
                          .pad_left = 0,
                          .pad_value = -13,
                          .weights = weights,
                          .raw_int32 = true};
  const layout::CubeShape sums_cube{
      .channels = 37, .allocated_channels = 40, .height = 4, .width = 3, .element_bytes = 4};
  const layout::CubeShape out_cube{
      .channels = 37, .allocated_channels = 48, .height = 4, .width = 3};
  std::vector<std::byte> sums(sums_cube.bytes()), out(out_cube.bytes());
  std::vector<int8_t> in = x;
  const layout::TensorView in_view{.data = reinterpret_cast<std::byte*>(in.data()), .shape = {}};
  const layout::TensorView sums_view{.data = sums.data(),
                                     .dtype = DataType::kInt32,
                                     .shape = {},
                                     .order = layout::Order::kCube,
                                     .surface_bytes = sums_cube.surface_bytes()};
  const layout::TensorView out_view{.data = out.data(),
                                    .dtype = DataType::kInt8,
                                    .shape = {},
                                    .order = layout::Order::kCube,
                                    .surface_bytes = out_cube.surface_bytes()};
  auto silicon = MakeSiliconConv(raw);
  auto requantize = MakeRequantize(one.graph(), one.node());
  ASSERT_TRUE(silicon.ok() && requantize.ok());
  std::vector<std::byte> scratch((*silicon)->scratch_bytes());
  (*silicon)->Run({&in_view, 1}, {&sums_view, 1}, scratch);
  (*requantize)->Run({&sums_view, 1}, {&out_view, 1}, {});
  size_t i = 0;
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t w = 0; w < 3; ++w) {
      for (uint32_t c = 0; c < 37; ++c, ++i) {
        ASSERT_EQ(static_cast<int8_t>(out[layout::CubeOffset(out_cube, c, y, w)]), expected[i]);
      }
    }
  }
}

TEST(Requantize, RefusesOperationsWithoutRawSums) {
  OneNode one(ir::ReshapeParams{});
  one.Input(Int8Type({4}, 1.0F, 0)).Output(Int8Type({4}, 1.0F, 0));
  EXPECT_FALSE(MakeRequantize(one.graph(), one.node()).ok());
}

}  // namespace
}  // namespace npu::host
