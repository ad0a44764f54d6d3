// SPDX-License-Identifier: Apache-2.0
// From the arithmetic of a whole convolution to packed constants and command lists of the RK3588.
#ifndef SRC_ENCODE_RK3588_CONV_ENCODER_H_
#define SRC_ENCODE_RK3588_CONV_ENCODER_H_

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/encode/encoded_op.h"

namespace npu::encode::rk3588 {

// `conv` must be consistent (its vectors of the sizes its extents say, every window over at least
// one row and column of the plane). Fills everything of EncodedOp but the bound.
// Errors: kUnsupported with a reason when a limit of the chip is exceeded.
Result<EncodedOp> EncodeSilicon(const chip::Profile& chip, SiliconConv conv);

// The limits alone, cheap: for callers that want to know before they plan arithmetic.
Status CheckLimits(const chip::Profile& chip, const SiliconConv& conv);

}  // namespace npu::encode::rk3588

#endif  // SRC_ENCODE_RK3588_CONV_ENCODER_H_
