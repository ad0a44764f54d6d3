// SPDX-License-Identifier: Apache-2.0
// NPU forms of operations without a convolution: elementwise tasks and pools. What an elementwise
// operation must give is asked of its own host kernel, for every input there is, so the formula of
// the reference stands in one place.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "src/encode/elementwise.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/ir/window.h"
#include "src/ops/rules.h"

namespace npu::ops {
namespace {

using arith::ElementwiseOp;
using MakeFn = host::KernelResult (*)(const ir::Graph&, const ir::Node&);

constexpr int32_t kCodes = 256;
constexpr size_t kAlignment = 64;

// The node with every tensor of `shape`, quantized as it is.
ir::Graph Reshaped(const ir::Graph& graph, const ir::Node& node, const Shape& shape) {
  ir::Graph small;
  ir::Node copy = node;
  copy.inputs.clear();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    ir::Value value;
    value.type = graph.input(node, i).type;
    value.type.shape = shape;
    copy.inputs.push_back(static_cast<ir::ValueId>(small.values.size()));
    small.inputs.push_back(copy.inputs.back());
    small.values.push_back(std::move(value));
  }
  ir::Value out;
  out.type = graph.output(node).type;
  out.type.shape = shape;
  copy.outputs = {static_cast<ir::ValueId>(small.values.size())};
  small.outputs = copy.outputs;
  small.values.push_back(std::move(out));
  small.nodes.push_back(std::move(copy));
  return small;
}

// The reference's answer for every stored byte, or pair of bytes ([a * 256 + b]).
Result<std::vector<int8_t>> ReferenceTable(const ir::Graph& graph, const ir::Node& node,
                                           MakeFn make) {
  const bool pairs = node.inputs.size() == 2;
  const Shape shape = *Shape::From(std::vector<int32_t>{1, pairs ? kCodes : 1, kCodes, 1});
  const ir::Graph small = Reshaped(graph, node, shape);
  NPU_ASSIGN_OR_RETURN(const auto kernel, make(small, small.nodes[0]));
  const auto count = static_cast<size_t>(shape.elements());
  std::vector<int8_t> a(count), b(count), out(count);
  for (size_t i = 0; i < count; ++i) {
    a[i] = static_cast<int8_t>(pairs ? i / kCodes : i);
    b[i] = static_cast<int8_t>(i % kCodes);
  }
  const auto view = [&](std::vector<int8_t>& bytes, const ir::TensorType& type) {
    return layout::TensorView{.data = reinterpret_cast<std::byte*>(bytes.data()),
                              .dtype = type.dtype,
                              .shape = type.shape};
  };
  std::vector<layout::TensorView> inputs = {view(a, small.values[0].type)};
  if (pairs) inputs.push_back(view(b, small.values[1].type));
  const layout::TensorView output = view(out, small.output(small.nodes[0]).type);
  std::vector<std::byte> scratch(kernel->scratch_bytes() + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  const size_t skip = RoundUp<uintptr_t>(address, kAlignment) - address;
  kernel->Run(inputs, {&output, 1}, std::span(scratch).subspan(skip));
  return out;
}

struct Activity {
  ElementwiseOp op = ElementwiseOp::kNone;
  arith::QuantizedRange clamp{-128, 127};
};

LowerResult Lower(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                  const LowerOptions& options, const Activity& activity, MakeFn make) {
  const ir::TensorType& a = graph.input(node, 0).type;
  const ir::TensorType& out = graph.output(node).type;
  if (out.shape.rank() != 4) return Unsupported(Reason::kShapeRank, out.shape.ToString());
  encode::ElementwiseProblem problem{.op = activity.op};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    NPU_RETURN_IF_ERROR(CheckInt8Input(graph, node, i));
    // Both operands run along with the output; a broadcast one does not.
    NPU_RETURN_IF_ERROR(CheckSameShape(graph.input(node, i).type, out));
  }
  problem.c = static_cast<uint32_t>(out.shape[3]);
  problem.h = static_cast<uint32_t>(out.shape[1]);
  problem.w = static_cast<uint32_t>(out.shape[2]);
  problem.a_gain = static_cast<double>(a.quant.scale()) / out.quant.scale();
  problem.a_zero_point = a.quant.zero_point();
  problem.out_zero_point = out.quant.zero_point();
  if (node.inputs.size() == 2) {
    const ir::TensorType& b = graph.input(node, 1).type;
    problem.b_gain = static_cast<double>(b.quant.scale()) / out.quant.scale();
    problem.b_zero_point = b.quant.zero_point();
  }
  problem.clamp_lo = activity.clamp.min;
  problem.clamp_hi = activity.clamp.max;
  NPU_ASSIGN_OR_RETURN(const std::vector<int8_t> reference, ReferenceTable(graph, node, make));
  problem.reference = reference;
  NPU_ASSIGN_OR_RETURN(encode::EncodedOp op, encode::EncodeElementwise(profile, problem));
  if (options.exact && op.bound.counts > 0) return Unsupported(Reason::kNpuExact);
  return op;
}

}  // namespace

