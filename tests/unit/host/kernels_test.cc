// SPDX-License-Identifier: Apache-2.0
// The worked examples of tflite-delegate section 4, one operation after the other.
#include "src/host/kernels.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/host/one_node.h"

namespace npu::host {
namespace {

using test::Compute;
using test::Int8Type;
using test::OneNode;
using test::PlainType;
using Bytes = std::vector<int8_t>;

// A 1x1 convolution whose sum is its bias: the input is the zero point.
Bytes ConvOfAccumulators(const std::vector<int32_t>& sums, int32_t out_zero,
                         ir::Activation activation = ir::Activation::kNone) {
  const auto n = static_cast<int32_t>(sums.size());
  OneNode one(ir::Conv2dParams{.activation = activation});
  one.Input(Int8Type({1, 1, 1, 2}, 0.02F, 3))
      .Constant(Int8Type({n, 1, 1, 2}, 0.005F, 0), Bytes(sums.size() * 2, 7))
      .Constant(PlainType(DataType::kInt32, {n}), sums)
      .Output(Int8Type({1, 1, 1, n}, 0.05F, out_zero));
  return Compute(one, MakeConv2d, {{3, 3}});
}

TEST(Conv2d, RoundsTwice) { EXPECT_EQ(ConvOfAccumulators({12345, -12250}, 0), (Bytes{25, -25})); }

TEST(Conv2d, ClampsToTheActivation) {
  // 0.05 * 120 = 6.
  EXPECT_EQ(ConvOfAccumulators({-60000, 12345, 65000}, -10, ir::Activation::kRelu6),
            (Bytes{-10, 15, 110}));
  EXPECT_EQ(ConvOfAccumulators({-60000, 65000}, 0, ir::Activation::kReluN1To1), (Bytes{-20, 20}));
}

TEST(Conv2d, OmitsPaddedTaps) {
  // 3x3 ones over a 2x2 image with zero point 5: each output sees all four pixels.
  OneNode one(ir::Conv2dParams{});
  one.Input(Int8Type({1, 2, 2, 1}, 1.0F, 5))
      .Constant(Int8Type({1, 3, 3, 1}, 1.0F, 0), Bytes(9, 1))
      .Absent()
      .Output(Int8Type({1, 2, 2, 1}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeConv2d, {{6, 7, 8, 9}}), Bytes(4, 10));
}

TEST(Conv2d, UsesOneScaleForEachOutputChannel) {
  OneNode one(ir::Conv2dParams{});
  ir::TensorType filter = Int8Type({2, 1, 1, 1}, 1.0F, 0);
  filter.quant = {.scales = {1.0F, 0.5F}, .zero_points = {0, 0}, .axis = 0};
  one.Input(Int8Type({1, 1, 1, 1}, 1.0F, 0))
      .Constant(filter, Bytes{4, 4})
      .Output(Int8Type({1, 1, 1, 2}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeConv2d, {{3}}), (Bytes{12, 6}));
}

TEST(DepthwiseConv2d, MultiplierRepeatsChannels) {
  // Two channels, three outputs each: output c * 3 + k reads channel c.
  OneNode one(ir::DepthwiseConv2dParams{.multiplier = 3});
  one.Input(Int8Type({1, 1, 1, 2}, 1.0F, 1))
      .Constant(Int8Type({1, 1, 1, 6}, 1.0F, 0), Bytes{1, 2, 3, 4, 5, 6})
      .Constant(PlainType(DataType::kInt32, {6}), std::vector<int32_t>{0, 0, 0, 0, 0, 100})
      .Output(Int8Type({1, 1, 1, 6}, 1.0F, -2));
  // (3 - 1) and (-4 - 1).
  EXPECT_EQ(Compute(one, MakeDepthwiseConv2d, {{3, -4}}), (Bytes{0, 2, 4, -22, -27, 68}));
}

TEST(DepthwiseConv2d, DilatesAndStrides) {
  OneNode one(ir::DepthwiseConv2dParams{.padding = ir::Padding::kValid, .sh = 1, .sw = 2, .dh = 2});
  one.Input(Int8Type({1, 3, 4, 1}, 1.0F, 0))
      .Constant(Int8Type({1, 2, 1, 1}, 1.0F, 0), Bytes{1, 10})
      .Output(Int8Type({1, 1, 2, 1}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeDepthwiseConv2d, {{1, 0, 2, 0, 9, 9, 9, 9, 3, 0, 4, 0}}),
            (Bytes{31, 42}));
}

TEST(FullyConnected, RoundsOnceHalfAway) {
  // DOUBLE would give -118 for the first sum.
  OneNode one(ir::FullyConnectedParams{});
  one.Input(Int8Type({1, 1}, 0.02F, 3))
      .Constant(Int8Type({3, 1}, 0.005F, 0), Bytes{1, 1, 1})
      .Constant(PlainType(DataType::kInt32, {3}), std::vector<int32_t>{-58750, 12345, -12250})
      .Output(Int8Type({1, 3}, 0.05F, 0));
  EXPECT_EQ(Compute(one, MakeFullyConnected, {{3}}), (Bytes{-117, 25, -24}));
}

TEST(FullyConnected, FormsItsMultiplierInDouble) {
  // Measured on ai-edge-litert 2.3: with the float32 product of the scales, M is just above 1/50
  // instead of just below, and the results are 3 and -35.
  OneNode one(ir::FullyConnectedParams{});
  one.Input(Int8Type({1, 1}, 0x1.19ba74p+1F, 0))
      .Constant(Int8Type({2, 1}, 0x1.418f7ep-7F, 0), Bytes{1, 1})
      .Constant(PlainType(DataType::kInt32, {2}), std::vector<int32_t>{125, -1725})
      .Output(Int8Type({1, 2}, 0x1.14778ep+0F, 0));
  EXPECT_EQ(Compute(one, MakeFullyConnected, {{0}}), (Bytes{2, -34}));
}

TEST(FullyConnected, BreaksTiesAwayFromZeroWhereTheQuantizedMultiplierIsBelow) {
  OneNode one(ir::FullyConnectedParams{});
  one.Input(Int8Type({1, 1}, 1.0F, 0))
      .Constant(Int8Type({3, 1}, 1.0F, 0), Bytes{1, 1, 1})
      .Constant(PlainType(DataType::kInt32, {3}), std::vector<int32_t>{125, -125, 124})
      .Output(Int8Type({1, 3}, 10.0F, 0));
  EXPECT_EQ(Compute(one, MakeFullyConnected, {{0}}), (Bytes{13, -13, 12}));
}

TEST(FullyConnected, KeepsRowsApart) {
  OneNode one(ir::FullyConnectedParams{.keep_num_dims = true});
  one.Input(Int8Type({1, 5, 2}, 1.0F, 0))
      .Constant(Int8Type({1, 2}, 1.0F, 0), Bytes{1, -1})
      .Absent()
      .Output(Int8Type({1, 5, 1}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeFullyConnected, {{1, 2, 10, 4, 0, 7, 5, 5, -3, -9}}),
            (Bytes{-1, 6, -7, 0, 6}));
}

OneNode BinaryNode(ir::BinaryKind kind, const Shape& a, const Shape& b, const Shape& out) {
  OneNode one(ir::BinaryParams{.kind = kind});
  one.Input(Int8Type(a, 0.05F, 3)).Input(Int8Type(b, 0.02F, -7)).Output(Int8Type(out, 0.08F, 10));
  return one;
}

TEST(Binary, MatchesTheSpecification) {
  const std::vector<Bytes> operands{{100, -50}, {20, -128}};
  const Shape shape{2};
  EXPECT_EQ(Compute(BinaryNode(ir::BinaryKind::kAdd, shape, shape, shape), MakeBinary, operands),
            (Bytes{77, -53}));
  EXPECT_EQ(Compute(BinaryNode(ir::BinaryKind::kSub, shape, shape, shape), MakeBinary, operands),
            (Bytes{64, 7}));
  EXPECT_EQ(Compute(BinaryNode(ir::BinaryKind::kMul, shape, shape, shape), MakeBinary, operands)[0],
            43);
}

TEST(Binary, BroadcastsBothOperands) {
  OneNode one(ir::BinaryParams{.kind = ir::BinaryKind::kAdd});
  one.Input(Int8Type({2, 1, 3}, 1.0F, 0))
      .Input(Int8Type({2, 1}, 1.0F, 0))
      .Output(Int8Type({2, 2, 3}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeBinary, {{1, 2, 3, 4, 5, 6}, {10, 20}}),
            (Bytes{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));
}

TEST(Binary, KeepsItsConstantOperand) {
  OneNode one(ir::BinaryParams{.kind = ir::BinaryKind::kSub});
  one.Constant(Int8Type({2}, 1.0F, 0), Bytes{50, 60})
      .Input(Int8Type({1, 1, 2, 2}, 1.0F, 0))
      .Output(Int8Type({1, 1, 2, 2}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeBinary, {{1, 2, 3, 4}}), (Bytes{49, 58, 47, 56}));
}

TEST(Binary, ReadsAScalarOfRank0) {
  OneNode one(ir::BinaryParams{.kind = ir::BinaryKind::kMul});
  one.Constant(Int8Type({}, 1.0F, 1), Bytes{4})
      .Input(Int8Type({2, 2}, 1.0F, 0))
      .Output(Int8Type({2, 2}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeBinary, {{1, 2, -3, 4}}), (Bytes{3, 6, -9, 12}));
}

Bytes Divide(const Bytes& dividends, const Bytes& divisors) {
  const auto n = static_cast<int32_t>(dividends.size());
  OneNode one(ir::BinaryParams{.kind = ir::BinaryKind::kDiv});
  // uint8 in the specification: zero points 10, 5 and 3.
  one.Input(Int8Type({n}, 0.05F, -118))
      .Input(Int8Type({n}, 0.02F, -123))
      .Output(Int8Type({n}, 0.1F, -125));
  return Compute(one, MakeDiv, {dividends, divisors});
}

TEST(Div, MatchesTheSpecification) { EXPECT_EQ(Divide({72, -88}, {-103, 72}), (Bytes{112, -121})); }

// Measured on ai-edge-litert 2.3: 1/250 and -10/250 of the dividends above, 0/1.
TEST(Div, QuotientsFarBelowOneCountAreTheReferences) {
  EXPECT_EQ(Divide({-117, -128, -118}, {127, 127, -122}), (Bytes{127, -126, -125}));
}

TEST(MaximumMinimum, CompareStoredIntegers) {
  const Shape shape{2};
  const std::vector<Bytes> operands{{5, -7}, {-2, 9}};
  EXPECT_EQ(Compute(BinaryNode(ir::BinaryKind::kMaximum, shape, shape, shape), MakeMaximumMinimum,
                    operands),
            (Bytes{5, 9}));
  EXPECT_EQ(Compute(BinaryNode(ir::BinaryKind::kMinimum, shape, shape, shape), MakeMaximumMinimum,
                    operands),
            (Bytes{-2, -7}));
}

TEST(Prelu, MatchesTheSpecification) {
  OneNode one(ir::PreluParams{});
  one.Input(Int8Type({2, 2}, 0.05F, 3))
      .Constant(Int8Type({2}, 0.01F, 10), Bytes{-40, 60})
      .Output(Int8Type({2, 2}, 0.04F, -5));
  EXPECT_EQ(Compute(one, MakePrelu, {{100, -100, -50, 50}}), (Bytes{116, -69, 28, 54}));
}

OneNode PoolNode(ir::PoolKind kind, int32_t kw) {
  OneNode one(ir::Pool2dParams{.kind = kind, .kh = 1, .kw = kw});
  one.Input(Int8Type({1, 1, kw, 1}, 0.5F, 9)).Output(Int8Type({1, 1, 1, 1}, 0.5F, 9));
  return one;
}

TEST(AveragePool, RoundsHalfAway) {
  EXPECT_EQ(Compute(PoolNode(ir::PoolKind::kAverage, 3), MakePool2d, {{-5, 0, 0}}), Bytes{-2});
  EXPECT_EQ(Compute(PoolNode(ir::PoolKind::kAverage, 3), MakePool2d, {{4, 0, 0}}), Bytes{1});
  EXPECT_EQ(Compute(PoolNode(ir::PoolKind::kAverage, 2), MakePool2d, {{-5, 0}}), Bytes{-3});
}

TEST(AveragePool, ExcludesPaddingFromTheCount) {
  OneNode one(ir::Pool2dParams{
      .kind = ir::PoolKind::kAverage, .padding = ir::Padding::kSame, .kh = 1, .kw = 3});
  one.Input(Int8Type({1, 1, 3, 1}, 0.5F, 9)).Output(Int8Type({1, 1, 3, 1}, 0.5F, 9));
  EXPECT_EQ(Compute(one, MakePool2d, {{10, 20, 60}}), (Bytes{15, 30, 40}));
}

TEST(MaxPool, TakesTheMaximumInsideAndClamps) {
  OneNode one(ir::Pool2dParams{.kind = ir::PoolKind::kMax,
                               .padding = ir::Padding::kSame,
                               .kh = 1,
                               .kw = 3,
                               .activation = ir::Activation::kRelu});
  one.Input(Int8Type({1, 1, 4, 1}, 0.5F, -90)).Output(Int8Type({1, 1, 4, 1}, 0.5F, -90));
  EXPECT_EQ(Compute(one, MakePool2d, {{-128, -100, -101, 5}}), (Bytes{-90, -90, 5, 5}));
}

TEST(Mean, FollowsFormulaB) {
  OneNode one(ir::MeanParams{.keep_dims = true});
  one.Input(Int8Type({1, 2, 2, 1}, 0.05F, -20))
      .Constant(PlainType(DataType::kInt32, {2}), std::vector<int32_t>{1, 2})
      .Output(Int8Type({1, 1, 1, 1}, 0.04F, -5));
  EXPECT_EQ(Compute(one, MakeMean, {{-29, -29, -29, -29}}), Bytes{-17});
}

TEST(Mean, ReducesAnyAxes) {
  OneNode one(ir::MeanParams{});
  one.Input(Int8Type({2, 3, 2}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), std::vector<int32_t>{-1, 0})
      .Output(Int8Type({3}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeMean, {{1, 2, 3, 4, 5, 6, 7, 10, 9, 12, 11, 14}}), (Bytes{5, 7, 9}));
}

Bytes ReduceBytes(ir::ReduceKind kind, const std::vector<int32_t>& axes, const Shape& out,
                  const Bytes& values, bool keep_dims = false) {
  OneNode one(ir::ReduceParams{.kind = kind, .keep_dims = keep_dims});
  one.Input(Int8Type({2, 3, 2}, 1.0F, 5))
      .Constant(PlainType(DataType::kInt32, {static_cast<int32_t>(axes.size())}), axes)
      .Output(Int8Type(out, 1.0F, 5));
  return Compute(one, MakeReduce, {values});
}

TEST(Reduce, FoldsAnyAxes) {
  const Bytes values{1, 2, 3, 4, 5, 6, 7, 10, 9, 12, 11, -14};
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kMax, {-1, 0}, {3}, values), (Bytes{10, 12, 11}));
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kMax, {1, 1}, {2, 1, 2}, values, true),
            (Bytes{5, 6, 11, 12}));
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kMin, {0, 1, 2}, {}, values), (Bytes{-14}));
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kMin, {2}, {2, 3}, values), (Bytes{1, 3, 5, 7, 9, -14}));
  // -3 + 5, of differences to the zero point.
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kSum, {1}, {2, 2}, values), (Bytes{-1, 2, 17, -2}));
}

