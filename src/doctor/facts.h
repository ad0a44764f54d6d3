// SPDX-License-Identifier: Apache-2.0
// What the doctor finds out once, before the checks look at it: kernel-interfaces E.1 and E.2.
#ifndef SRC_DOCTOR_FACTS_H_
#define SRC_DOCTOR_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/doctor/system.h"

namespace npu::doctor {

// A chip as far as the kernel's side of it matters. Checks ask for these, never for the name.
struct ChipRow {
  std::string_view prefix;        // of a compatible token without "vendor,"
  std::string_view name;          // for people
  std::string_view unit_address;  // beginning of the NPU's device name; empty: not told apart by it
  uint32_t cores = 1;
  bool mainline = false;          // a released kernel drives it
  bool patched_mainline = false;  // a patched one does
  bool one_core_only = false;     // two cores at once corrupt each other (B.5)
  bool power_procedure = false;   // needs to write autosuspend_delay_ms (B.5, E.3)
  bool slow_clock = false;        // pinned to 200 MHz by stock kernels (E.4)
  uint32_t power_domains = 0;     // every core node must name; 0: not checked
  uint32_t max_memory_gib = 0;    // more needs a kernel patch; 0: no limit
};

// A core bound to a driver.
struct BoundCore {
  std::string name;       // "fdab0000.npu"
  std::string directory;  // its directory in sysfs
};

struct Facts {
  System system;
  std::string architecture, release;
  int kernel_major = 0, kernel_minor = 0;
  std::string model;
  std::vector<std::string> compatible;  // of the board
  const ChipRow* chip = nullptr;
  std::string chip_token, chip_source;  // "rk3588-rknn-core", "uevent of fdab0000.npu"

  std::vector<NodeAnswer> accel_nodes, render_nodes;
  std::optional<NodeAnswer> rocket;  // answers as the driver rocket
  std::optional<NodeAnswer> vendor;  // answers as rknpu, or /dev/rknpu
  std::vector<BoundCore> cores, vendor_cores;

  std::string container;  // why it looks like one; empty: none
  std::optional<std::string> log;
  std::string log_error;
  std::vector<uint32_t> groups;
  uint32_t uid = 0;

  std::string library;           // of the delegate; empty: not found
  std::string baseline_release;  // kernel of an earlier report; empty: none given

  bool has_driver() const {
    return rocket || vendor || !cores.empty() || !vendor_cores.empty() || !accel_nodes.empty();
  }
};

// Looks at the system. `library`: the delegate, or empty.
Facts Gather(const System& system, std::string library);

// All files named `file` below a node of the device tree whose name begins with `prefix`, as
// {node, contents}; nodes at most three levels deep.
struct TreeProperty {
  std::string node, value;
};
std::vector<TreeProperty> DeviceTreeProperties(const System& system, std::string_view prefix,
                                               std::string_view file);

}  // namespace npu::doctor

#endif  // SRC_DOCTOR_FACTS_H_
