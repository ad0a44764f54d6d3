// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// The sum of exponentials has 12 integer bits: more classes could overflow it.
constexpr int32_t kMaxDepth = 4095;
constexpr size_t kMaxRank = 4;

}  // namespace

// Source: tflite-delegate 4.15.
Status CheckSoftmax(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 1, 1));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  NPU_RETURN_IF_ERROR(CheckSameShape(in, out));
  if (in.shape.rank() < 1 || in.shape.rank() > kMaxRank) {
    return Unsupported(Reason::kShapeRank, in.shape.ToString());
  }
  if (in.shape.back(0) > kMaxDepth) {
    return Unsupported(Reason::kShapeTooLarge, in.shape.ToString());
  }
  if (out.quant.scale() != 1.0F / 256.0F || out.quant.zero_point() != -128) {
    return Unsupported(Reason::kQuantRange,
                       fmt::format("{}, where TFLite defines s=1/256 z=-128", out.ToString()));
  }
  const float beta = std::get<ir::SoftmaxParams>(node.params).beta;
  if (!std::isfinite(beta) || !(beta > 0.0F)) {
    return Unsupported(Reason::kSoftmaxBeta, fmt::format("{}", beta));
  }
  // The rescaled difference must not lose bits: a left shift only.
  if (double{beta} * in.quant.scale() * double{1 << 26} < 1.0) {
    return Unsupported(Reason::kQuantRange, in.ToString());
  }
  return OkStatus();
}

}  // namespace npu::ops