TEST(Reduce, ExtremesSurvive) {
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kMax, {0, 1, 2}, {}, Bytes(12, -128)), (Bytes{-128}));
  EXPECT_EQ(ReduceBytes(ir::ReduceKind::kMin, {0, 1, 2}, {}, Bytes(12, 127)), (Bytes{127}));
}

TEST(Concatenation, CopiesInOrder) {
  OneNode one(ir::ConcatenationParams{.axis = -1});
  one.Input(Int8Type({2, 1}, 1.0F, 0))
      .Constant(Int8Type({2, 2}, 1.0F, 0), Bytes{10, 11, 12, 13})
      .Output(Int8Type({2, 3}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeConcatenation, {{1, 2}}), (Bytes{1, 10, 11, 2, 12, 13}));
}

TEST(Reshape, Copies) {
  OneNode one(ir::ReshapeParams{});
  one.Input(Int8Type({2, 2}, 1.0F, 0)).Output(Int8Type({4}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeReshape, {{1, 2, 3, 4}}), (Bytes{1, 2, 3, 4}));
}

TEST(Pad, FillsWithTheZeroPoint) {
  OneNode one(ir::PadParams{});
  one.Input(Int8Type({1, 2}, 1.0F, -7))
      .Constant(PlainType(DataType::kInt64, {2, 2}), std::vector<int64_t>{1, 0, 0, 1})
      .Output(Int8Type({2, 3}, 1.0F, -7));
  EXPECT_EQ(Compute(one, MakePad, {{1, 2}}), (Bytes{-7, -7, -7, 1, 2, -7}));
}

