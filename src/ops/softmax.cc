// SPDX-License-Identifier: Apache-2.0
// Rules of the operations on rows along the last axis: SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION.
// Source: tflite-delegate 4.15, 4.16, 4.19.
#include <fmt/format.h>

#include <cmath>

#include "src/host/exponentials.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// 255 * 255 times this stays inside int32.
constexpr int32_t kMaxSquares = 33000;

// One int8 tensor to another of its shape, whose quantization TFLite prescribes; rows of at most
// `depth` elements.
Status CheckRows(const ir::Graph& graph, const ir::Node& node, int32_t depth, float scale,
                 int32_t zero_point) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 1, 1));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  NPU_RETURN_IF_ERROR(CheckSameShape(in, out));
  if (in.shape.rank() < 1) return Unsupported(Reason::kShapeRank, in.shape.ToString());
  if (in.shape.back(0) > depth) return Unsupported(Reason::kShapeTooLarge, in.shape.ToString());
  if (out.quant.scale() == scale && out.quant.zero_point() == zero_point) return OkStatus();
  return Unsupported(Reason::kQuantRange, fmt::format("{}, where TFLite defines s={:g} z={}",
                                                      out.ToString(), scale, zero_point));
}

// The rescaled difference to the maximum must not lose bits: a left shift only.
Status CheckDifferences(double beta, const ir::TensorType& in) {
  if (beta * in.quant.scale() * double{1 << 26} >= 1.0) return OkStatus();
  return Unsupported(Reason::kQuantRange, in.ToString());
}

}  // namespace

// Claims SOFTMAX: any rank, last axis, at most 4095 classes; output scale 1/256, lowest zero point
Status CheckSoftmax(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckRows(graph, node, host::kMaxExponentialsDepth, 1.0F / 256.0F, -128));
  const float beta = std::get<ir::SoftmaxParams>(node.params).beta;
  if (!std::isfinite(beta) || !(beta > 0.0F)) {
    return Unsupported(Reason::kSoftmaxBeta, fmt::format("{}", beta));
  }
  return CheckDifferences(beta, graph.input(node, 0).type);
}

// Claims LOG_SOFTMAX: as SOFTMAX; output scale 16/256, highest zero point
Status CheckLogSoftmax(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckRows(graph, node, host::kMaxExponentialsDepth, 16.0F / 256.0F, 127));
  return CheckDifferences(1.0, graph.input(node, 0).type);
}

// Claims L2_NORMALIZATION: any rank, last axis, at most 33000 elements; output scale 1/128, middle
// zero point; no fused activation
Status CheckL2Normalization(const ir::Graph& graph, const ir::Node& node) {
  return CheckRows(graph, node, kMaxSquares, 1.0F / 128.0F, 0);
}

}  // namespace npu::ops
