// SPDX-License-Identifier: Apache-2.0
// Recomputes a convolution-class operation of the NPU on the host, with silicon arithmetic
// (rk3588-conv-matmul section 6): what verify=first compares the device's output with.
// `host` includes this one header of `encode`: the struct is the contract of both sides.
#ifndef SRC_HOST_SILICON_CONV_H_
#define SRC_HOST_SILICON_CONV_H_

#include <memory>

#include "npu/status.h"
#include "src/encode/encoded_op.h"
#include "src/host/kernel.h"

namespace npu::host {

// A kernel of one int8 input [1,IH,IW,IC] and one output [1,OH,OW,OC], int8 or (raw_int32) int32,
// each in either order. It keeps what it needs of `conv`.
// Errors: kInvalidArgument when the sizes of `conv` contradict each other.
Result<std::unique_ptr<Kernel>> MakeSiliconConv(const encode::SiliconConv& conv);

}  // namespace npu::host

#endif  // SRC_HOST_SILICON_CONV_H_