Bytes RunUnary(ir::UnaryParams params, float in_scale, int32_t in_zero, float out_scale,
               int32_t out_zero, const Bytes& values) {
  const auto n = static_cast<int32_t>(values.size());
  OneNode one(params);
  one.Input(Int8Type({n}, in_scale, in_zero)).Output(Int8Type({n}, out_scale, out_zero));
  return Compute(one, MakeUnary, {values});
}

TEST(Unary, Relu6) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kRelu6}, 0.05F, -20, 0.03F, -128, {-128, 0, 50, 127}),
            (Bytes{-128, -95, -11, 72}));
}

TEST(Unary, ReluAndReluN1To1) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kRelu}, 1.0F, 0, 1.0F, 0, {-9, 0, 9}),
            (Bytes{0, 0, 9}));
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kReluN1To1}, 0.25F, 0, 0.25F, 1, {-9, 0, 9}),
            (Bytes{-3, 1, 5}));
}

TEST(Unary, LeakyRelu) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kLeakyRelu, .alpha = 0.1F}, 0.05F, 3, 0.04F, -5,
                     {-128, 0, 100}),
            (Bytes{-22, -6, 116}));
}

TEST(Unary, LeakyReluWithANegativeSlope) {
  EXPECT_EQ(
      RunUnary({.kind = ir::UnaryKind::kLeakyRelu, .alpha = -0.5F}, 1.0F, 0, 1.0F, 0, {-20, -6, 6}),
      (Bytes{10, 3, 6}));
}

