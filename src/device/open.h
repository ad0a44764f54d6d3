// SPDX-License-Identifier: Apache-2.0
// Opens a device by the name of its provider.
#ifndef SRC_DEVICE_OPEN_H_
#define SRC_DEVICE_OPEN_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "npu/status.h"
#include "src/base/log.h"
#include "src/base/worker_pool.h"
#include "src/device/device.h"
#include "src/device/rocket_sys.h"

namespace npu::device {

inline constexpr std::string_view kChipAuto = "auto";

struct OpenOptions {
  // sim                    the simulated NPU, in this process
  // rocket                 the NPU behind the mainline kernel driver
  // null                   accepts jobs and computes nothing (tests, timing of the host's part)
  // record:PROVIDER:DIR    PROVIDER, with every job saved as DIR/job-NNNNNN.npujob
  // auto                   a real NPU, today rocket; never the simulator
  // none                   no device: kNoDevice
  std::string provider = "auto";
  // "auto": the one found; sim and null stand for the first one there is.
  std::string chip = std::string(kChipAuto);

  // Kernel drivers only.
  std::string node = "";                     // the device node; empty: found by the driver's name
  std::filesystem::path root = "/";          // above dev, sys and proc; tests have their own
  std::shared_ptr<RocketSys> sys = nullptr;  // system calls; null: the system's
  // Run one task of the PPU alone at start-up and offer such tasks if it is seen to complete. Where
  // it is not, this costs one job timeout, which stock kernels may not survive often (A.12).
  bool probe_ppu = false;
  // How much slower than silicon the device works, which decides what counts as a hang; 0: 1, or a
  // lot more where the machine says that it is a simulated one.
  double time_scale = 0;

  // Simulator only.
  bool sim_fast = true;  // the fast path; the clear one gives the same bits, slower
  std::shared_ptr<WorkerPool> pool =
      nullptr;  // workers of the fast path; null: the caller's thread
  // Jobs that silicon completes with wrong data (a program error) fail instead.
  bool strict = true;
  bool can_chain = false;      // offer several tasks per kick, which stock kernels do not
  bool completes_ppu = false;  // offer tasks of the PPU alone, which no kernel is known to retire
  double clock_mhz = 0;        // of the timing model; 0: the chip's nominal clock

  uint32_t record_limit = 1000;  // jobs saved by `record`; later ones only run

  Logger logger = Logger();
};

// Errors: kNoDevice (none; auto without a usable NPU: what was tried, errno in words, the remedy),
// kInvalidArgument (unknown provider or chip, with what exists), kIoError (record directory).
Result<std::shared_ptr<Device>> Open(const OpenOptions& options);

}  // namespace npu::device

#endif  // SRC_DEVICE_OPEN_H_
