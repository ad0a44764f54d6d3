// SPDX-License-Identifier: Apache-2.0
#ifndef SRC_IR_ZERO_POINT_H_
#define SRC_IR_ZERO_POINT_H_

#include <cstdint>

#include "src/base/checked.h"
#include "src/base/data_type.h"

namespace npu::ir {

// Whether a zero point lies in the range of the stored integers; true for types without one.
constexpr bool ZeroPointFits(DataType type, int32_t zero_point) {
  switch (type) {
    case DataType::kInt8:
      return FitsIn<int8_t>(zero_point);
    case DataType::kUInt8:
      return FitsIn<uint8_t>(zero_point);
    case DataType::kInt16:
      return FitsIn<int16_t>(zero_point);
    default:
      return true;
  }
}

}  // namespace npu::ir

#endif  // SRC_IR_ZERO_POINT_H_