// Measured on ai-edge-litert 2.3: -(d * |m|) is what is rounded.
TEST(Unary, LeakyReluWithANegativeSlopeOnTies) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kLeakyRelu, .alpha = -0.5F}, 1.0F, 0, 1.0F, 0,
                     {-127, -125, -3, -1}),
            (Bytes{63, 62, 1, 0}));
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kLeakyRelu, .alpha = -0.25F}, 1.0F, 0, 1.0F, 0,
                     {-126, -125, -121, -1}),
            (Bytes{32, 31, 30, 0}));
}

TEST(Unary, Logistic) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kLogistic}, 0.05F, 3, 1.0F / 256.0F, -128,
                     {-128, 0, 3, 64, 127}),
            (Bytes{-128, -10, 0, 116, 127}));
}

TEST(Unary, Tanh) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kTanh}, 0.05F, 3, 1.0F / 128.0F, 0, {-128, 0, 64}),
            (Bytes{-128, -19, 127}));
}

TEST(Unary, Relu0To1) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kRelu0To1}, 0.25F, 0, 0.25F, 1, {-9, 0, 2, 9}),
            (Bytes{1, 1, 3, 5}));
}

TEST(Unary, Elu) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kElu}, 0.05F, 3, 0.05F, -10, {-128, -20, 100}),
            (Bytes{-30, -24, 87}));
}

