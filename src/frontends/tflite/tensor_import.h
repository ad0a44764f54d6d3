// SPDX-License-Identifier: Apache-2.0
#ifndef SRC_FRONTENDS_TFLITE_TENSOR_IMPORT_H_
#define SRC_FRONTENDS_TFLITE_TENSOR_IMPORT_H_

#include <cstddef>
#include <deque>
#include <vector>

#include "npu/status.h"
#include "src/frontends/tflite/abi.h"
#include "src/ir/graph.h"

namespace npu::tflite {

// Constants that are not the host's bytes: those of uint8 tensors, rebased.
using ConstantStore = std::deque<std::vector<std::byte>>;

// One host tensor, completely checked (tflite-delegate 1.2): type, rank and extents, byte count
// against the shape, quantization arrays against the shape, constants by allocation type. Reasons:
// "tensor.type", "tensor.shape", "tensor.bytes", "tensor.quantization", "tensor.constant",
// "tensor.memory", "tensor.sparse". uint8 becomes int8: zero points less 128, constants XOR 80h,
// kept in `rebased`, and ir::TensorType::rebased_uint8 set (rk3588-conv-matmul 6.3 (3)).
Result<ir::Value> ImportTensor(const abi::Tensor& tensor, ConstantStore* rebased);

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_TENSOR_IMPORT_H_
