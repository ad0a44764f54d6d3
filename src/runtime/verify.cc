// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/verify.h"

#include <fmt/format.h>

#include <vector>

#include "src/host/silicon.h"

namespace npu::runtime {
namespace {

template <typename T>
VerifyResult Compare(const layout::TensorView& device, const layout::CubeShape& cube,
                     const std::vector<std::byte>& expected) {
  VerifyResult result;
  const auto* want = reinterpret_cast<const T*>(expected.data());
  for (uint32_t h = 0; h < cube.height; ++h) {
    for (uint32_t w = 0; w < cube.width; ++w) {
      for (uint32_t c = 0; c < cube.channels; ++c, ++want) {
        const std::byte* at = device.data + layout::CubeOffset(cube, c, h, w);
        const T got = *reinterpret_cast<const T*>(at);
        if (got == *want) continue;
        if (result.mismatches++ == 0) {
          result.first = fmt::format("(h,w,c)=({},{},{}): device {}, expected {}", h, w, c,
                                     int64_t{got}, int64_t{*want});
        }
      }
    }
  }
  return result;
}

}  // namespace

Result<VerifyResult> VerifyOp(const plan::NpuOp& op, std::span<const layout::TensorView> inputs,
                              const layout::TensorView& output) {
  NPU_ASSIGN_OR_RETURN(const auto kernel, host::MakeSilicon(op.op->silicon));
  const bool raw = op.op->raw_int32();
  layout::TensorView expected = output;
  expected.order = layout::Order::kRowMajor;
  expected.dtype = raw ? DataType::kInt32 : DataType::kInt8;
  std::vector<std::byte> bytes(static_cast<size_t>(output.shape.elements()) *
                               ElementBytes(expected.dtype));
  expected.data = bytes.data();
  std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  const size_t skip = RoundUp<uintptr_t>(address, 64) - address;
  kernel->Run(inputs, {&expected, 1}, std::span(scratch).subspan(skip));
  return raw ? Compare<int32_t>(output, op.op->output, bytes)
             : Compare<int8_t>(output, op.op->output, bytes);
}

}  // namespace npu::runtime
