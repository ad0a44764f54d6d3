// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/platform.h"

#include <fmt/format.h>

namespace npu::kmodel {
namespace {

constexpr Platform kPlatforms[] = {
    {"rk3588", "rockchip,rk3588", "rockchip,rk3588-rknn-core", 0xfdab0000, 0x10000},
};

}  // namespace

const Platform* FindPlatform(std::string_view chip) {
  for (const Platform& platform : kPlatforms) {
    if (platform.chip == chip) return &platform;
  }
  return nullptr;
}

std::string CoreName(const Platform& platform, uint32_t core) {
  return fmt::format("{:x}.npu", platform.first_core + core * platform.core_stride);
}

}  // namespace npu::kmodel
