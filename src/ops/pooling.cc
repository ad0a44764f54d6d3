// SPDX-License-Identifier: Apache-2.0
// Rules and lowering of AVERAGE_POOL_2D and MAX_POOL_2D, lowering of MEAN. Source:
// tflite-delegate 4.8, 4.17.
#include <fmt/format.h>

#include "src/encode/conv.h"
#include "src/host/output_stage.h"
#include "src/host/reduction.h"
#include "src/ir/window.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// Sums of int8 stay inside int32.
constexpr int64_t kMaxSummed = int64_t{1} << 23;
constexpr int32_t kMaxStride = 1 << 15;
// Windows whose average the NPU computes exactly as TFLite does.
constexpr int64_t kMaxNpuWindow = 92;

}  // namespace

// Claims AVERAGE_POOL_2D, MAX_POOL_2D: equal input and output quantization; SAME or VALID; batches
// on the host
// On the NPU AVERAGE_POOL_2D: VALID windows of 2 to 92 elements
Status CheckPool2d(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 1, 1));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  NPU_RETURN_IF_ERROR(CheckImages(in, out));
  const auto& params = std::get<ir::Pool2dParams>(node.params);
  if (params.kh < 1 || params.kw < 1 || int64_t{params.kh} * params.kw > kMaxSummed ||
      params.sh < 1 || params.sw < 1 || params.sh > kMaxStride || params.sw > kMaxStride) {
    return Unsupported(Reason::kPoolGeometry, fmt::format("window {}x{}, stride {}x{}", params.kh,
                                                          params.kw, params.sh, params.sw));
  }
  const auto rows = ir::ComputeAxisWindow(in.shape[1], params.kh, params.sh, 1, params.padding);
  const auto columns = ir::ComputeAxisWindow(in.shape[2], params.kw, params.sw, 1, params.padding);
  if (rows.out != out.shape[1] || columns.out != out.shape[2] || in.shape[3] != out.shape[3]) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("output {} where [{},{},{},{}] follows", out.shape.ToString(),
                                   in.shape[0], rows.out, columns.out, in.shape[3]));
  }
  return CheckSameQuantization(in, out);
}

LowerResult LowerAveragePool2d(const ir::Graph& graph, const ir::Node& node,
                               const chip::Profile& profile, const LowerOptions& options) {
  const auto& params = std::get<ir::Pool2dParams>(node.params);
  const int64_t window = int64_t{params.kh} * params.kw;
  // Padding counts as elements on the NPU and not in TFLite.
  if (params.padding != ir::Padding::kValid || window < 2 || window > kMaxNpuWindow) {
    return Unsupported(Reason::kPoolWindow, fmt::format("{}x{}", params.kh, params.kw));
  }
  const Shape& in = graph.input(node, 0).type.shape;
  const ir::TensorType& out = graph.output(node).type;
  const arith::QuantizedRange clamp = host::ActivationClamp(params.activation, out);
  encode::AveragePoolProblem problem;
  problem.c = static_cast<uint32_t>(in[3]);
  problem.ih = static_cast<uint32_t>(in[1]);
  problem.iw = static_cast<uint32_t>(in[2]);
  problem.oh = static_cast<uint32_t>(out.shape[1]);
  problem.ow = static_cast<uint32_t>(out.shape[2]);
  problem.kh = static_cast<uint32_t>(params.kh);
  problem.kw = static_cast<uint32_t>(params.kw);
  problem.sh = static_cast<uint32_t>(params.sh);
  problem.sw = static_cast<uint32_t>(params.sw);
  problem.clamp_lo = clamp.min;
  problem.clamp_hi = clamp.max;
  problem.rebased_uint8 = out.rebased_uint8;
  NPU_ASSIGN_OR_RETURN(encode::EncodedOp op, encode::EncodeAveragePool(profile, problem));
  if (options.exact && op.bound.counts > 0) return Unsupported(Reason::kNpuExact);
  return op;
}

LowerResult LowerMean(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                      const LowerOptions& options) {
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  const host::AxisFlags reduced = host::ReducedAxes(graph.input(node, 1), in.shape.rank());
  const bool plane =
      in.shape.rank() == 4 && in.shape[0] == 1 && reduced[1] && reduced[2] && !reduced[3];
  if (!plane) return Unsupported(Reason::kMeanPlane, in.shape.ToString());
  encode::MeanProblem problem;
  problem.c = static_cast<uint32_t>(in.shape[3]);
  problem.ih = static_cast<uint32_t>(in.shape[1]);
  problem.iw = static_cast<uint32_t>(in.shape[2]);
  problem.in_scale = in.quant.scale();
  problem.out_scale = out.quant.scale();
  problem.in_zero_point = in.quant.zero_point();
  problem.out_zero_point = out.quant.zero_point();
  NPU_ASSIGN_OR_RETURN(encode::EncodedOp op, encode::EncodeMean(profile, problem));
  if (options.exact && op.bound.counts > 0) return Unsupported(Reason::kNpuExact);
  return op;
}

}  // namespace npu::ops
