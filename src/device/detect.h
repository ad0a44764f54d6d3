// SPDX-License-Identifier: Apache-2.0
// Looking for a real NPU: the node of the driver `rocket`, and what sysfs and the device tree tell
// of the machine (kernel-interfaces A.1, B.2, E.2, F.1, F.2). Every path is taken under a root
// folder, "/" outside of tests.
#ifndef SRC_DEVICE_DETECT_H_
#define SRC_DEVICE_DETECT_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "npu/status.h"
#include "src/device/rocket_file.h"

namespace npu::device {

// Opens the node whose driver is `rocket`, whatever its number; `node` names it instead, then it
// must be one. kNoDevice: what was tried, errno in words, the remedy.
Result<std::unique_ptr<RocketFile>> FindRocketNode(const std::shared_ptr<RocketSys>& sys,
                                                   const std::filesystem::path& root,
                                                   const std::string& node);

struct DetectedChip {
  std::string name;        // family: "rk3588"
  std::string evidence;    // where it says so
  uint32_t cores = 0;      // bound to the driver; 0: not visible
  bool simulated = false;  // a simulator behind the kernel's interface, which says so
};

// From the cores bound to the driver (their uevent, their address) or the device tree. kNoDevice
// for an unknown chip or a machine that hides both: the remedy names the option chip.
Result<DetectedChip> DetectChip(const std::filesystem::path& root);

// Whether the module's parameter allows one kick for several tasks; true where it has none.
bool ChainsAllowed(const std::filesystem::path& root);

}  // namespace npu::device

#endif  // SRC_DEVICE_DETECT_H_
