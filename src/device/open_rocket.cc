// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/device/detect.h"
#include "src/device/providers.h"
#include "src/device/rocket_device.h"

namespace npu::device {
namespace {

// One kick for several tasks came with this version of the interface (kernel-interfaces B.1).
constexpr int32_t kBatchedMajor = 1, kBatchedMinor = 1;

// A simulated NPU takes seconds for what silicon does in milliseconds.
constexpr double kSimulatedTimeScale = 1000;

// The chip to drive. Fills what else the machine tells.
Result<const chip::Profile*> ChipToDrive(const OpenOptions& options, RocketSetup* setup) {
  const Result<DetectedChip> detected = DetectChip(options.root);
  std::string name = options.chip;
  if (detected.ok()) {
    setup->cores = detected->cores;
    setup->simulated = detected->simulated;
    if (name != kChipAuto && name != detected->name) {
      options.logger.Warning(fmt::format("the option chip={} overrides {}, which says {}", name,
                                         detected->evidence, detected->name));
    }
  }
  if (name == kChipAuto) {
    if (!detected.ok()) return detected.status();
    name = detected->name;
  }
  const chip::Profile* const profile = chip::FindChip(name);
  if (profile == nullptr) {
    return Status(
        ErrorCode::kNoDevice,
        fmt::format("this version does not drive the NPU of {}; the model runs on the CPU", name));
  }
  setup->cores = std::clamp(setup->cores, 1u, profile->cores);
  return profile;
}

}  // namespace

Result<std::shared_ptr<Device>> OpenRocket(const OpenOptions& options) {
  const std::shared_ptr<RocketSys> sys = options.sys ? options.sys : MakeRealSys();
  NPU_ASSIGN_OR_RETURN(std::unique_ptr<RocketFile> file,
                       FindRocketNode(sys, options.root, options.node));
  RocketSetup setup;
  NPU_ASSIGN_OR_RETURN(const chip::Profile* profile, ChipToDrive(options, &setup));
  setup.offer_chains = file->AtLeast(kBatchedMajor, kBatchedMinor) && ChainsAllowed(options.root);
  setup.probe_ppu = options.probe_ppu;
  setup.time_scale = options.time_scale > 0 ? options.time_scale
                     : setup.simulated      ? kSimulatedTimeScale
                                            : 1.0;
  return RocketDevice::Open(std::move(file), *profile, setup, options.logger);
}

}  // namespace npu::device
