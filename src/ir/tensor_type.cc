// SPDX-License-Identifier: Apache-2.0
#include "src/ir/tensor_type.h"

#include <fmt/format.h>

namespace npu::ir {

std::string TensorType::ToString() const {
  std::string text = fmt::format("{}{}", Name(dtype), shape.ToString());
  if (quant.per_tensor()) {
    text += fmt::format(" s={:g} z={}", quant.scale(), quant.zero_point());
  } else if (quant.quantized()) {
    text += fmt::format(" {} scales on axis {}", quant.scales.size(), quant.axis);
  }
  if (rebased_uint8) text += " (uint8)";
  return text;
}

}  // namespace npu::ir
