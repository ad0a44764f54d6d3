// SPDX-License-Identifier: Apache-2.0
// CPU kernels for operations that stay on the host, equal bit for bit to BUILTIN_REF of
// ai-edge-litert 2.3 (tflite-delegate section 4).
#ifndef SRC_HOST_KERNEL_H_
#define SRC_HOST_KERNEL_H_

#include <cstddef>
#include <memory>
#include <span>

#include "npu/status.h"
#include "src/ir/graph.h"
#include "src/layout/tensor_view.h"

namespace npu::host {

// Which orders a kernel's operands may have. Constant operands are always row-major.
enum class OrderSupport : uint8_t {
  kRowMajor,     // every operand row-major
  kElementwise,  // also: every run-time operand a cube of the same H, W, C (element i of the bytes
                 // of all whole groups maps to element i; padding lanes are computed and ignored)
  kImage,  // also: every run-time operand a cube of any geometry, mixed with nothing row-major
};

// One operation, prepared: tables, multipliers and index lists are made once. Immutable after
// creation; Run is thread-safe when each call has its own scratch.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual OrderSupport order_support() const { return OrderSupport::kRowMajor; }
  // Bytes of scratch that Run needs (aligned to 64 by the caller).
  virtual size_t scratch_bytes() const { return 0; }
  // inputs[i] is the node's i-th input; entries of absent optional inputs have data == nullptr, and
  // so may constant ones (a kernel copies what it needs when it is made). Never allocates.
  virtual void Run(std::span<const layout::TensorView> inputs,
                   std::span<const layout::TensorView> outputs,
                   std::span<std::byte> scratch) const noexcept = 0;
};

}  // namespace npu::host

#endif  // SRC_HOST_KERNEL_H_
