// SPDX-License-Identifier: Apache-2.0
// How the kernel names the cores of a chip: facts of the device tree (kernel-interfaces C.2, E.1).
#ifndef SRC_KMODEL_PLATFORM_H_
#define SRC_KMODEL_PLATFORM_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace npu::kmodel {

struct Platform {
  std::string_view chip;             // "rk3588"
  std::string_view soc_compatible;   // "rockchip,rk3588"
  std::string_view core_compatible;  // "rockchip,rk3588-rknn-core"
  uint32_t first_core = 0;           // unit address
  uint32_t core_stride = 0;
};

// Null for a chip that no released kernel supports.
const Platform* FindPlatform(std::string_view chip);

// The platform device of a core: "fdac0000.npu" is core 1 of the RK3588.
std::string CoreName(const Platform& platform, uint32_t core);

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_PLATFORM_H_
