// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "src/ir/graph.h"
#include "src/ir/window.h"

namespace npu::ir {
namespace {

constexpr std::array<std::byte, 16> kBytes{};

Value Int8(Shape shape, float scale = 0.5F, int32_t zero_point = 0) {
  Value value;
  value.name = "t";
  value.type = {.dtype = DataType::kInt8,
                .shape = shape,
                .quant = {.scales = {scale}, .zero_points = {zero_point}}};
  return value;
}

// 0 --RELU--> 1 --ADD(2 constant)--> 3
Graph Valid() {
  Graph graph;
  graph.values = {Int8({1, 2, 2, 4}), Int8({1, 2, 2, 4}), Int8({1, 2, 2, 4}), Int8({1, 2, 2, 4})};
  graph.values[2].constant = kBytes;
  graph.nodes.push_back({.params = UnaryParams{}, .inputs = {0}, .outputs = {1}, .name = {}});
  graph.nodes.push_back({.params = BinaryParams{}, .inputs = {1, 2}, .outputs = {3}, .name = {}});
  graph.inputs = {0};
  graph.outputs = {3};
  return graph;
}

void ExpectRejected(const Graph& graph, const std::string& part) {
  const Status status = Verify(graph);
  EXPECT_EQ(status.code(), ErrorCode::kCorruptData);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Verify, AcceptsAValidGraph) {
  const Status status = Verify(Valid());
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Verify, AcceptsAnAbsentOptionalInputAndAConstantOutput) {
  Graph graph = Valid();
  graph.nodes[1].inputs.push_back(kNoValue);
  graph.outputs.push_back(2);
  EXPECT_TRUE(Verify(graph).ok());
}

TEST(Verify, RejectsAnInvalidType) {
  Graph graph = Valid();
  graph.values[1].type.dtype = DataType::kInvalid;
  ExpectRejected(graph, "no valid element type");
}

TEST(Verify, RejectsANegativeExtent) {
  Graph graph = Valid();
  graph.values[1].type.shape.set(2, -1);
  ExpectRejected(graph, "negative extent");
}

TEST(Verify, RejectsAnOverflowingShape) {
  Graph graph = Valid();
  constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();
  graph.values[1].type.shape = {kHuge, kHuge, kHuge, kHuge};
  ExpectRejected(graph, "too large");
}

TEST(Verify, RejectsATensorBeyondTheAddressSpace) {
  Graph graph = Valid();
  graph.values[1].type.shape = {1, 65536, 65536, 2};
  ExpectRejected(graph, "too large");
}

TEST(Verify, RejectsAConstantOfTheWrongSize) {
  Graph graph = Valid();
  graph.values[2].constant = std::span(kBytes).first(15);
  ExpectRejected(graph, "15 bytes of constant data where the shape needs 16");
}

TEST(Verify, RejectsBadScales) {
  for (const float bad : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    Graph graph = Valid();
    graph.values[1].type.quant.scales = {bad};
    ExpectRejected(graph, "not a finite number above 0");
  }
}

TEST(Verify, RejectsZeroPointsWithoutScales) {
  Graph graph = Valid();
  graph.values[1].type.quant.scales.clear();
  ExpectRejected(graph, "zero points but no scales");
}

TEST(Verify, RejectsAnotherNumberOfZeroPoints) {
  Graph graph = Valid();
  graph.values[1].type.quant = {.scales = {1, 1, 1, 1}, .zero_points = {0, 0}, .axis = 3};
  ExpectRejected(graph, "4 scales but 2 zero points");
}

TEST(Verify, RejectsAZeroPointOutsideTheType) {
  Graph graph = Valid();
  graph.values[1].type.quant.zero_points = {128};
  ExpectRejected(graph, "zero point 128");
  graph.values[1].type.dtype = DataType::kUInt8;
  EXPECT_TRUE(Verify(graph).ok());
  graph.values[1].type.quant.zero_points = {-1};
  ExpectRejected(graph, "zero point -1");
}

TEST(Verify, OnlyInt8StandsForUint8AndOnlyQuantizeMixesThem) {
  Graph graph = Valid();
  graph.values[1].type.rebased_uint8 = true;
  graph.values[1].type.dtype = DataType::kUInt8;
  ExpectRejected(graph, "only int8 stands for uint8");
  graph = Valid();
  for (Value& value : graph.values) value.type.rebased_uint8 = value.type.dtype == DataType::kInt8;
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
  graph.values[static_cast<size_t>(graph.nodes[0].outputs[0])].type.rebased_uint8 = false;
  ExpectRejected(graph, "mixes int8 and uint8");
}

TEST(Verify, RejectsAQuantizationAxisThatDoesNotExist) {
  for (const int32_t axis : {-1, 4}) {
    Graph graph = Valid();
    graph.values[1].type.quant = {.scales = {1, 1, 1, 1}, .zero_points = {}, .axis = axis};
    ExpectRejected(graph, "does not exist");
  }
}

TEST(Verify, RejectsAnotherNumberOfScalesThanSlices) {
  Graph graph = Valid();
  graph.values[1].type.quant = {.scales = {1, 1, 1}, .zero_points = {}, .axis = 3};
  ExpectRejected(graph, "3 scales for 4 slices");
}

TEST(Verify, RejectsIndicesOutOfRange) {
  for (const ValueId bad : {-2, 4, 1 << 30}) {
    Graph reads = Valid();
    reads.nodes[0].inputs = {bad};
    ExpectRejected(reads, "which does not exist");
    Graph writes = Valid();
    writes.nodes[1].outputs = {bad};
    ExpectRejected(writes, "which does not exist");
    Graph input = Valid();
    input.inputs = {bad};
    ExpectRejected(input, "which does not exist");
    Graph output = Valid();
    output.outputs = {bad};
    ExpectRejected(output, "which does not exist");
  }
}

TEST(Verify, RejectsAnAbsentOutput) {
  Graph graph = Valid();
  graph.nodes[1].outputs = {kNoValue};
  ExpectRejected(graph, "which does not exist");
  graph.nodes[1].outputs.clear();
  ExpectRejected(graph, "has no output");
}

TEST(Verify, RejectsNodesOutOfOrder) {
  Graph graph = Valid();
  std::swap(graph.nodes[0], graph.nodes[1]);
  ExpectRejected(graph, "before anything has written it");
}

TEST(Verify, RejectsWritingTwice) {
  Graph graph = Valid();
  graph.nodes[1].outputs = {1};
  ExpectRejected(graph, "written before");
}

TEST(Verify, RejectsWritingAnInputOrAConstant) {
  for (const ValueId target : {0, 2}) {
    Graph graph = Valid();
    graph.nodes[1].outputs = {target};
    ExpectRejected(graph, "a constant, a graph input");
  }
}

TEST(Verify, RejectsAnInputListedTwiceOrConstant) {
  Graph graph = Valid();
  graph.inputs = {0, 0};
  ExpectRejected(graph, "graph input 1");
  graph.inputs = {0, 2};
  ExpectRejected(graph, "graph input 1");
}

TEST(Verify, RejectsAnOutputNobodyWrites) {
  Graph graph = Valid();
  graph.nodes.pop_back();
  ExpectRejected(graph, "which nothing writes");
}

TEST(OpNameTest, NamesKinds) {
  EXPECT_EQ(OpName(Conv2dParams{}), "CONV_2D");
  EXPECT_EQ(OpName(BinaryParams{.kind = BinaryKind::kSub}), "SUB");
  EXPECT_EQ(OpName(UnaryParams{.kind = UnaryKind::kLeakyRelu}), "LEAKY_RELU");
  EXPECT_EQ(OpName(Pool2dParams{.kind = PoolKind::kAverage}), "AVERAGE_POOL_2D");
}

TEST(ToStringTest, PrintsOneNodeALine) {
  EXPECT_EQ(ToString(Valid()),
            "inputs %0\n"
            "%1 = RELU(%0) : int8[1,2,2,4] s=0.5 z=0\n"
            "%3 = ADD(%1, %2) : int8[1,2,2,4] s=0.5 z=0\n"
            "outputs %3\n");
}

// The examples of tflite-delegate 3.1.
TEST(AxisWindowTest, MatchesTheSpecification) {
  const auto expect = [](int64_t in, int64_t kernel, int64_t stride, Padding padding, int64_t out,
                         int64_t before, int64_t after) {
    const AxisWindow window = ComputeAxisWindow(in, kernel, stride, 1, padding);
    EXPECT_EQ(window.out, out);
    EXPECT_EQ(window.pad_before, before);
    EXPECT_EQ(window.pad_after, after);
  };
  expect(224, 3, 2, Padding::kSame, 112, 0, 1);
  expect(225, 3, 2, Padding::kSame, 113, 1, 1);
  expect(10, 5, 2, Padding::kSame, 5, 1, 2);
  expect(224, 3, 2, Padding::kValid, 111, 0, 0);
  const AxisWindow dilated = ComputeAxisWindow(20, 3, 1, 2, Padding::kSame);
  EXPECT_EQ(dilated.out, 20);
  EXPECT_EQ(dilated.pad_before, 2);
  EXPECT_EQ(dilated.pad_after, 2);
}

TEST(AxisWindowTest, AWindowThatDoesNotFitHasNoOutput) {
  EXPECT_LE(ComputeAxisWindow(4, 5, 1, 1, Padding::kValid).out, 0);
  EXPECT_LE(ComputeAxisWindow(4, 3, 3, 2, Padding::kValid).out, 0);
}

}  // namespace
}  // namespace npu::ir
