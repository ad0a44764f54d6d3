// SPDX-License-Identifier: Apache-2.0
// Recomputes any NPU operation on the host, with silicon arithmetic: what verify=first compares the
// device's output with. See silicon_conv.h on the include of `encode`.
#ifndef SRC_HOST_SILICON_H_
#define SRC_HOST_SILICON_H_

#include <memory>

#include "npu/status.h"
#include "src/encode/encoded_op.h"
#include "src/host/kernel.h"

namespace npu::host {

// A kernel of the operation's run-time inputs (int8 images, two for an elementwise operation with
// an operand) and its one output, each in either order.
// Errors: kInvalidArgument when the description contradicts itself.
Result<std::unique_ptr<Kernel>> MakeSilicon(const encode::Silicon& silicon);

// The alternatives. For convolutions see silicon_conv.h.
Result<std::unique_ptr<Kernel>> MakeSiliconElementwise(const encode::SiliconElementwise& op);
Result<std::unique_ptr<Kernel>> MakeSiliconPool(const encode::SiliconPool& pool);

}  // namespace npu::host

#endif  // SRC_HOST_SILICON_H_
