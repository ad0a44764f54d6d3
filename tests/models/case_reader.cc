// SPDX-License-Identifier: Apache-2.0
#include "tests/models/case_reader.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace npu::test {
namespace {

using nlohmann::json;

DataType TypeOf(const std::string& name) {
  static const std::map<std::string, DataType> kTypes = {
      {"int8", DataType::kInt8},       {"uint8", DataType::kUInt8}, {"int16", DataType::kInt16},
      {"int32", DataType::kInt32},     {"int64", DataType::kInt64}, {"float16", DataType::kFloat16},
      {"float32", DataType::kFloat32}, {"bool", DataType::kBool}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? DataType::kInvalid : found->second;
}

// The options of one node, with TFLite's numbers.
class Options {
 public:
  explicit Options(const json& options) : options_(options) {}
  int32_t Int(const char* key, int32_t otherwise) const { return options_.value(key, otherwise); }
  float Float(const char* key, float otherwise) const { return options_.value(key, otherwise); }
  bool Bool(const char* key) const { return options_.value(key, false); }
  ir::Padding padding() const {
    return Int("padding", 0) == 0 ? ir::Padding::kSame : ir::Padding::kValid;
  }
  ir::Activation activation() const {
    return static_cast<ir::Activation>(Int("fusedActivationFunction", 0));
  }

 private:
  const json& options_;
};

template <typename Params>
Params Window(const Options& o, Params params) {
  params.padding = o.padding();
  params.sh = o.Int("strideH", 1);
  params.sw = o.Int("strideW", 1);
  params.activation = o.activation();
  return params;
}

std::optional<ir::OpParams> ConvParams(const std::string& op, const Options& o) {
  if (op == "CONV_2D") {
    auto params = Window(o, ir::Conv2dParams{});
    params.dh = o.Int("dilationHFactor", 1);
    params.dw = o.Int("dilationWFactor", 1);
    return params;
  }
  if (op == "DEPTHWISE_CONV_2D") {
    auto params = Window(o, ir::DepthwiseConv2dParams{});
    params.dh = o.Int("dilationHFactor", 1);
    params.dw = o.Int("dilationWFactor", 1);
    params.multiplier = o.Int("depthMultiplier", 1);
    return params;
  }
  if (op == "AVERAGE_POOL_2D" || op == "MAX_POOL_2D") {
    auto params = Window(o, ir::Pool2dParams{});
    params.kind = op == "MAX_POOL_2D" ? ir::PoolKind::kMax : ir::PoolKind::kAverage;
    params.kh = o.Int("filterHeight", 1);
    params.kw = o.Int("filterWidth", 1);
    return params;
  }
  if (op == "FULLY_CONNECTED") {
    return ir::FullyConnectedParams{.activation = o.activation(),
                                    .keep_num_dims = o.Bool("keepNumDims")};
  }
  return std::nullopt;
}

std::optional<ir::OpParams> UnaryOrBinaryParams(const std::string& op, const Options& o) {
  static const std::map<std::string, ir::UnaryKind> kUnary = {
      {"RELU", ir::UnaryKind::kRelu},
      {"RELU_N1_TO_1", ir::UnaryKind::kReluN1To1},
      {"RELU6", ir::UnaryKind::kRelu6},
      {"LEAKY_RELU", ir::UnaryKind::kLeakyRelu},
      {"LOGISTIC", ir::UnaryKind::kLogistic},
      {"TANH", ir::UnaryKind::kTanh},
      {"HARD_SWISH", ir::UnaryKind::kHardSwish},
      {"RELU_0_TO_1", ir::UnaryKind::kRelu0To1},
      {"ELU", ir::UnaryKind::kElu},
      {"EXP", ir::UnaryKind::kExp},
      {"ABS", ir::UnaryKind::kAbs},
      {"RSQRT", ir::UnaryKind::kRsqrt}};
  static const std::map<std::string, ir::BinaryKind> kBinary = {
      {"ADD", ir::BinaryKind::kAdd},         {"SUB", ir::BinaryKind::kSub},
      {"MUL", ir::BinaryKind::kMul},         {"DIV", ir::BinaryKind::kDiv},
      {"MAXIMUM", ir::BinaryKind::kMaximum}, {"MINIMUM", ir::BinaryKind::kMinimum}};
  if (const auto unary = kUnary.find(op); unary != kUnary.end()) {
    return ir::UnaryParams{.kind = unary->second, .alpha = o.Float("alpha", 0.0F)};
  }
  if (const auto binary = kBinary.find(op); binary != kBinary.end()) {
    return ir::BinaryParams{.kind = binary->second, .activation = o.activation()};
  }
  return std::nullopt;
}

std::optional<ir::OpParams> OtherParams(const std::string& op, const Options& o) {
  if (op == "MEAN") return ir::MeanParams{.keep_dims = o.Bool("keepDims")};
  if (op == "CONCATENATION") return ir::ConcatenationParams{.axis = o.Int("axis", 0)};
  if (op == "RESHAPE") return ir::ReshapeParams{};
  if (op == "PAD") return ir::PadParams{};
  if (op == "SOFTMAX") return ir::SoftmaxParams{.beta = o.Float("beta", 1.0F)};
  if (op == "RESIZE_BILINEAR") {
    return ir::ResizeBilinearParams{.align_corners = o.Bool("alignCorners"),
                                    .half_pixel_centers = o.Bool("halfPixelCenters")};
  }
  static const std::map<std::string, ir::ReduceKind> kReduce = {
      {"SUM", ir::ReduceKind::kSum},
      {"REDUCE_MAX", ir::ReduceKind::kMax},
      {"REDUCE_MIN", ir::ReduceKind::kMin}};
  if (const auto reduce = kReduce.find(op); reduce != kReduce.end()) {
    return ir::ReduceParams{.kind = reduce->second, .keep_dims = o.Bool("keepDims")};
  }
  if (op == "LOG_SOFTMAX") return ir::LogSoftmaxParams{};
  if (op == "L2_NORMALIZATION") return ir::L2NormalizationParams{};
  if (op == "TRANSPOSE_CONV") {
    return ir::TransposeConvParams{.padding = o.padding(),
                                   .sh = o.Int("strideH", 1),
                                   .sw = o.Int("strideW", 1),
                                   .activation = o.activation()};
  }
  if (op == "PRELU") return ir::PreluParams{};
  if (op == "QUANTIZE") return ir::QuantizeParams{};
  if (op == "DEQUANTIZE") return ir::DequantizeParams{};
  return std::nullopt;
}

ir::TensorType TypeOf(const json& tensor) {
  ir::TensorType type;
  type.dtype = TypeOf(tensor.at("type").get<std::string>());
  type.shape = Shape::From(tensor.at("shape").get<std::vector<int32_t>>()).value_or(Shape{});
  if (tensor.contains("scales")) {
    type.quant.scales = tensor.at("scales").get<std::vector<float>>();
    type.quant.zero_points = tensor.at("zero_points").get<std::vector<int32_t>>();
    type.quant.axis = tensor.at("axis").get<int32_t>();
  }
  return type;
}

// uint8 tensors as the importer leaves them.
void Rebase(ir::TensorType* type, std::vector<std::byte>* bytes) {
  if (type->dtype != DataType::kUInt8) return;
  type->dtype = DataType::kInt8;
  type->rebased_uint8 = true;
  for (int32_t& zero_point : type->quant.zero_points) zero_point -= 128;
  for (std::byte& b : *bytes) b ^= std::byte{0x80};
}

OpCase ReadCase(const json& entry, std::ifstream& binary) {
  OpCase result;
  result.name = entry.at("name").get<std::string>();
  result.op = entry.at("op").get<std::string>();
  const Options options(entry.at("options"));
  std::optional<ir::OpParams> params = ConvParams(result.op, options);
  if (!params) params = UnaryOrBinaryParams(result.op, options);
  if (!params) params = OtherParams(result.op, options);
  if (!params) {
    result.excluded = "operation not in this slice";
    return result;
  }
  for (const json& tensor : entry.at("tensors")) {
    const auto place = tensor.at("data").get<std::vector<uint64_t>>();
    std::vector<std::byte> bytes(place.at(1));
    binary.seekg(static_cast<std::streamoff>(place.at(0)));
    binary.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(place.at(1)));
    ir::Value value;
    value.type = TypeOf(tensor);
    Rebase(&value.type, &bytes);
    result.data.push_back(std::move(bytes));
    if (tensor.at("constant").get<bool>()) value.constant = result.data.back();
    result.graph.values.push_back(value);
  }
  ir::Node node{.params = *params,
                .inputs = entry.at("inputs").get<std::vector<ir::ValueId>>(),
                .outputs = entry.at("outputs").get<std::vector<ir::ValueId>>(),
                .name = result.name};
  for (const ir::ValueId id : node.inputs) {
    if (id != ir::kNoValue && !result.graph.value(id).is_constant()) {
      auto& inputs = result.graph.inputs;
      if (std::find(inputs.begin(), inputs.end(), id) == inputs.end()) inputs.push_back(id);
    }
  }
  result.graph.outputs = node.outputs;
  result.graph.nodes.push_back(std::move(node));
  return result;
}

}  // namespace

std::vector<OpCase> ReadCases(const std::string& folder) {
  std::ifstream text(folder + "/cases.json");
  if (!text) return {};
  std::ifstream binary(folder + "/cases.bin", std::ios::binary);
  std::vector<OpCase> cases;
  const json root = json::parse(text);
  for (const json& entry : root.at("cases")) cases.push_back(ReadCase(entry, binary));
  return cases;
}

}  // namespace npu::test