TEST(Unary, Exp) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kExp}, 0.5F, 0, 1.0F, -128, {-128, 0, 2, 12}),
            (Bytes{-128, -127, -125, 127}));
}

TEST(Unary, Abs) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kAbs}, 0.05F, 3, 0.1F, -100, {-128, 3, 127}),
            (Bytes{-34, -100, -38}));
}

TEST(Unary, Rsqrt) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kRsqrt}, 0.05F, -128, 0.02F, -128, {-127, -108, 0}),
            (Bytes{96, -78, -108}));
}

TEST(Unary, HardSwish) {
  EXPECT_EQ(RunUnary({.kind = ir::UnaryKind::kHardSwish}, 0.05F, 3, 0.03F, -100,
                     {-128, -57, 0, 3, 30, 127}),
            (Bytes{-100, -100, -102, -100, -67, 107}));
}

TEST(Softmax, MatchesTheSpecification) {
  OneNode one(ir::SoftmaxParams{});
  one.Input(Int8Type({1, 4}, 0.1F, 0)).Output(Int8Type({1, 4}, 1.0F / 256.0F, -128));
  EXPECT_EQ(Compute(one, MakeSoftmax, {{10, 20, 30, 0}}), (Bytes{-106, -67, 37, -120}));
}

TEST(Softmax, DistantValuesAreZero) {
  OneNode one(ir::SoftmaxParams{});
  one.Input(Int8Type({1, 3}, 1.0F, 0)).Output(Int8Type({1, 3}, 1.0F / 256.0F, -128));
  EXPECT_EQ(Compute(one, MakeSoftmax, {{127, -128, 95}}), (Bytes{127, -128, -128}));
}

