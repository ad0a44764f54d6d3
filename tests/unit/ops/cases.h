// SPDX-License-Identifier: Apache-2.0
// Nodes that a support rule accepts, and nodes it declines with the reason.
#ifndef TESTS_UNIT_OPS_CASES_H_
#define TESTS_UNIT_OPS_CASES_H_

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/ops/reason.h"
#include "tests/unit/host/one_node.h"

namespace npu::ops {

using test::OneNode;

struct Bad {
  const char* what;
  Reason reason;
  OneNode one;
};

inline OneNode Changed(OneNode one, const std::function<void(OneNode&)>& change) {
  change(one);
  return one;
}

template <typename Params>
OneNode With(OneNode one, const std::function<void(Params&)>& change) {
  change(std::get<Params>(one.node().params));
  return one;
}

inline OneNode Shaped(OneNode one, ir::ValueId id, const Shape& shape) {
  one.type(id).shape = shape;
  return one;
}

inline OneNode Scaled(OneNode one, ir::ValueId id, float scale) {
  one.type(id).quant.scales = {scale};
  return one;
}

// A node of the same kind whose input 1 is not constant.
inline OneNode WithRunTimeInput1(OneNode one) {
  one.graph().values[1].constant = {};
  one.graph().inputs.push_back(1);
  return one;
}

// The operations that move data (movement_cases.cc): a good node of each, but for RESHAPE, PAD,
// CONCATENATION and RESIZE_BILINEAR, and bad ones.
std::vector<std::pair<std::string_view, OneNode>> GoodMovementNodes();
std::vector<Bad> MovementCases();

}  // namespace npu::ops

#endif  // TESTS_UNIT_OPS_CASES_H_
