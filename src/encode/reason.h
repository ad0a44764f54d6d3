// SPDX-License-Identifier: Apache-2.0
// Stable ids of the reasons for which an encoder refuses an operation. Each has a test.
#ifndef SRC_ENCODE_REASON_H_
#define SRC_ENCODE_REASON_H_

#include <string>
#include <string_view>
#include <utility>

#include "npu/status.h"

namespace npu::encode::reason {

inline constexpr std::string_view kGeometry = "conv.geometry";  // a window beside the plane
inline constexpr std::string_view kWidth = "conv.width";        // plane wider than the chip reads
inline constexpr std::string_view kChannels = "conv.channels";  // input channels
inline constexpr std::string_view kPadding = "conv.padding";    // top or left padding
inline constexpr std::string_view kKernel = "conv.kernel";      // kernel extent
inline constexpr std::string_view kStride = "conv.stride";      // stride
inline constexpr std::string_view kDilation = "conv.dilation";  // dilation
inline constexpr std::string_view kKernelBytes = "conv.kernel_bytes";  // one kernel exceeds a bank
inline constexpr std::string_view kOutput = "conv.output";             // output plane or channels
inline constexpr std::string_view kAddressSpace = "conv.address_space";  // a cube of 4 GiB or more
inline constexpr std::string_view kCbuf = "conv.cbuf";              // one row does not fit on chip
inline constexpr std::string_view kActivation = "conv.activation";  // clamp the chip cannot form
inline constexpr std::string_view kRequantBound = "conv.requant_bound";  // one count is not proven
inline constexpr std::string_view kRawDepthwise = "conv.raw_depthwise";  // no int32 output there
inline constexpr std::string_view kPoolActivation = "pool.activation";
inline constexpr std::string_view kPoolWindow = "pool.window";
inline constexpr std::string_view kPoolPlane = "pool.plane";  // extents of the pooling unit
inline constexpr std::string_view kElementwiseBound = "elementwise.bound";
inline constexpr std::string_view kElementwiseActivation = "elementwise.activation";
inline constexpr std::string_view kElementwiseSize = "elementwise.size";

}  // namespace npu::encode::reason

namespace npu::encode {

// kUnsupported with one of the ids above.
inline Status Unsupported(std::string_view reason, std::string text) {
  return Status(ErrorCode::kUnsupported, std::move(text), reason);
}

}  // namespace npu::encode

#endif  // SRC_ENCODE_REASON_H_
