// SPDX-License-Identifier: Apache-2.0
// The functions behind the rows of op_list.inc, and the checks their support rules share.
#ifndef SRC_OPS_RULES_H_
#define SRC_OPS_RULES_H_

#include <cstdint>
#include <vector>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/encode/encoded_op.h"
#include "src/ir/graph.h"
#include "src/ops/op_def.h"
#include "src/ops/reason.h"

namespace npu::ops {

// Support rules, one family a file.
Status CheckConv2d(const ir::Graph& graph, const ir::Node& node);
Status CheckDepthwiseConv2d(const ir::Graph& graph, const ir::Node& node);
Status CheckFullyConnected(const ir::Graph& graph, const ir::Node& node);
Status CheckBinary(const ir::Graph& graph, const ir::Node& node);
Status CheckDiv(const ir::Graph& graph, const ir::Node& node);
Status CheckMaximumMinimum(const ir::Graph& graph, const ir::Node& node);
Status CheckReduce(const ir::Graph& graph, const ir::Node& node);
Status CheckLogSoftmax(const ir::Graph& graph, const ir::Node& node);
Status CheckL2Normalization(const ir::Graph& graph, const ir::Node& node);
Status CheckTransposeConv(const ir::Graph& graph, const ir::Node& node);
Status CheckPrelu(const ir::Graph& graph, const ir::Node& node);
Status CheckPool2d(const ir::Graph& graph, const ir::Node& node);
Status CheckMean(const ir::Graph& graph, const ir::Node& node);
Status CheckConcatenation(const ir::Graph& graph, const ir::Node& node);
Status CheckReshape(const ir::Graph& graph, const ir::Node& node);
Status CheckPad(const ir::Graph& graph, const ir::Node& node);
Status CheckMirrorPad(const ir::Graph& graph, const ir::Node& node);
Status CheckTranspose(const ir::Graph& graph, const ir::Node& node);
Status CheckSlice(const ir::Graph& graph, const ir::Node& node);
Status CheckStridedSlice(const ir::Graph& graph, const ir::Node& node);
Status CheckSplit(const ir::Graph& graph, const ir::Node& node);
Status CheckUnary(const ir::Graph& graph, const ir::Node& node);
Status CheckSoftmax(const ir::Graph& graph, const ir::Node& node);
Status CheckResizeBilinear(const ir::Graph& graph, const ir::Node& node);
Status CheckResizeNearest(const ir::Graph& graph, const ir::Node& node);
Status CheckQuantize(const ir::Graph& graph, const ir::Node& node);
Status CheckDequantize(const ir::Graph& graph, const ir::Node& node);

// NPU forms; the support rule holds.
using LowerResult = Result<encode::EncodedOp>;
LowerResult LowerConv2d(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                        const LowerOptions& options);
LowerResult LowerDepthwiseConv2d(const ir::Graph& graph, const ir::Node& node,
                                 const chip::Profile& profile, const LowerOptions& options);
LowerResult LowerFullyConnected(const ir::Graph& graph, const ir::Node& node,
                                const chip::Profile& profile, const LowerOptions& options);
LowerResult LowerAveragePool2d(const ir::Graph& graph, const ir::Node& node,
                               const chip::Profile& profile, const LowerOptions& options);
LowerResult LowerMean(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                      const LowerOptions& options);
LowerResult LowerBinary(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                        const LowerOptions& options);
LowerResult LowerRelu(const ir::Graph& graph, const ir::Node& node, const chip::Profile& profile,
                      const LowerOptions& options);
LowerResult LowerQuantize(const ir::Graph& graph, const ir::Node& node,
                          const chip::Profile& profile, const LowerOptions& options);
LowerResult LowerMaxPool2d(const ir::Graph& graph, const ir::Node& node,
                           const chip::Profile& profile, const LowerOptions& options);

// Shared checks. `i` counts the node's inputs.

// Between `min` and `max` inputs, the first `min` of them present, and one output.
Status CheckCounts(const ir::Node& node, size_t min, size_t max);
// The same with any number of outputs from one on.
Status CheckInputs(const ir::Node& node, size_t min, size_t max);
// int8, not empty, quantized per tensor.
Status CheckInt8(const ir::TensorType& type);
// The same for a run-time input.
Status CheckInt8Input(const ir::Graph& graph, const ir::Node& node, size_t i);
// [N,H,W,C] both, of one N; the NPU takes N = 1 only (op_def.cc asks CheckOneImage before it
// lowers).
Status CheckImages(const ir::TensorType& in, const ir::TensorType& out);
// A run-time image of more than one picture stays on the host.
Status CheckOneImage(const ir::Graph& graph, const ir::Node& node);
Status CheckSameShape(const ir::TensorType& a, const ir::TensorType& b);
Status CheckSameQuantization(const ir::TensorType& a, const ir::TensorType& b);
// Bytes that are only moved: run-time int8 input `i` and every output, all of one quantization.
Status CheckMove(const ir::Graph& graph, const ir::Node& node, size_t i);
// A real multiplier that QM can hold without saturating.
Status CheckMultiplier(double multiplier);
// The entries of a constant int32 or int64 input; fails when it is not constant, of another type or
// an entry does not fit int32.
Result<std::vector<int32_t>> ConstantIntegers(const ir::Graph& graph, const ir::Node& node,
                                              size_t i);

}  // namespace npu::ops

#endif  // SRC_OPS_RULES_H_
