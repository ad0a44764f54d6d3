// SPDX-License-Identifier: Apache-2.0
// The node of a CONV_2D with the operands of a TRANSPOSE_CONV.
#ifndef SRC_HOST_TRANSPOSE_CONV_H_
#define SRC_HOST_TRANSPOSE_CONV_H_

#include "src/ir/graph.h"

namespace npu::host {

// Inputs x, filter and bias (where there is one), the output and the activation of a TRANSPOSE_CONV
// node of at least three inputs: for the checks, multipliers and output stage that both share. Its
// window means nothing.
ir::Node OperandsOfTransposeConv(const ir::Node& node);

}  // namespace npu::host

#endif  // SRC_HOST_TRANSPOSE_CONV_H_
