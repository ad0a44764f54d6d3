// SPDX-License-Identifier: Apache-2.0
// Factories of the host kernels, one for each operation (one .cc each). `graph` has passed
// ir::Verify and `node` its support rule (ops::OpDef::check); a factory refuses only what it cannot
// prepare. Each kernel equals BUILTIN_REF of ai-edge-litert 2.3 bit for bit; the formulas are those
// of tflite-delegate section 4, whose number stands beside each factory.
#ifndef SRC_HOST_KERNELS_H_
#define SRC_HOST_KERNELS_H_

#include <memory>

#include "npu/status.h"
#include "src/host/kernel.h"
#include "src/ir/graph.h"

namespace npu::host {

using KernelResult = Result<std::unique_ptr<Kernel>>;

KernelResult MakeConv2d(const ir::Graph& graph, const ir::Node& node);           // 4.1
KernelResult MakeDepthwiseConv2d(const ir::Graph& graph, const ir::Node& node);  // 4.2
KernelResult MakeFullyConnected(const ir::Graph& graph, const ir::Node& node);   // 4.3
KernelResult MakeTransposeConv(const ir::Graph& graph, const ir::Node& node);    // 4.4
KernelResult MakeBinary(const ir::Graph& graph, const ir::Node& node);           // 4.5, 4.6
KernelResult MakeDiv(const ir::Graph& graph, const ir::Node& node);              // 4.6
KernelResult MakeMaximumMinimum(const ir::Graph& graph, const ir::Node& node);   // 4.7
KernelResult MakePrelu(const ir::Graph& graph, const ir::Node& node);            // 4.12
KernelResult MakePool2d(const ir::Graph& graph, const ir::Node& node);           // 4.8
KernelResult MakeConcatenation(const ir::Graph& graph, const ir::Node& node);    // 4.9
KernelResult MakeUnary(const ir::Graph& graph, const ir::Node& node);            // 4.10-4.14, 4.20
KernelResult MakeSoftmax(const ir::Graph& graph, const ir::Node& node);          // 4.15 REF
KernelResult MakeLogSoftmax(const ir::Graph& graph, const ir::Node& node);       // 4.16
KernelResult MakeReduce(const ir::Graph& graph, const ir::Node& node);           // 4.17
KernelResult MakeL2Normalization(const ir::Graph& graph, const ir::Node& node);  // 4.19
KernelResult MakeMean(const ir::Graph& graph, const ir::Node& node);             // 4.17 B
KernelResult MakeResizeBilinear(const ir::Graph& graph, const ir::Node& node);   // 4.18
KernelResult MakeReshape(const ir::Graph& graph, const ir::Node& node);          // 4.21
KernelResult MakePad(const ir::Graph& graph, const ir::Node& node);              // 4.21
KernelResult MakeMirrorPad(const ir::Graph& graph, const ir::Node& node);
KernelResult MakeTranspose(const ir::Graph& graph, const ir::Node& node);      // 4.21
KernelResult MakeSlice(const ir::Graph& graph, const ir::Node& node);          // 4.21
KernelResult MakeStridedSlice(const ir::Graph& graph, const ir::Node& node);   // 4.21
KernelResult MakeSplit(const ir::Graph& graph, const ir::Node& node);          // 4.21
KernelResult MakeResizeNearest(const ir::Graph& graph, const ir::Node& node);  // 4.18
KernelResult MakeQuantize(const ir::Graph& graph, const ir::Node& node);       // 4.23
KernelResult MakeDequantize(const ir::Graph& graph, const ir::Node& node);     // 4.23

// Finishes a CONV_2D, FULLY_CONNECTED or DEPTHWISE_CONV_2D (as a convolution) whose raw sums the
// NPU computed: input 0 is the int32 sums of x * w (zero point not subtracted, padded taps carrying
// it), of the output's extents; output 0 the node's int8 tensor. Each operand may have either
// order.
KernelResult MakeRequantize(const ir::Graph& graph, const ir::Node& node);

}  // namespace npu::host

#endif  // SRC_HOST_KERNELS_H_