TEST(LogSoftmax, MatchesTheSpecification) {
  OneNode one(ir::LogSoftmaxParams{});
  one.Input(Int8Type({1, 4}, 0.1F, 0)).Output(Int8Type({1, 4}, 16.0F / 256.0F, 127));
  EXPECT_EQ(Compute(one, MakeLogSoftmax, {{10, 20, 30, 0}}), (Bytes{88, 104, 120, 72}));
}

Bytes Normalize(bool uint8, int32_t zero_point, const Bytes& values) {
  OneNode one(ir::L2NormalizationParams{});
  const auto n = static_cast<int32_t>(values.size());
  one.Input(Int8Type({n}, 0.1F, zero_point)).Output(Int8Type({n}, 1.0F / 128.0F, 0));
  one.type(0).rebased_uint8 = one.type(1).rebased_uint8 = uint8;
  return Compute(one, MakeL2Normalization, {values});
}

TEST(L2Normalization, MatchesTheSpecification) {
  EXPECT_EQ(Normalize(false, 3, {10, -20, 33, 3}), (Bytes{23, -77, 100, 0}));
  // uint8 in the specification: zero point 3, {10,20,33,3} -> {154,190,237,128}.
  EXPECT_EQ(Normalize(true, -125, {-118, -108, -95, -125}), (Bytes{26, 62, 109, 0}));
}

