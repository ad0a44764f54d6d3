// SPDX-License-Identifier: Apache-2.0
#ifndef SRC_FRONTENDS_TFLITE_TENSOR_IMPORT_H_
#define SRC_FRONTENDS_TFLITE_TENSOR_IMPORT_H_

#include "npu/status.h"
#include "src/frontends/tflite/abi.h"
#include "src/ir/graph.h"

namespace npu::tflite {

// One host tensor, completely checked (tflite-delegate 1.2): type, rank and extents, byte count
// against the shape, quantization arrays against the shape, constants by allocation type. Reasons:
// "tensor.type", "tensor.shape", "tensor.bytes", "tensor.quantization", "tensor.constant",
// "tensor.memory", "tensor.sparse".
Result<ir::Value> ImportTensor(const abi::Tensor& tensor);

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_TENSOR_IMPORT_H_
