// SPDX-License-Identifier: Apache-2.0
// Attributes of one host node -> ir::OpParams. Mapping only: what a node may look like is decided
// by src/ops.
#ifndef SRC_FRONTENDS_TFLITE_OP_IMPORT_H_
#define SRC_FRONTENDS_TFLITE_OP_IMPORT_H_

#include <string>

#include "npu/status.h"
#include "src/frontends/tflite/abi.h"
#include "src/ir/op_params.h"

namespace npu::tflite {

// "CONV_2D", a custom operation's own name, or "operator 250".
std::string OpNameOf(const abi::Registration& registration);

// kUnsupported with reason "op.unsupported", "op.custom", "op.parameters" or "op.activation".
Result<ir::OpParams> ImportParams(const abi::Registration& registration, const abi::Node& node);

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_OP_IMPORT_H_