TEST(TransposeConv, MatchesTheSpecification) {
  OneNode one(ir::TransposeConvParams{.sh = 2, .sw = 2});
  one.Constant(PlainType(DataType::kInt32, {4}), std::vector<int32_t>{1, 2, 4, 1})
      .Constant(Int8Type({1, 3, 3, 1}, 0.01F, 0), Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9})
      .Input(Int8Type({1, 1, 2, 1}, 0.1F, 5))
      .Constant(PlainType(DataType::kInt32, {1}), std::vector<int32_t>{10})
      .Output(Int8Type({1, 2, 4, 1}, 0.02F, -3));
  EXPECT_EQ(Compute(one, MakeTransposeConv, {{25, -15}}), (Bytes{-1, 0, 0, -5, 2, 3, 0, -8}));
}

// Outputs that no input reaches hold the bias.
TEST(TransposeConv, StridesBeyondTheFilterLeaveTheBias) {
  OneNode one(ir::TransposeConvParams{.padding = ir::Padding::kValid, .sh = 1, .sw = 3});
  one.Constant(PlainType(DataType::kInt32, {4}), std::vector<int32_t>{1, 1, 5, 1})
      .Constant(Int8Type({1, 1, 2, 1}, 1.0F, 0), Bytes{1, 10})
      .Input(Int8Type({1, 1, 2, 1}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {1}), std::vector<int32_t>{7})
      .Output(Int8Type({1, 1, 5, 1}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeTransposeConv, {{2, 3}}), (Bytes{9, 27, 7, 10, 37}));
}

TEST(ResizeBilinear, HalfPixelCenters) {
  OneNode one(ir::ResizeBilinearParams{.half_pixel_centers = true});
  one.Input(Int8Type({1, 2, 2, 1}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), std::vector<int32_t>{3, 3})
      .Output(Int8Type({1, 3, 3, 1}, 1.0F, 0));
  EXPECT_EQ(Compute(one, MakeResizeBilinear, {{10, 21, 33, 90}}),
            (Bytes{10, 16, 21, 22, 39, 56, 33, 62, 90}));
}

TEST(ResizeBilinear, LongAxesStayInsideTheTensor) {
  // The scale 1024 * 3 / 2049 rounds to 1: positions pass the last column long before the end.
  OneNode one(ir::ResizeBilinearParams{});
  one.Input(Int8Type({1, 1, 3, 1}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), std::vector<int32_t>{1, 2049})
      .Output(Int8Type({1, 1, 2049, 1}, 1.0F, 0));
  const Bytes out = Compute(one, MakeResizeBilinear, {{1, 2, 3}});
  EXPECT_EQ(out.front(), 1);
  EXPECT_EQ(out.back(), 3);
}

TEST(Quantize, BetweenBytes) {
  OneNode one(ir::QuantizeParams{});
  one.Input(Int8Type({4}, 0.05F, 3)).Output(Int8Type({4}, 0.02F, -5));
  EXPECT_EQ(Compute(one, MakeQuantize, {{-128, 0, 40, 50}}), (Bytes{-128, -13, 88, 113}));
}

TEST(Quantize, FromFloat) {
  OneNode one(ir::QuantizeParams{});
  one.Input(PlainType(DataType::kFloat32, {6})).Output(Int8Type({6}, 0.5F, -3));
  auto kernel = MakeQuantize(one.graph(), one.node());
  ASSERT_TRUE(kernel.ok());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{0.25F,     -0.25F,     10.0F,
                                  kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ((test::RunKernel<int8_t, float>(one, **kernel, {values})),
            (Bytes{-2, -4, 17, 127, -128, -128}));
}

TEST(Dequantize, ToFloat) {
  OneNode one(ir::DequantizeParams{});
  ir::TensorType bytes = Int8Type({3}, 0.5F, 128);
  bytes.dtype = DataType::kUInt8;
  one.Input(bytes).Output(PlainType(DataType::kFloat32, {3}));
  auto kernel = MakeDequantize(one.graph(), one.node());
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((test::RunKernel<float, uint8_t>(one, **kernel, {{0, 128, 255}})),
            (std::vector<float>{-64.0F, 0.0F, 63.5F}));
}

}  // namespace
}  // namespace npu::host
