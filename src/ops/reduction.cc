// SPDX-License-Identifier: Apache-2.0
// Rules of the operations that fold axes. Source: tflite-delegate 4.17.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "src/ops/rules.h"

namespace npu::ops {
namespace {

// Sums of bytes and their zero points stay inside int32.
constexpr int64_t kMaxSummed = int64_t{1} << 23;

using AxisFlags = std::array<bool, Shape::kMaxRank>;

Result<AxisFlags> ReducedAxes(const ir::Graph& graph, const ir::Node& node) {
  const auto rank = static_cast<int32_t>(graph.input(node, 0).type.shape.rank());
  const ir::TensorType& type = graph.input(node, 1).type;
  if (type.dtype != DataType::kInt32) {
    return Unsupported(Reason::kTypeMismatch, fmt::format("axes of {}", Name(type.dtype)));
  }
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> axes, ConstantIntegers(graph, node, 1));
  AxisFlags reduced{};
  for (const int32_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      return Unsupported(Reason::kMeanAxis, fmt::format("axis {} of rank {}", axis, rank));
    }
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  return reduced;
}

bool ShapeFits(const Shape& in, const Shape& out, const AxisFlags& reduced, bool keep_dims) {
  size_t axis = 0;
  for (size_t i = 0; i < in.rank(); ++i) {
    if (reduced[i] && !keep_dims) continue;
    if (axis >= out.rank() || out[axis] != (reduced[i] ? 1 : in[i])) return false;
    ++axis;
  }
  return axis == out.rank();
}

// One input folded along constant axes gives the output.
Status CheckReducedShape(const ir::Graph& graph, const ir::Node& node, bool keep_dims) {
  NPU_RETURN_IF_ERROR(CheckCounts(node, 2, 2));
  NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, 0));
  const Shape& in = graph.input(node, 0).type.shape;
  const ir::TensorType& out = graph.output(node).type;
  NPU_RETURN_IF_ERROR(CheckInt8(out));
  if (in.rank() < 1) return Unsupported(Reason::kShapeRank, in.ToString());
  NPU_ASSIGN_OR_RETURN(const AxisFlags reduced, ReducedAxes(graph, node));
  if (!ShapeFits(in, out.shape, reduced, keep_dims)) {
    return Unsupported(Reason::kShapeMismatch,
                       fmt::format("{} to {}", in.ToString(), out.shape.ToString()));
  }
  if (in.elements() / out.shape.elements() > kMaxSummed) {
    return Unsupported(Reason::kShapeTooLarge, in.ToString());
  }
  return OkStatus();
}

}  // namespace

// Claims MEAN: any constant int32 axes; at most 2^23 elements to one
// On the NPU MEAN: over height and width of one image
Status CheckMean(const ir::Graph& graph, const ir::Node& node) {
  NPU_RETURN_IF_ERROR(
      CheckReducedShape(graph, node, std::get<ir::MeanParams>(node.params).keep_dims));
  return CheckMultiplier(static_cast<double>(graph.input(node, 0).type.quant.scale()) /
                         graph.output(node).type.quant.scale());
}

// Claims SUM: as MEAN, uint8 (the reference kernel of TensorFlow Lite misreads int8)
// Claims REDUCE_MAX, REDUCE_MIN: as MEAN; equal input and output quantization
Status CheckReduce(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::ReduceParams>(node.params);
  NPU_RETURN_IF_ERROR(CheckReducedShape(graph, node, params.keep_dims));
  const ir::TensorType& in = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  if (params.kind != ir::ReduceKind::kSum) return CheckSameQuantization(in, out);
  // The reference kernel of ai-edge-litert 2.3 reads int8 bytes as uint8 (measured).
  if (!in.rebased_uint8) return Unsupported(Reason::kTypeOnlyUint8);
  return CheckMultiplier(static_cast<double>(in.quant.scale()) / out.quant.scale());
}

}  // namespace npu::ops
