// SPDX-License-Identifier: Apache-2.0
// What the modelled kernel is: its version, its chip, how hostile it is. Plain data; nothing here
// reads the environment (the shim has its own file for that).
#ifndef SRC_KMODEL_OPTIONS_H_
#define SRC_KMODEL_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "npu/status.h"
#include "src/base/log.h"
#include "src/sim/simulator.h"

namespace npu::kmodel {

// Interface version of DRM_IOCTL_VERSION: 0.0 stock, later the extensions of kernel-interfaces B.1.
struct Version {
  int32_t major = 0;
  int32_t minor = 0;
  constexpr bool AtLeast(int32_t wanted_major, int32_t wanted_minor) const {
    return major != wanted_major ? major > wanted_major : minor >= wanted_minor;
  }
};

// Modes that find client bugs (kernel-interfaces C.5). A finding is logged and counted; lifetime
// and poison also end the job, because what it touched could have been gone.
struct Strict {
  bool coherency = false;  // separate CPU and device images; only PREP and FINI copy
  bool lifetime = false;   // a job sees only the objects it lists
  bool war = false;        // FINI of an object that a queued job reads
  bool poison = false;     // no access to the page at address 0
  bool shuffle = false;    // random addresses, cores and order among independent files
};

enum class FaultKind : uint8_t {
  kDropJob,        // the n-th job vanishes inside SUBMIT, which returns 0 (bug 4 of A.17)
  kTimeoutJob,     // it never raises completion and writes nothing
  kDelayJob,       // completion comes `value` ms late
  kLostWakeup,     // it computes, its completion is lost, the watchdog ends it
  kResetJob,       // the core is reset after the first half of its tasks
  kNoMemory,       // the n-th CREATE_BO fails with ENOMEM
  kShortObject,    // its object is a page shorter than asked for: mmap of the whole fails
  kInterruptPrep,  // the n-th PREP_BO fails with EINTR
  kFailMmap,       // the n-th mmap fails with ENOMEM
  kNodeGone,       // every ioctl and mmap after the first n ioctls fails with ENODEV
};

struct Fault {
  FaultKind kind = FaultKind::kDropJob;
  uint64_t nth = 1;    // counted from 1 over the whole device; 0: every one
  uint32_t value = 0;  // kDelayJob: milliseconds
};

struct Options {
  std::string chip = "rk3588";
  uint32_t cores = 0;  // 0: as many as the chip has
  Version version;
  bool batch_submit = true;     // module parameter rocket_batch_submit, exists from 1.1 on
  uint32_t timeout_ms = 500;    // watchdog, in modelled time of the job; 0: off
  uint32_t hang_ms = 500;       // wall time after which a job that never completes is ended
  uint32_t autosuspend_ms = 0;  // idle wall time after which a core loses its registers; 0: never
  size_t threads = 1;           // of the simulator, for each core; 0: all the machine has
  sim::Path path = sim::Path::kFast;
  sim::Assumptions assume;  // of the simulator, where the hardware's behaviour is not known
  Strict strict;
  std::vector<Fault> faults;
  uint64_t seed = 1;  // of shuffle
  Logger logger = Logger();
  // Called where a stock kernel would crash (kernel-interfaces A.9); afterwards the job is dropped.
  std::function<void(std::string_view what)> on_oops = nullptr;
  // Called for each strict finding, after it was logged.
  std::function<void(std::string_view what)> on_finding = nullptr;
};

// "0.0", "1.1" ... kInvalidArgument with what is accepted.
Result<Version> ParseVersion(std::string_view text);
// Comma-separated names of Strict's fields, or "all" (without shuffle), or "".
Result<Strict> ParseStrict(std::string_view text);
// Comma-separated KIND=N[:VALUE], N a number from 1 or "*" for every one. Kinds: drop, timeout,
// delay, lost, reset, enomem, short, eintr, mmap, gone.
Result<std::vector<Fault>> ParseFaults(std::string_view text);

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_OPTIONS_H_
