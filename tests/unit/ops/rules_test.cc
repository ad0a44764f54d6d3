// SPDX-License-Identifier: Apache-2.0
// Support rules: what is accepted, and for each reason of reason_list.inc a node declined with it.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <set>

#include "src/ops/op_def.h"
#include "src/ops/reason.h"
#include "tests/unit/host/one_node.h"
#include "tests/unit/ops/cases.h"

namespace npu::ops {
namespace {

using test::Int8Type;
using test::OneNode;
using test::PlainType;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

OneNode Conv() {
  OneNode one(ir::Conv2dParams{});
  one.Input(Int8Type({1, 4, 4, 2}, 1.0F, 0))
      .Constant(Int8Type({3, 1, 1, 2}, 1.0F, 0), Bytes(6, 1))
      .Constant(PlainType(DataType::kInt32, {3}), Ints(3, 0))
      .Output(Int8Type({1, 4, 4, 3}, 1.0F, 0));
  return one;
}

OneNode Depthwise() {
  OneNode one(ir::DepthwiseConv2dParams{});
  one.Input(Int8Type({1, 4, 4, 2}, 1.0F, 0))
      .Constant(Int8Type({1, 1, 1, 2}, 1.0F, 0), Bytes(2, 1))
      .Absent()
      .Output(Int8Type({1, 4, 4, 2}, 1.0F, 0));
  return one;
}

OneNode FullyConnected() {
  OneNode one(ir::FullyConnectedParams{});
  one.Input(Int8Type({2, 3}, 1.0F, 0))
      .Constant(Int8Type({4, 3}, 1.0F, 0), Bytes(12, 1))
      .Output(Int8Type({2, 4}, 1.0F, 0));
  return one;
}

OneNode Binary(ir::BinaryKind kind) {
  OneNode one(ir::BinaryParams{.kind = kind});
  one.Input(Int8Type({1, 2, 2, 3}, 1.0F, 0))
      .Input(Int8Type({3}, 1.0F, 0))
      .Output(Int8Type({1, 2, 2, 3}, 1.0F, 0));
  return one;
}

OneNode Prelu() {
  OneNode one(ir::PreluParams{});
  one.Input(Int8Type({1, 2, 2, 3}, 1.0F, 0))
      .Constant(Int8Type({3}, 1.0F, 0), Bytes{1, 2, 3})
      .Output(Int8Type({1, 2, 2, 3}, 1.0F, 0));
  return one;
}

OneNode Reduce(ir::ReduceKind kind) {
  OneNode one(ir::ReduceParams{.kind = kind, .keep_dims = true});
  one.Input(Int8Type({1, 4, 4, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), Ints{1, -1})
      .Output(Int8Type({1, 1, 4, 1}, 1.0F, 0));
  if (kind == ir::ReduceKind::kSum) {
    one.type(0).rebased_uint8 = one.type(2).rebased_uint8 = true;
  }
  return one;
}

OneNode LogSoftmax() {
  OneNode one(ir::LogSoftmaxParams{});
  one.Input(Int8Type({2, 3}, 0.1F, 0)).Output(Int8Type({2, 3}, 16.0F / 256.0F, 127));
  return one;
}

OneNode L2Normalization() {
  OneNode one(ir::L2NormalizationParams{});
  one.Input(Int8Type({2, 3}, 0.1F, 0)).Output(Int8Type({2, 3}, 1.0F / 128.0F, 0));
  return one;
}

OneNode TransposeConv() {
  OneNode one(ir::TransposeConvParams{.sh = 2, .sw = 2});
  one.Constant(PlainType(DataType::kInt32, {4}), Ints{1, 2, 2, 3})
      .Constant(Int8Type({3, 3, 3, 2}, 1.0F, 0), Bytes(54, 1))
      .Input(Int8Type({1, 1, 1, 2}, 1.0F, 0))
      .Output(Int8Type({1, 2, 2, 3}, 1.0F, 0));
  return one;
}

OneNode Pool(ir::PoolKind kind) {
  OneNode one(ir::Pool2dParams{.kind = kind, .kh = 2, .kw = 2, .sh = 2, .sw = 2});
  one.Input(Int8Type({1, 4, 4, 3}, 1.0F, 0)).Output(Int8Type({1, 2, 2, 3}, 1.0F, 0));
  return one;
}

OneNode Mean() {
  OneNode one(ir::MeanParams{});
  one.Input(Int8Type({1, 4, 4, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), Ints{1, 2})
      .Output(Int8Type({1, 3}, 1.0F, 0));
  return one;
}

OneNode Concatenation() {
  OneNode one(ir::ConcatenationParams{.axis = -1});
  one.Input(Int8Type({1, 2}, 1.0F, 0))
      .Input(Int8Type({1, 3}, 1.0F, 0))
      .Output(Int8Type({1, 5}, 1.0F, 0));
  return one;
}

OneNode Reshape() {
  OneNode one(ir::ReshapeParams{});
  one.Input(Int8Type({2, 3}, 1.0F, 0)).Output(Int8Type({6}, 1.0F, 0));
  return one;
}

OneNode Pad() {
  OneNode one(ir::PadParams{});
  one.Input(Int8Type({2, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2, 2}), Ints{1, 0, 0, 2})
      .Output(Int8Type({3, 5}, 1.0F, 0));
  return one;
}

OneNode Unary(ir::UnaryKind kind) {
  OneNode one(ir::UnaryParams{.kind = kind, .alpha = 0.1F});
  one.Input(Int8Type({2, 3}, 0.1F, 0)).Output(Int8Type({2, 3}, 1.0F / 256.0F, -128));
  if (kind == ir::UnaryKind::kHardSwish) one.type(1).quant.scales = {0.1F};
  if (kind == ir::UnaryKind::kRsqrt) one.type(0).quant.zero_points = {-128};
  return one;
}

OneNode Softmax() {
  OneNode one(ir::SoftmaxParams{});
  one.Input(Int8Type({2, 3}, 0.1F, 0)).Output(Int8Type({2, 3}, 1.0F / 256.0F, -128));
  return one;
}

OneNode Resize() {
  OneNode one(ir::ResizeBilinearParams{});
  one.Input(Int8Type({1, 2, 2, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), Ints{4, 4})
      .Output(Int8Type({1, 4, 4, 3}, 1.0F, 0));
  return one;
}

OneNode Quantize() {
  OneNode one(ir::QuantizeParams{});
  one.Input(PlainType(DataType::kFloat32, {2})).Output(Int8Type({2}, 1.0F, 0));
  return one;
}

OneNode Dequantize() {
  OneNode one(ir::DequantizeParams{});
  one.Input(Int8Type({2}, 1.0F, 0)).Output(PlainType(DataType::kFloat32, {2}));
  return one;
}

// A good node of each row of op_list.inc, by its name.
std::vector<std::pair<std::string_view, OneNode>> GoodNodes() {
  std::vector<std::pair<std::string_view, OneNode>> all;
  all.emplace_back("CONV_2D", Conv());
  all.emplace_back("DEPTHWISE_CONV_2D", Depthwise());
  all.emplace_back("FULLY_CONNECTED", FullyConnected());
  all.emplace_back("ADD", Binary(ir::BinaryKind::kAdd));
  all.emplace_back("SUB", Binary(ir::BinaryKind::kSub));
  all.emplace_back("MUL", Binary(ir::BinaryKind::kMul));
  all.emplace_back("SUM", Reduce(ir::ReduceKind::kSum));
  all.emplace_back("REDUCE_MAX", Reduce(ir::ReduceKind::kMax));
  all.emplace_back("REDUCE_MIN", Reduce(ir::ReduceKind::kMin));
  all.emplace_back("LOG_SOFTMAX", LogSoftmax());
  all.emplace_back("L2_NORMALIZATION", L2Normalization());
  all.emplace_back("TRANSPOSE_CONV", TransposeConv());
  all.emplace_back("DIV", Binary(ir::BinaryKind::kDiv));
  all.emplace_back("MAXIMUM", Binary(ir::BinaryKind::kMaximum));
  all.emplace_back("MINIMUM", Binary(ir::BinaryKind::kMinimum));
  all.emplace_back("PRELU", Prelu());
  all.emplace_back("RELU_0_TO_1", Unary(ir::UnaryKind::kRelu0To1));
  all.emplace_back("ELU", Unary(ir::UnaryKind::kElu));
  all.emplace_back("EXP", Unary(ir::UnaryKind::kExp));
  all.emplace_back("ABS", Unary(ir::UnaryKind::kAbs));
  all.emplace_back("RSQRT", Unary(ir::UnaryKind::kRsqrt));
  all.emplace_back("AVERAGE_POOL_2D", Pool(ir::PoolKind::kAverage));
  all.emplace_back("MAX_POOL_2D", Pool(ir::PoolKind::kMax));
  all.emplace_back("MEAN", Mean());
  all.emplace_back("CONCATENATION", Concatenation());
  all.emplace_back("RESHAPE", Reshape());
  all.emplace_back("PAD", Pad());
  all.emplace_back("RELU", Unary(ir::UnaryKind::kRelu));
  all.emplace_back("RELU_N1_TO_1", Unary(ir::UnaryKind::kReluN1To1));
  all.emplace_back("RELU6", Unary(ir::UnaryKind::kRelu6));
  all.emplace_back("LEAKY_RELU", Unary(ir::UnaryKind::kLeakyRelu));
  all.emplace_back("LOGISTIC", Unary(ir::UnaryKind::kLogistic));
  all.emplace_back("TANH", Unary(ir::UnaryKind::kTanh));
  all.emplace_back("HARD_SWISH", Unary(ir::UnaryKind::kHardSwish));
  all.emplace_back("SOFTMAX", Softmax());
  all.emplace_back("RESIZE_BILINEAR", Resize());
  all.emplace_back("QUANTIZE", Quantize());
  all.emplace_back("DEQUANTIZE", Dequantize());
  for (auto& good : GoodMovementNodes()) all.push_back(std::move(good));
  return all;
}

// The value an operation works on.
ir::ValueId DataOf(std::string_view name) {
  if (name == "TRANSPOSE_CONV") return 2;
  return name == "SPLIT" ? 1 : 0;
}

Status Check(const OneNode& one) {
  const Status verified = ir::Verify(one.graph());
  EXPECT_TRUE(verified.ok()) << verified.message();
  return FindOp(one.node().params).check(one.graph(), one.node());
}

void ExpectDeclined(const OneNode& one, Reason reason) {
  const Status status = Check(one);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(status.reason(), Id(reason)) << status.message();
  // The kernel is never made where the rule declines.
  EXPECT_FALSE(FindOp(one.node().params).make_host(one.graph(), one.node()).ok());
}

TEST(OpTable, HasARowForEachOperation) {
  const auto good = GoodNodes();
  ASSERT_EQ(AllOps().size(), good.size());
  std::set<std::string_view> names;
  for (const auto& [name, one] : good) {
    EXPECT_EQ(FindOp(one.node().params).name, name);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), AllOps().size());
}

TEST(OpTable, GoodNodesAreAcceptedAndPrepared) {
  for (const auto& [name, one] : GoodNodes()) {
    const Status status = Check(one);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
    EXPECT_TRUE(FindOp(one.node().params).make_host(one.graph(), one.node()).ok()) << name;
  }
}

TEST(OpTable, OnlyNpuOperationsAreLowered) {
  const std::set<std::string_view> npu = {"CONV_2D",
                                          "DEPTHWISE_CONV_2D",
                                          "FULLY_CONNECTED",
                                          "AVERAGE_POOL_2D",
                                          "MEAN",
                                          "MAX_POOL_2D",
                                          "ADD",
                                          "SUB",
                                          "RELU",
                                          "RELU6",
                                          "QUANTIZE"};
  for (const OpDef& op : AllOps()) {
    EXPECT_EQ(op.lower != nullptr, npu.contains(op.name)) << op.name;
    EXPECT_EQ(op.make_requant != nullptr,
              op.name.find("CONV_2D") != std::string_view::npos || op.name == "FULLY_CONNECTED");
  }
}

TEST(Reasons, IdsAreUniqueAndTextsExist) {
  std::set<std::string_view> ids;
  for (const Reason reason : AllReasons()) {
    EXPECT_TRUE(ids.insert(Id(reason)).second) << Id(reason);
    EXPECT_NE(Id(reason).find('.'), std::string_view::npos);
    EXPECT_FALSE(Text(reason).empty());
  }
  const Status status = Unsupported(Reason::kConvGroups, "2 groups");
  EXPECT_EQ(status.message(), "grouped convolution is not claimed: 2 groups");
}

// Every operation but QUANTIZE declines another input type, and every one declines missing
// operands.
TEST(Rules, OtherTypesAreDeclined) {
  for (auto& [name, one] : GoodNodes()) {
    if (name == "QUANTIZE") continue;
    one.type(DataOf(name)).dtype = DataType::kFloat32;
    one.type(DataOf(name)).rebased_uint8 = false;
    EXPECT_EQ(Check(one).code(), ErrorCode::kUnsupported) << name;
  }
  OneNode conv = Conv();
  conv.type(0).dtype = DataType::kUInt8;
  ExpectDeclined(conv, Reason::kTypeNotInt8);
}

TEST(Rules, MissingOperandsAreDeclined) {
  for (auto& [name, one] : GoodNodes()) {
    one.node().inputs[0] = ir::kNoValue;
    ExpectDeclined(one, Reason::kOperandCount);
    one.node().inputs.clear();
    ExpectDeclined(one, Reason::kOperandCount);
  }
}

TEST(Rules, EmptyTensorsAreDeclined) {
  for (auto& [name, one] : GoodNodes()) {
    ir::TensorType& type = one.type(DataOf(name));
    type.shape.set(type.shape.rank() - 1, 0);
    ExpectDeclined(one, Reason::kShapeEmpty);
  }
}

TEST(Rules, UnquantizedTensorsAreDeclined) {
  for (auto& [name, one] : GoodNodes()) {
    const ir::ValueId id = name == "QUANTIZE" ? 1 : DataOf(name);
    one.type(id).quant = {};
    ExpectDeclined(one, Reason::kQuantMissing);
  }
}

TEST(Rules, ConstantFirstInputsAreDeclined) {
  static constexpr std::array<std::byte, 64> kZeros{};
  for (auto& [name, one] : GoodNodes()) {
    if (std::holds_alternative<ir::BinaryParams>(one.node().params)) continue;  // one may be
    if (name == "CONCATENATION") continue;
    one.graph().inputs.clear();
    const ir::TensorType& type = one.type(DataOf(name));
    const size_t bytes = static_cast<size_t>(type.shape.elements()) * ElementBytes(type.dtype);
    one.graph().values[static_cast<size_t>(DataOf(name))].constant = std::span(kZeros).first(bytes);
    ExpectDeclined(one, Reason::kConstantInput);
  }
}

std::vector<Bad> ConvolutionCases() {
  using Conv2d = ir::Conv2dParams;
  using Depthwise2d = ir::DepthwiseConv2dParams;
  std::vector<Bad> bad;
  bad.push_back({"rank 3", Reason::kShapeRank, Shaped(Conv(), 0, {4, 4, 2})});
  bad.push_back({"two batches", Reason::kShapeMismatch, Shaped(Conv(), 0, {2, 4, 4, 2})});
  bad.push_back({"groups", Reason::kConvGroups, Shaped(Conv(), 0, {1, 4, 4, 4})});
  bad.push_back({"channels", Reason::kShapeMismatch, Shaped(Conv(), 0, {1, 4, 4, 3})});
  bad.push_back({"output", Reason::kShapeMismatch, Shaped(Conv(), 3, {1, 4, 3, 3})});
  bad.push_back({"output channels", Reason::kShapeMismatch, Shaped(Conv(), 3, {1, 4, 4, 2})});
  bad.push_back(
      {"stride 0", Reason::kConvGeometry, With<Conv2d>(Conv(), [](auto& p) { p.sh = 0; })});
  bad.push_back(
      {"dilation", Reason::kConvGeometry, With<Conv2d>(Conv(), [](auto& p) { p.dw = 1 << 20; })});
  bad.push_back({"run-time filter", Reason::kConstantRequired, WithRunTimeInput1(Conv())});
  bad.push_back({"filter zero point", Reason::kQuantFilter,
                 Changed(Conv(), [](OneNode& one) { one.type(1).quant.zero_points = {1}; })});
  bad.push_back({"filter axis", Reason::kQuantFilter, Changed(Conv(), [](OneNode& one) {
                   one.type(1).quant = {.scales = {1, 1}, .zero_points = {}, .axis = 3};
                 })});
  bad.push_back({"bias size", Reason::kQuantBias, Changed(Conv(), [](OneNode& one) {
                   one.type(2).shape = {2};
                   one.graph().values[2].constant = one.graph().values[2].constant.first(8);
                 })});
  bad.push_back({"bias type", Reason::kQuantBias,
                 Changed(Conv(), [](OneNode& one) { one.type(2).dtype = DataType::kFloat32; })});
  bad.push_back({"scales", Reason::kQuantRange,
                 Changed(Conv(), [](OneNode& one) { one.type(3).quant.scales = {1e-30F}; })});
  bad.push_back({"multiplier", Reason::kConvGeometry,
                 With<Depthwise2d>(Depthwise(), [](auto& p) { p.multiplier = 2; })});
  bad.push_back({"dense rank", Reason::kShapeMismatch, Shaped(FullyConnected(), 2, {8})});
  bad.push_back({"dense rows", Reason::kShapeMismatch, Shaped(FullyConnected(), 2, {1, 8})});
  return bad;
}

std::vector<Bad> OtherCases() {
  using Pool2d = ir::Pool2dParams;
  constexpr auto kMax = ir::PoolKind::kMax;
  std::vector<Bad> bad;
  bad.push_back(
      {"broadcast", Reason::kShapeMismatch, Shaped(Binary(ir::BinaryKind::kAdd), 1, {2})});
  bad.push_back({"not covered", Reason::kShapeMismatch,
                 Shaped(Binary(ir::BinaryKind::kAdd), 2, {1, 2, 4, 3})});
  bad.push_back(
      {"add scale", Reason::kQuantRange, Scaled(Binary(ir::BinaryKind::kAdd), 2, 1e-38F)});
  bad.push_back(
      {"mul scale", Reason::kQuantRange, Scaled(Binary(ir::BinaryKind::kMul), 2, 1e-38F)});
  bad.push_back({"div scale", Reason::kQuantRange, Scaled(Binary(ir::BinaryKind::kDiv), 2, 1e8F)});
  bad.push_back({"div scale", Reason::kQuantRange, Scaled(Binary(ir::BinaryKind::kDiv), 2, 1e-8F)});
  bad.push_back({"run-time slope", Reason::kConstantRequired, WithRunTimeInput1(Prelu())});
  bad.push_back({"slope shape", Reason::kShapeMismatch, Shaped(Prelu(), 0, {1, 2, 1, 3})});
  bad.push_back({"slope scale", Reason::kQuantRange, Scaled(Prelu(), 2, 1e-38F)});
  for (const auto kind :
       {ir::UnaryKind::kElu, ir::UnaryKind::kExp, ir::UnaryKind::kAbs, ir::UnaryKind::kRsqrt}) {
    bad.push_back({"uint8", Reason::kTypeOnlyInt8, Changed(Unary(kind), [](OneNode& one) {
                     one.type(0).rebased_uint8 = one.type(1).rebased_uint8 = true;
                   })});
  }
  bad.push_back({"elu", Reason::kQuantRange, Scaled(Unary(ir::UnaryKind::kElu), 1, 1e-9F)});
  bad.push_back({"exp", Reason::kQuantRange, Scaled(Unary(ir::UnaryKind::kExp), 0, 1.0F)});
  bad.push_back({"rsqrt of negatives", Reason::kQuantRange,
                 Changed(Unary(ir::UnaryKind::kRsqrt),
                         [](OneNode& one) { one.type(0).quant.zero_points = {-127}; })});
  bad.push_back(
      {"window 0", Reason::kPoolGeometry, With<Pool2d>(Pool(kMax), [](auto& p) { p.kh = 0; })});
  bad.push_back({"pool output", Reason::kShapeMismatch, Shaped(Pool(kMax), 1, {1, 2, 3, 3})});
  bad.push_back({"pool scale", Reason::kQuantMismatch, Scaled(Pool(kMax), 1, 2.0F)});
  return bad;
}

std::vector<Bad> RowAndMovementCases() {
  std::vector<Bad> bad;
  bad.push_back({"mean axes", Reason::kConstantRequired, WithRunTimeInput1(Mean())});
  bad.push_back({"mean rank", Reason::kShapeRank, Shaped(Mean(), 0, {})});
  bad.push_back({"axis type", Reason::kTypeMismatch, Changed(Mean(), [](OneNode& one) {
                   one.type(1) = PlainType(DataType::kInt64, {1});
                 })});
  bad.push_back({"max scale", Reason::kQuantMismatch, Scaled(Reduce(ir::ReduceKind::kMax), 2, 2)});
  bad.push_back(
      {"sum scale", Reason::kQuantRange, Scaled(Reduce(ir::ReduceKind::kSum), 2, 1e-30F)});
  bad.push_back({"sum of int8", Reason::kTypeOnlyUint8,
                 Changed(Reduce(ir::ReduceKind::kSum), [](OneNode& one) {
                   one.type(0).rebased_uint8 = one.type(2).rebased_uint8 = false;
                 })});
  bad.push_back({"log softmax scale", Reason::kQuantRange, Scaled(LogSoftmax(), 1, 0.5F)});
  bad.push_back({"log softmax input", Reason::kQuantRange, Scaled(LogSoftmax(), 0, 1e-9F)});
  bad.push_back({"l2 scale", Reason::kQuantRange, Scaled(L2Normalization(), 1, 0.5F)});
  bad.push_back({"l2 depth", Reason::kShapeTooLarge,
                 Shaped(Shaped(L2Normalization(), 0, {1, 33001}), 1, {1, 33001})});
  using Transpose = ir::TransposeConvParams;
  bad.push_back({"transpose stride", Reason::kConvGeometry,
                 With<Transpose>(TransposeConv(), [](auto& p) { p.sh = 17; })});
  bad.push_back(
      {"transpose window", Reason::kConvGeometry,
       With<Transpose>(TransposeConv(), [](auto& p) { p.padding = ir::Padding::kValid; })});
  bad.push_back(
      {"transpose channels", Reason::kShapeMismatch, Shaped(TransposeConv(), 2, {1, 1, 1, 3})});
  bad.push_back(
      {"transpose shape", Reason::kShapeMismatch, Shaped(TransposeConv(), 3, {1, 2, 1, 3})});
  bad.push_back({"run-time output shape", Reason::kConstantRequired,
                 Changed(TransposeConv(), [](OneNode& one) {
                   one.graph().values[0].constant = {};
                   one.graph().inputs.push_back(0);
                 })});
  bad.push_back({"mean output", Reason::kShapeMismatch, Shaped(Mean(), 2, {1, 1, 3})});
  bad.push_back({"mean huge", Reason::kShapeTooLarge, Shaped(Mean(), 0, {1, 4096, 4096, 3})});
  bad.push_back({"axis", Reason::kConcatAxis,
                 With<ir::ConcatenationParams>(Concatenation(), [](auto& p) { p.axis = 2; })});
  bad.push_back({"extent", Reason::kShapeMismatch, Shaped(Concatenation(), 2, {1, 6})});
  bad.push_back({"part", Reason::kShapeMismatch, Shaped(Concatenation(), 1, {2, 3})});
  bad.push_back({"part scale", Reason::kQuantMismatch, Scaled(Concatenation(), 1, 2.0F)});
  bad.push_back({"elements", Reason::kShapeMismatch, Shaped(Reshape(), 1, {7})});
  bad.push_back({"pad output", Reason::kShapeMismatch, Shaped(Pad(), 2, {3, 4})});
  bad.push_back(
      {"unary shape", Reason::kShapeMismatch, Shaped(Unary(ir::UnaryKind::kRelu), 1, {3, 2})});
  bad.push_back(
      {"logistic", Reason::kQuantRange, Scaled(Unary(ir::UnaryKind::kLogistic), 1, 0.5F)});
  bad.push_back({"tanh", Reason::kQuantRange, Scaled(Unary(ir::UnaryKind::kTanh), 1, 1e-44F)});
  bad.push_back(
      {"hard swish", Reason::kQuantRange, Scaled(Unary(ir::UnaryKind::kHardSwish), 1, 1e-5F)});
  bad.push_back({"slope", Reason::kQuantRange,
                 With<ir::UnaryParams>(Unary(ir::UnaryKind::kLeakyRelu), [](auto& p) {
                   p.alpha = std::numeric_limits<float>::infinity();
                 })});
  bad.push_back({"softmax scale", Reason::kQuantRange, Scaled(Softmax(), 1, 0.5F)});
  bad.push_back({"softmax input", Reason::kQuantRange, Scaled(Softmax(), 0, 1e-9F)});
  bad.push_back({"beta", Reason::kSoftmaxBeta,
                 With<ir::SoftmaxParams>(Softmax(), [](auto& p) { p.beta = -1.0F; })});
  bad.push_back({"flags", Reason::kResizeFlags,
                 With<ir::ResizeBilinearParams>(
                     Resize(), [](auto& p) { p.align_corners = p.half_pixel_centers = true; })});
  bad.push_back({"size", Reason::kShapeMismatch, Shaped(Resize(), 2, {1, 4, 5, 3})});
  bad.push_back({"resize scale", Reason::kQuantMismatch, Scaled(Resize(), 2, 2.0F)});
  bad.push_back({"to float", Reason::kTypeMismatch,
                 Changed(Quantize(), [](OneNode& one) { one.type(1) = one.type(0); })});
  bad.push_back({"to int8", Reason::kTypeMismatch,
                 Changed(Dequantize(), [](OneNode& one) { one.type(1) = one.type(0); })});
  return bad;
}

// Constants with other contents than the good ones.
std::vector<Bad> ConstantCases() {
  OneNode axis(ir::MeanParams{});
  axis.Input(Int8Type({1, 4}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {1}), Ints{2})
      .Output(Int8Type({1}, 1.0F, 0));
  OneNode negative(ir::PadParams{});
  negative.Input(Int8Type({4}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {1, 2}), Ints{-1, 0})
      .Output(Int8Type({3}, 1.0F, 0));
  OneNode wide(ir::PadParams{});
  wide.Input(Int8Type({4}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt64, {1, 2}), std::vector<int64_t>{int64_t{1} << 40, 0})
      .Output(Int8Type({3}, 1.0F, 0));
  OneNode floats(ir::PadParams{});
  floats.Input(Int8Type({4}, 1.0F, 0))
      .Constant(PlainType(DataType::kFloat32, {1, 2}), Ints{0, 0})
      .Output(Int8Type({4}, 1.0F, 0));
  OneNode both(ir::BinaryParams{});
  both.Constant(Int8Type({1}, 1.0F, 0), Bytes{1})
      .Constant(Int8Type({1}, 1.0F, 0), Bytes{1})
      .Output(Int8Type({1}, 1.0F, 0));
  std::vector<Bad> bad;
  bad.push_back({"axis", Reason::kMeanAxis, std::move(axis)});
  bad.push_back({"negative padding", Reason::kPadAmount, std::move(negative)});
  bad.push_back({"64-bit padding", Reason::kShapeTooLarge, std::move(wide)});
  bad.push_back({"float padding", Reason::kTypeMismatch, std::move(floats)});
  bad.push_back({"two constants", Reason::kConstantInput, std::move(both)});
  return bad;
}

TEST(Rules, EachViolationHasItsReason) {
  for (auto cases :
       {ConvolutionCases, OtherCases, RowAndMovementCases, MovementCases, ConstantCases}) {
    for (const Bad& bad : cases()) {
      SCOPED_TRACE(bad.what);
      ExpectDeclined(bad.one, bad.reason);
    }
  }
}

// Reasons that only lowering gives are tested in lower_test.cc.
TEST(Rules, EveryReasonHasACase) {
  std::set<Reason> seen = {Reason::kTypeNotInt8, Reason::kOperandCount, Reason::kShapeEmpty,
                           Reason::kQuantMissing};
  seen.insert({Reason::kNpuExact, Reason::kPoolWindow, Reason::kMeanPlane, Reason::kConvMultiplier,
               Reason::kShapeBatch, Reason::kPoolUnit});
  for (auto cases :
       {ConvolutionCases, OtherCases, RowAndMovementCases, MovementCases, ConstantCases}) {
    for (const Bad& bad : cases()) seen.insert(bad.reason);
  }
  for (const Reason reason : AllReasons()) EXPECT_TRUE(seen.contains(reason)) << Id(reason);
}

}  // namespace
}  // namespace npu::ops
