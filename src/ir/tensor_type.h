// SPDX-License-Identifier: Apache-2.0
#ifndef SRC_IR_TENSOR_TYPE_H_
#define SRC_IR_TENSOR_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/data_type.h"

namespace npu::ir {

// real = scale * (q - zero_point). No scales: not quantized. One scale: per tensor. Several: one
// for each index of `axis`; zero_points then has one entry or as many as scales.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int32_t axis = 0;

  bool quantized() const { return !scales.empty(); }
  bool per_tensor() const { return scales.size() == 1; }
  float scale(size_t i = 0) const { return scales[scales.size() == 1 ? 0 : i]; }
  int32_t zero_point(size_t i = 0) const {
    return zero_points.empty() ? 0 : zero_points[zero_points.size() == 1 ? 0 : i];
  }
  bool operator==(const Quantization&) const = default;
};

struct TensorType {
  DataType dtype = DataType::kInvalid;
  Shape shape;
  Quantization quant;

  // "int8[1,8,8,32] s=0.02 z=-1"
  std::string ToString() const;
};

}  // namespace npu::ir

#endif  // SRC_IR_TENSOR_TYPE_H_
