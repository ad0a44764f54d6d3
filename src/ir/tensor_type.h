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
  // The host's tensor is uint8; inside the library it is int8, bytes and zero points lowered by 128
  // (bytes XOR 80h). Only the program's boundary converts; kernels whose uint8 arithmetic is not
  // that of int8 look here. True only with dtype kInt8. Source: rk3588-conv-matmul 6.3 (3).
  bool rebased_uint8 = false;

  // "int8[1,8,8,32] s=0.02 z=-1", and " (uint8)" behind it when rebased.
  std::string ToString() const;
};

}  // namespace npu::ir

#endif  // SRC_IR_TENSOR_TYPE_H_
