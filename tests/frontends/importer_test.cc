// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "src/frontends/tflite/builtin_ops.h"
#include "tests/frontends/fake_host.h"
#include "tests/frontends/models.h"

namespace npu::tflite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Params>
Params ImportOnly(FakeHost* host, int32_t node) {
  Importer importer(host->context());
  Result<ir::Node> imported = importer.ImportNode(node);
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  return std::get<Params>(imported.value().params);
}

TEST(Importer, ReadsAConvolutionWithItsTensors) {
  FakeHost host;
  const ConvModel model(&host);
  Importer importer(host.context());
  const std::vector<int32_t> nodes = {model.node};
  const Result<ImportedGraph> imported = importer.ImportGraph(nodes, {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const ir::Graph& graph = imported.value().graph;
  EXPECT_THAT(imported.value().input_tensors, ElementsAre(model.input));
  EXPECT_THAT(imported.value().output_tensors, ElementsAre(model.output));
  ASSERT_EQ(graph.nodes.size(), 1U);
  const ir::Node& node = graph.nodes[0];
  EXPECT_EQ(node.source_index, model.node);
  EXPECT_EQ(graph.input(node, 0).type.ToString(), "int8[1,4,4,2] s=0.02 z=-3");
  EXPECT_FALSE(graph.input(node, 0).is_constant());
  const ir::Value& filter = graph.input(node, 1);
  EXPECT_THAT(filter.type.quant.scales, ElementsAre(0.5F, 0.25F, 0.125F));
  EXPECT_EQ(filter.type.quant.axis, 0);
  ASSERT_EQ(filter.constant.size(), 54U);
  EXPECT_EQ(std::to_integer<int>(filter.constant[2]), 3);
  EXPECT_EQ(graph.input(node, 2).type.dtype, DataType::kInt32);
  EXPECT_EQ(graph.input(node, 2).constant.size(), 12U);
  EXPECT_EQ(graph.output(node).type.quant.zero_point(), 4);
}

TEST(Importer, Uint8TensorsBecomeInt8) {
  FakeHost host;
  const int32_t input = host.AddTensor(abi::kUInt8, {1, 1, 1, 2});
  host.Quantize(input, {0.5F}, {130});
  const int32_t filter = host.AddConstant(abi::kUInt8, {2, 1, 1, 2}, {0, 127, 128, 255});
  host.Quantize(filter, {0.25F}, {121});
  const int32_t bias = host.AddConstant(abi::kInt32, {2}, {7, -9});
  const int32_t output = host.AddTensor(abi::kUInt8, {1, 1, 1, 2});
  host.Quantize(output, {1.0F}, {0});
  const abi::ConvParams conv = {abi::kPaddingValid, 1, 1, abi::kActivationNone, 1, 1};
  const std::vector<int32_t> nodes = {host.AddNode(kConv2d, {input, filter, bias}, {output}, conv)};
  std::optional<Importer> importer(host.context());
  const Result<ImportedGraph> imported = importer->ImportGraph(nodes, {});
  importer.reset();  // the graph keeps what it needs
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const ir::Graph& graph = imported.value().graph;
  EXPECT_TRUE(ir::Verify(graph).ok()) << ir::Verify(graph).message();
  const ir::Node& node = graph.nodes[0];
  EXPECT_EQ(graph.input(node, 0).type.ToString(), "int8[1,1,1,2] s=0.5 z=2 (uint8)");
  EXPECT_EQ(graph.output(node).type.ToString(), "int8[1,1,1,2] s=1 z=-128 (uint8)");
  const ir::Value& weights = graph.input(node, 1);
  EXPECT_EQ(weights.type.ToString(), "int8[2,1,1,2] s=0.25 z=-7 (uint8)");
  std::vector<int> bytes;
  for (const std::byte b : weights.constant) {
    bytes.push_back(static_cast<int8_t>(std::to_integer<uint8_t>(b)));
  }
  EXPECT_THAT(bytes, ElementsAre(-128, -1, 0, 127));
  // The host's own bytes are untouched, and other types pass as they are.
  EXPECT_EQ(*static_cast<const uint8_t*>(host.tensor(filter).data), 0);
  EXPECT_EQ(graph.input(node, 2).type.ToString(), "int32[2]");
  EXPECT_FALSE(graph.input(node, 2).type.rebased_uint8);
}

TEST(Importer, HeightAndWidthAreNotMixedUp) {
  FakeHost host;
  const ConvModel model(&host);
  const abi::ConvParams conv = {abi::kPaddingValid, 2, 3, abi::kActivationRelu6, 4, 5};
  const int32_t out = host.AddInt8({1, 1, 1, 3}, 0.1F, 0);
  const auto p = ImportOnly<ir::Conv2dParams>(
      &host, host.AddNode(kConv2d, {model.input, model.filter, model.bias}, {out}, conv));
  EXPECT_EQ(p.padding, ir::Padding::kValid);
  EXPECT_EQ(p.sw, 2);
  EXPECT_EQ(p.sh, 3);
  EXPECT_EQ(p.dw, 4);
  EXPECT_EQ(p.dh, 5);
  EXPECT_EQ(p.activation, ir::Activation::kRelu6);

  const abi::DepthwiseConvParams depthwise = {abi::kPaddingSame,         2, 3, 7,
                                              abi::kActivationReluN1To1, 4, 5};
  const auto d = ImportOnly<ir::DepthwiseConv2dParams>(
      &host, host.AddNode(kDepthwiseConv2d, {model.input}, {out}, depthwise));
  EXPECT_EQ(d.multiplier, 7);
  EXPECT_EQ(d.sw, 2);
  EXPECT_EQ(d.sh, 3);
  EXPECT_EQ(d.dw, 4);
  EXPECT_EQ(d.dh, 5);
  EXPECT_EQ(d.activation, ir::Activation::kReluN1To1);

  const abi::PoolParams pool = {abi::kPaddingSame, 2, 3, 4, 5, abi::kActivationNone};
  const auto a =
      ImportOnly<ir::Pool2dParams>(&host, host.AddNode(kAveragePool2d, {model.input}, {out}, pool));
  EXPECT_EQ(a.kind, ir::PoolKind::kAverage);
  EXPECT_EQ(a.sw, 2);
  EXPECT_EQ(a.sh, 3);
  EXPECT_EQ(a.kw, 4);
  EXPECT_EQ(a.kh, 5);
}

TEST(Importer, ReadsTheSmallParameterStructs) {
  FakeHost host;
  const int32_t x = host.AddInt8({1, 4}, 0.1F, 0);
  const int32_t y = host.AddInt8({1, 4}, 0.1F, 0);
  const auto node = [&](int32_t code, const auto& params) {
    return host.AddNode(code, {x}, {y}, params);
  };
  const abi::FullyConnectedParams fc = {abi::kActivationRelu, 0, 1, 0};
  EXPECT_TRUE(ImportOnly<ir::FullyConnectedParams>(&host, node(kFullyConnected, fc)).keep_num_dims);
  const abi::BinaryParams relu = {abi::kActivationRelu};
  EXPECT_EQ(ImportOnly<ir::BinaryParams>(&host, node(kAdd, relu)).kind, ir::BinaryKind::kAdd);
  EXPECT_EQ(ImportOnly<ir::BinaryParams>(&host, node(kSub, relu)).kind, ir::BinaryKind::kSub);
  EXPECT_EQ(ImportOnly<ir::BinaryParams>(&host, node(kMul, relu)).activation,
            ir::Activation::kRelu);
  const abi::ConcatenationParams concat = {-1, abi::kActivationNone};
  EXPECT_EQ(ImportOnly<ir::ConcatenationParams>(&host, node(kConcatenation, concat)).axis, -1);
  EXPECT_EQ(ImportOnly<ir::SoftmaxParams>(&host, node(kSoftmax, abi::SoftmaxParams{2.5F})).beta,
            2.5F);
  const auto leaky =
      ImportOnly<ir::UnaryParams>(&host, node(kLeakyRelu, abi::LeakyReluParams{.3F}));
  EXPECT_EQ(leaky.kind, ir::UnaryKind::kLeakyRelu);
  EXPECT_EQ(leaky.alpha, .3F);
  const auto resize =
      ImportOnly<ir::ResizeBilinearParams>(&host, node(kResizeBilinear, abi::ResizeParams{0, 1}));
  EXPECT_FALSE(resize.align_corners);
  EXPECT_TRUE(resize.half_pixel_centers);
  EXPECT_TRUE(ImportOnly<ir::MeanParams>(&host, node(kMean, abi::ReducerParams{1})).keep_dims);
}

TEST(Importer, AnAbsentOptionalInputStaysAbsent) {
  FakeHost host;
  const ConvModel model(&host);
  host.node(model.node).inputs = host.List({model.input, model.filter, -1});
  Importer importer(host.context());
  const std::vector<int32_t> nodes = {model.node};
  const Result<ImportedGraph> imported = importer.ImportGraph(nodes, {});
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported.value().graph.nodes[0].inputs[2], ir::kNoValue);
}

TEST(Importer, GraphOutputsAreThoseAskedFor) {
  FakeHost host;
  const ChainModel model(&host);
  Importer importer(host.context());
  const std::vector<int32_t> nodes = {model.first.node, model.relu};
  const std::vector<int32_t> both = {model.relu_out, model.first.output, model.output};
  const Result<ImportedGraph> imported = importer.ImportGraph(nodes, both);
  ASSERT_TRUE(imported.ok());
  EXPECT_THAT(imported.value().output_tensors, ElementsAre(model.relu_out, model.first.output));
  EXPECT_THAT(imported.value().input_tensors, ElementsAre(model.first.input));
}

TEST(Importer, NamesAreKnownForAllBuiltins) {
  EXPECT_EQ(BuiltinOpName(0), "ADD");
  EXPECT_EQ(BuiltinOpName(97), "RESIZE_NEAREST_NEIGHBOR");
  EXPECT_EQ(BuiltinOpName(128), "CUMSUM");
  EXPECT_EQ(BuiltinOpName(-1), "");
  EXPECT_EQ(BuiltinOpName(5000), "");
}

// What a damaged or foreign model may hold, and the reason we give.
struct Damage {
  std::string name;
  std::function<void(FakeHost*, const ConvModel&)> make;
  std::string reason;
  std::string text;
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class DamagedModel : public testing::TestWithParam<Damage> {};

TEST_P(DamagedModel, IsDeclinedWithAReason) {
  FakeHost host;
  const ConvModel model(&host);
  GetParam().make(&host, model);
  Importer importer(host.context());
  const Result<ir::Node> node = importer.ImportNode(model.node);
  ASSERT_FALSE(node.ok());
  EXPECT_EQ(node.status().reason(), GetParam().reason);
  EXPECT_THAT(node.status().message(), HasSubstr(GetParam().text));
}

abi::AffineQuantization* Affine(FakeHost* host, int32_t tensor) {
  return static_cast<abi::AffineQuantization*>(host->tensor(tensor).quantization.params);
}

INSTANTIATE_TEST_SUITE_P(
    Tensors, DamagedModel,
    testing::Values(
        Damage{"index_too_large",
               [](FakeHost* h, const ConvModel& m) { h->node(m.node).inputs = h->List({999}); },
               "tensor.index", "tensor index 999 of 4 tensors"},
        Damage{"index_negative",
               [](FakeHost* h, const ConvModel& m) { h->node(m.node).inputs = h->List({-2}); },
               "tensor.index", "tensor index -2"},
        Damage{"output_optional",
               [](FakeHost* h, const ConvModel& m) { h->node(m.node).outputs = h->List({-1}); },
               "tensor.index", "tensor index -1"},
        Damage{
            "output_constant",
            [](FakeHost* h, const ConvModel& m) { h->node(m.node).outputs = h->List({m.filter}); },
            "node.operands", "writes constant tensor"},
        Damage{"too_many_operands",
               [](FakeHost* h, const ConvModel& m) { h->node(m.node).inputs->size = 1 << 30; },
               "node.operands", "1073741824 inputs"},
        Damage{"no_dims",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.input).dims = nullptr; },
               "tensor.shape", "no shape"},
        Damage{"rank_nine",
               [](FakeHost* h, const ConvModel& m) {
                 h->tensor(m.input).dims = h->List({1, 1, 1, 1, 1, 1, 1, 1, 32});
               },
               "tensor.shape", "rank 9"},
        Damage{"rank_negative",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.input).dims->size = -4; },
               "tensor.shape", "rank -4"},
        Damage{"extent_negative",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.input).dims->data[1] = -4; },
               "tensor.shape", "extent -4"},
        Damage{"extents_overflow",
               [](FakeHost* h, const ConvModel& m) {
                 const int32_t huge = std::numeric_limits<int32_t>::max();
                 h->tensor(m.input).dims = h->List({huge, huge, huge, huge});
               },
               "tensor.shape", "overflows"},
        Damage{"shape_flipped",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.filter).dims->data[0] = 5; },
               "tensor.bytes", "int8[5,3,3,2] needs 90 bytes, the model gives 54"},
        Damage{"weights_cut_short",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.filter).bytes = 53; },
               "tensor.bytes", "needs 54 bytes, the model gives 53"},
        Damage{"arena_bytes", [](FakeHost* h, const ConvModel& m) { h->tensor(m.input).bytes = 0; },
               "tensor.bytes", "needs 32 bytes"},
        Damage{"constant_without_data",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.bias).data = nullptr; },
               "tensor.constant", "without data"},
        Damage{"type", [](FakeHost* h, const ConvModel& m) { h->tensor(m.input).type = 18; },
               "tensor.type", "type 18"},
        Damage{"dynamic",
               [](FakeHost* h, const ConvModel& m) {
                 h->tensor(m.input).allocation_type = abi::kDynamic;
               },
               "tensor.memory", "allocation type 4"},
        Damage{"variable",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.input).is_variable = true; },
               "tensor.memory", "variable"},
        Damage{"sparse", [](FakeHost* h, const ConvModel& m) { h->tensor(m.filter).sparsity = h; },
               "tensor.sparse", "sparse"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Quantization, DamagedModel,
    testing::Values(
        Damage{"blockwise",
               [](FakeHost* h, const ConvModel& m) { h->tensor(m.filter).quantization.type = 2; },
               "tensor.quantization", "kind 2"},
        Damage{"without_parameters",
               [](FakeHost* h, const ConvModel& m) {
                 h->tensor(m.input).quantization.params = nullptr;
               },
               "tensor.quantization", "without parameters"},
        Damage{
            "axis_out_of_range",
            [](FakeHost* h, const ConvModel& m) { Affine(h, m.filter)->quantized_dimension = 4; },
            "tensor.quantization", "3 scales on axis 4"},
        Damage{
            "axis_of_other_extent",
            [](FakeHost* h, const ConvModel& m) { Affine(h, m.filter)->quantized_dimension = 3; },
            "tensor.quantization", "3 scales on axis 3"},
        Damage{"scale_count",
               [](FakeHost* h, const ConvModel& m) { Affine(h, m.filter)->scale->size = 70000; },
               "tensor.quantization", "70000 scales"},
        Damage{"scale_count_negative",
               [](FakeHost* h, const ConvModel& m) { Affine(h, m.filter)->scale->size = -1; },
               "tensor.quantization", "-1 scales"},
        Damage{"zero_point_count",
               [](FakeHost* h, const ConvModel& m) { Affine(h, m.filter)->zero_point->size = 2; },
               "tensor.quantization", "3 scales with 2 zero points"},
        Damage{"scale_zero",
               [](FakeHost* h, const ConvModel& m) { h->Quantize(m.input, {0.0F}, {0}); },
               "tensor.quantization", "scale of 0"},
        Damage{"scale_negative",
               [](FakeHost* h, const ConvModel& m) { h->Quantize(m.input, {-0.5F}, {0}); },
               "tensor.quantization", "scale of -0.5"},
        Damage{"scale_nan",
               [](FakeHost* h, const ConvModel& m) { h->Quantize(m.input, {std::nanf("")}, {0}); },
               "tensor.quantization", "scale of"},
        Damage{"scale_infinite",
               [](FakeHost* h, const ConvModel& m) { h->Quantize(m.input, {INFINITY}, {0}); },
               "tensor.quantization", "scale of inf"},
        Damage{"zero_point_range",
               [](FakeHost* h, const ConvModel& m) { h->Quantize(m.input, {0.1F}, {200}); },
               "tensor.quantization", "zero point 200"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Operations, DamagedModel,
    testing::Values(
        Damage{"unknown_builtin",
               [](FakeHost* h, const ConvModel& m) { h->registration(m.node).builtin_code = 8; },
               "op.unsupported", "FLOOR is not an operation"},
        Damage{"unheard_of",
               [](FakeHost* h, const ConvModel& m) { h->registration(m.node).builtin_code = 9999; },
               "op.unsupported", "operator 9999"},
        Damage{"custom",
               [](FakeHost* h, const ConvModel& m) {
                 h->registration(m.node).builtin_code = kCustom;
                 h->registration(m.node).custom_name = "TFLite_Detection_PostProcess";
               },
               "op.custom", "TFLite_Detection_PostProcess stays on the CPU (expected"},
        Damage{"no_parameters",
               [](FakeHost* h, const ConvModel& m) { h->node(m.node).builtin_data = nullptr; },
               "op.parameters", "CONV_2D comes without parameters"},
        Damage{"padding",
               [](FakeHost* h, const ConvModel& m) {
                 static_cast<abi::ConvParams*>(h->node(m.node).builtin_data)->padding = 0;
               },
               "op.parameters", "padding 0"},
        Damage{"activation",
               [](FakeHost* h, const ConvModel& m) {
                 static_cast<abi::ConvParams*>(h->node(m.node).builtin_data)->activation =
                     abi::kActivationTanh;
               },
               "op.activation", "TANH"},
        Damage{"activation_unknown",
               [](FakeHost* h, const ConvModel& m) {
                 static_cast<abi::ConvParams*>(h->node(m.node).builtin_data)->activation = 77;
               },
               "op.activation", "77"}),
    [](const auto& param) { return param.param.name; });

TEST(Importer, ANodeThatWritesWhatWasReadIsRefused) {
  FakeHost host;
  const ConvModel model(&host);
  const int32_t relu = host.AddNode(kRelu, {model.output}, {model.input});
  Importer importer(host.context());
  const std::vector<int32_t> nodes = {model.node, relu};
  const Result<ImportedGraph> imported = importer.ImportGraph(nodes, {});
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.status().reason(), "node.operands");
}

TEST(Importer, AnEmptyConstantIsStillAConstant) {
  FakeHost host;
  const int32_t x = host.AddInt8({1, 1}, 0.1F, 0);
  const int32_t shape = host.AddConstant(abi::kInt32, {0}, {});
  host.tensor(shape).data = nullptr;
  const int32_t y = host.AddInt8({}, 0.1F, 0);
  const std::vector<int32_t> nodes = {host.AddNode(kReshape, {x, shape}, {y})};
  Importer importer(host.context());
  const Result<ImportedGraph> imported = importer.ImportGraph(nodes, {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_THAT(imported.value().input_tensors, ElementsAre(x));
}

TEST(Importer, NothingIsReadFromAHostWithoutLists) {
  FakeHost host;
  const ConvModel model(&host);
  host.node(model.node).inputs = nullptr;
  host.node(model.node).outputs = nullptr;
  Importer importer(host.context());
  const Result<ir::Node> node = importer.ImportNode(model.node);
  ASSERT_TRUE(node.ok());
  EXPECT_THAT(node.value().inputs, IsEmpty());
  EXPECT_FALSE(importer.ImportNode(17).ok());
}

}  // namespace
}  // namespace npu::tflite
