// SPDX-License-Identifier: Apache-2.0
#ifndef SRC_IR_CONSTANTS_H_
#define SRC_IR_CONSTANTS_H_

#include <cstdint>
#include <vector>

#include "src/ir/graph.h"

namespace npu::ir {

// The entries of a constant int32 or int64 vector (axes, sizes, paddings ...), in order. Empty when
// the value is no such constant: the support rules have checked that (ops::ConstantIntegers).
std::vector<int64_t> Integers(const Value& value);

}  // namespace npu::ir

#endif  // SRC_IR_CONSTANTS_H_
