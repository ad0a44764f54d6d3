// SPDX-License-Identifier: Apache-2.0
// Lowering: what the NPU computes for a node (its own description, recomputed) against the node's
// host kernel: at most the stated bound apart, and identical in the exact form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "src/chip/profile.h"
#include "src/host/kernels.h"
#include "src/host/silicon.h"
#include "src/ops/op_def.h"
#include "src/ops/reason.h"
#include "tests/unit/host/one_node.h"

namespace npu::ops {
namespace {

using test::Int8Type;
using test::OneNode;
using test::PlainType;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

const chip::Profile& Chip() { return *chip::FindChip("rk3588"); }

Bytes RandomBytes(std::mt19937& random, size_t count) {
  std::uniform_int_distribution<int> byte(-128, 127);
  Bytes bytes(count);
  for (int8_t& b : bytes) b = static_cast<int8_t>(byte(random));
  return bytes;
}

template <typename T>
std::vector<T> Recompute(const encode::EncodedOp& op, Bytes input) {
  auto kernel = host::MakeSilicon(op.silicon);
  EXPECT_TRUE(kernel.ok());
  std::vector<T> out(size_t{op.output.height} * op.output.width * op.output.channels);
  const layout::TensorView in_view{.data = reinterpret_cast<std::byte*>(input.data()), .shape = {}};
  const layout::TensorView out_view{.data = reinterpret_cast<std::byte*>(out.data()), .shape = {}};
  std::vector<std::byte> scratch((*kernel)->scratch_bytes());
  (*kernel)->Run({&in_view, 1}, {&out_view, 1}, scratch);
  return out;
}

Bytes Host(const OneNode& one, const Bytes& input) {
  return test::Compute(one, FindOp(one.node().params).make_host, {input});
}

void ExpectWithinBound(const OneNode& one, const Bytes& input) {
  auto op = FindOp(one.node().params).lower(one.graph(), one.node(), Chip(), {});
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_FALSE(op->raw_int32());
  EXPECT_LE(op->bound.counts, 1);
  const Bytes npu = Recompute<int8_t>(*op, input);
  const Bytes host = Host(one, input);
  ASSERT_EQ(npu.size(), host.size());
  for (size_t i = 0; i < npu.size(); ++i) {
    ASSERT_LE(std::abs(npu[i] - host[i]), op->bound.counts) << "output " << i;
  }
}

void ExpectExact(const OneNode& one, const Bytes& input) {
  const OpDef& def = FindOp(one.node().params);
  auto op = def.lower(one.graph(), one.node(), Chip(), {.exact = true});
  ASSERT_TRUE(op.ok()) << op.status().message();
  ASSERT_TRUE(op->raw_int32());
  std::vector<int32_t> sums = Recompute<int32_t>(*op, input);
  auto requantize = def.make_requant(one.graph(), one.node());
  ASSERT_TRUE(requantize.ok());
  Bytes out(sums.size());
  const layout::TensorView in_view{.data = reinterpret_cast<std::byte*>(sums.data()), .shape = {}};
  const layout::TensorView out_view{.data = reinterpret_cast<std::byte*>(out.data()), .shape = {}};
  (*requantize)->Run({&in_view, 1}, {&out_view, 1}, {});
  EXPECT_EQ(out, Host(one, input));
}

OneNode ConvNode(std::mt19937& random, int32_t ic, int32_t oc, ir::Activation activation) {
  ir::TensorType filter = Int8Type({oc, 3, 3, ic}, 1.0F, 0);
  filter.quant = {.scales = {}, .zero_points = {}, .axis = 0};
  Ints bias;
  for (int32_t o = 0; o < oc; ++o) {
    filter.quant.scales.push_back(0.002F + 0.0005F * static_cast<float>(o % 9));
    bias.push_back((o - oc / 2) * 300);
  }
  OneNode one(ir::Conv2dParams{.sh = 2, .sw = 1, .activation = activation});
  one.Input(Int8Type({1, 9, 7, ic}, 0.02F, -11))
      .Constant(filter, RandomBytes(random, static_cast<size_t>(oc * 9 * ic)))
      .Constant(PlainType(DataType::kInt32, {oc}), bias)
      .Output(Int8Type({1, 5, 7, oc}, 0.6F, 4));
  return one;
}

TEST(LowerConv2d, StaysWithinItsBound) {
  std::mt19937 random(11);
  for (const auto activation :
       {ir::Activation::kNone, ir::Activation::kRelu, ir::Activation::kRelu6}) {
    const OneNode one = ConvNode(random, 24, 40, activation);
    ExpectWithinBound(one, RandomBytes(random, 9 * 7 * 24));
  }
}

TEST(LowerConv2d, ExactFormIsIdentical) {
  std::mt19937 random(12);
  for (const auto activation :
       {ir::Activation::kNone, ir::Activation::kReluN1To1, ir::Activation::kRelu6}) {
    const OneNode one = ConvNode(random, 5, 33, activation);
    ExpectExact(one, RandomBytes(random, 9 * 7 * 5));
  }
}

OneNode DepthwiseNode(std::mt19937& random, int32_t multiplier, int32_t channels = 20) {
  OneNode one(ir::DepthwiseConv2dParams{.multiplier = multiplier});
  const int32_t oc = channels * multiplier;
  one.Input(Int8Type({1, 6, 6, channels}, 0.02F, 7))
      .Constant(Int8Type({1, 3, 3, oc}, 0.005F, 0),
                RandomBytes(random, static_cast<size_t>(9 * oc)))
      .Absent()
      .Output(Int8Type({1, 6, 6, oc}, 0.06F, -3));
  return one;
}

TEST(LowerDepthwiseConv2d, StaysWithinItsBound) {
  std::mt19937 random(13);
  const OneNode one = DepthwiseNode(random, 1);
  ExpectWithinBound(one, RandomBytes(random, 6 * 6 * 20));
}

Status LowerStatus(const OneNode& one, bool exact) {
  return FindOp(one.node().params)
      .lower(one.graph(), one.node(), Chip(), {.exact = exact})
      .status();
}

TEST(LowerDepthwiseConv2d, RunsMultipliersAsAConvolution) {
  std::mt19937 random(19);
  for (const int32_t channels : {1, 3, 20}) {
    OneNode one = DepthwiseNode(random, 4, channels);
    const Bytes input = RandomBytes(random, static_cast<size_t>(6 * 6 * channels));
    ExpectWithinBound(one, input);
    ExpectExact(one, input);
    for (ir::ValueId id = 0; id < 3; ++id) one.type(id).rebased_uint8 = true;
    one.type(1).quant.zero_points = {-9};
    ExpectWithinBound(one, input);
  }
}

TEST(LowerDepthwiseConv2d, DeclinesExactAndWideMultipliers) {
  std::mt19937 random(14);
  EXPECT_EQ(LowerStatus(DepthwiseNode(random, 1), true).reason(), Id(Reason::kNpuExact));
  EXPECT_EQ(LowerStatus(DepthwiseNode(random, 2, 33), false).reason(), Id(Reason::kConvMultiplier));
}

OneNode DenseNode(std::mt19937& random) {
  OneNode one(ir::FullyConnectedParams{});
  one.Input(Int8Type({3, 2, 40}, 0.02F, 9))
      .Constant(Int8Type({17, 80}, 0.005F, 0), RandomBytes(random, 17 * 80))
      .Absent()
      .Output(Int8Type({3, 17}, 0.3F, -20));
  return one;
}

TEST(LowerFullyConnected, BothForms) {
  std::mt19937 random(15);
  const OneNode one = DenseNode(random);
  const Bytes input = RandomBytes(random, 240);
  ExpectWithinBound(one, input);
  ExpectExact(one, input);
}

OneNode AverageNode(int32_t kh, int32_t kw, ir::Padding padding) {
  OneNode one(
      ir::Pool2dParams{.kind = ir::PoolKind::kAverage, .padding = padding, .kh = kh, .kw = kw});
  const int32_t oh = padding == ir::Padding::kSame ? 12 : 12 - kh + 1;
  const int32_t ow = padding == ir::Padding::kSame ? 12 : 12 - kw + 1;
  one.Input(Int8Type({1, 12, 12, 18}, 0.1F, -5)).Output(Int8Type({1, oh, ow, 18}, 0.1F, -5));
  return one;
}

TEST(LowerAveragePool2d, IsExactForEveryWindow) {
  std::mt19937 random(16);
  const Bytes input = RandomBytes(random, 12 * 12 * 18);
  for (const int32_t kh : {1, 2, 3, 7}) {
    for (const int32_t kw : {2, 3, 7}) {
      const OneNode one = AverageNode(kh, kw, ir::Padding::kValid);
      auto op = FindOp(one.node().params).lower(one.graph(), one.node(), Chip(), {.exact = true});
      ASSERT_TRUE(op.ok()) << op.status().message();
      EXPECT_EQ(op->bound.counts, 0);
      EXPECT_EQ(Recompute<int8_t>(*op, input), Host(one, input));
    }
  }
}

TEST(LowerAveragePool2d, DeclinesPaddingAndLargeWindows) {
  EXPECT_EQ(LowerStatus(AverageNode(3, 3, ir::Padding::kSame), false).reason(),
            Id(Reason::kPoolWindow));
  EXPECT_EQ(LowerStatus(AverageNode(12, 8, ir::Padding::kValid), false).reason(),
            Id(Reason::kPoolWindow));
  EXPECT_EQ(LowerStatus(AverageNode(1, 1, ir::Padding::kValid), false).reason(),
            Id(Reason::kPoolWindow));
}

OneNode MeanNode(const Ints& axes, const Shape& out) {
  OneNode one(ir::MeanParams{});
  one.Input(Int8Type({1, 7, 7, 24}, 0.05F, -20))
      .Constant(PlainType(DataType::kInt32, {static_cast<int32_t>(axes.size())}), axes)
      .Output(Int8Type(out, 0.03F, -5));
  return one;
}

TEST(LowerMean, StaysWithinItsBound) {
  std::mt19937 random(17);
  ExpectWithinBound(MeanNode({2, -3}, {1, 24}), RandomBytes(random, 7 * 7 * 24));
}

TEST(LowerMean, DeclinesOtherAxes) {
  EXPECT_EQ(LowerStatus(MeanNode({3}, {1, 7, 7}), false).reason(), Id(Reason::kMeanPlane));
  EXPECT_EQ(LowerStatus(MeanNode({1}, {1, 7, 24}), false).reason(), Id(Reason::kMeanPlane));
}

// A batch is computed on the host, one image after the other.
TEST(Lowering, TakesOneImageAtATime) {
  std::mt19937 random(18);
  OneNode one = DepthwiseNode(random, 1);
  const Bytes input = RandomBytes(random, size_t{3} * 6 * 6 * 20);
  const std::span<const int8_t> images(input);
  Bytes expected;
  for (size_t i = 0; i < 3; ++i) {
    const auto image = images.subspan(i * 6 * 6 * 20, 6 * 6 * 20);
    const Bytes out = Host(one, Bytes(image.begin(), image.end()));
    expected.insert(expected.end(), out.begin(), out.end());
  }
  one.type(0).shape.set(0, 3);
  one.type(one.node().outputs[0]).shape.set(0, 3);
  EXPECT_EQ(LowerStatus(one, false).reason(), Id(Reason::kShapeBatch));
  EXPECT_EQ(Host(one, input), expected);
}

TEST(Lowering, RepeatsTheSupportRule) {
  OneNode one = MeanNode({1, 2}, {1, 24});
  one.type(0).dtype = DataType::kUInt8;
  one.type(0).quant.zero_points = {3};
  EXPECT_EQ(LowerStatus(one, false).reason(), Id(Reason::kTypeNotInt8));
}

}  // namespace
}  // namespace npu::ops