// On the NPU ADD, SUB: two run-time tensors of equal shapes, if some constants keep every pair of
// inputs within one count (exact: equal)
LowerResult LowerBinary(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                        const LowerOptions& options) {
  const auto& params = std::get<ir::BinaryParams>(node.params);
  const Activity activity{
      params.kind == ir::BinaryKind::kAdd ? ElementwiseOp::kAdd : ElementwiseOp::kSubtract,
      host::ActivationClamp(params.activation, graph.output(node).type)};
  return Lower(graph, node, profile, options, activity, &host::MakeBinary);
}

// On the NPU RELU, RELU6: images, if some constants keep every input within one count (exact:
// equal)
LowerResult LowerRelu(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                      const LowerOptions& options) {
  const auto kind = std::get<ir::UnaryParams>(node.params).kind;
  const ir::Activation form =
      kind == ir::UnaryKind::kRelu ? ir::Activation::kRelu : ir::Activation::kRelu6;
  const Activity activity{ElementwiseOp::kNone,
                          host::ActivationClamp(form, graph.output(node).type)};
  return Lower(graph, node, profile, options, activity, &host::MakeUnary);
}

// On the NPU QUANTIZE: images from 8 bits to 8 bits, if some constants keep every input within one
// count (exact: equal)
LowerResult LowerQuantize(const ir::Graph& graph, const ir::Node& node,
                          const chip::Profile& profile, const LowerOptions& options) {
  return Lower(graph, node, profile, options, {}, &host::MakeQuantize);
}

// On the NPU MAX_POOL_2D: on devices known to complete tasks of the pooling unit, windows and
// strides up to 16, padding up to 7, planes of at least 4x4
LowerResult LowerMaxPool2d(const ir::Graph& graph, const ir::Node& node,
                           const chip::Profile& profile, const LowerOptions& options) {
  if (!options.ppu) return Unsupported(Reason::kPoolUnit);
  const auto& params = std::get<ir::Pool2dParams>(node.params);
  const Shape& in = graph.input(node, 0).type.shape;
  const ir::TensorType& out = graph.output(node).type;
  const arith::QuantizedRange clamp = host::ActivationClamp(params.activation, out);
  const auto rows = ir::ComputeAxisWindow(in[1], params.kh, params.sh, 1, params.padding);
  const auto columns = ir::ComputeAxisWindow(in[2], params.kw, params.sw, 1, params.padding);
  encode::MaxPoolProblem problem;
  problem.c = static_cast<uint32_t>(in[3]);
  problem.ih = static_cast<uint32_t>(in[1]);
  problem.iw = static_cast<uint32_t>(in[2]);
  problem.oh = static_cast<uint32_t>(out.shape[1]);
  problem.ow = static_cast<uint32_t>(out.shape[2]);
  problem.kh = static_cast<uint32_t>(params.kh);
  problem.kw = static_cast<uint32_t>(params.kw);
  problem.sh = static_cast<uint32_t>(params.sh);
  problem.sw = static_cast<uint32_t>(params.sw);
  problem.pad_top = static_cast<uint32_t>(rows.pad_before);
  problem.pad_left = static_cast<uint32_t>(columns.pad_before);
  problem.clamp_lo = clamp.min;
  problem.clamp_hi = clamp.max;
  return encode::EncodeMaxPool(profile, problem);
}

}  // namespace npu::ops
