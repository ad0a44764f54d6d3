// SPDX-License-Identifier: Apache-2.0
// What a frontend tells its user: the summary line and the explain file (format 1).
#ifndef SRC_FRONTENDS_COMMON_REPORT_H_
#define SRC_FRONTENDS_COMMON_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "npu/status.h"
#include "src/device/device.h"
#include "src/frontends/common/options.h"
#include "src/runtime/session.h"

namespace npu::frontends {

// "0.1.0"
std::string_view LibraryVersion();

struct NodeEntry {
  int32_t index = 0;                               // in the host's graph
  std::string op;                                  // "CONV_2D"
  std::vector<std::vector<int32_t>> input_shapes;  // empty for an absent input
  std::vector<std::vector<int32_t>> output_shapes;
  bool claimed = false;
  // Claimed nodes.
  int32_t partition = -1;
  std::string route;
  uint32_t tasks = 0;
  uint64_t macs = 0;
  int32_t bound_counts = 0;
  double modelled_us = 0.0;  // of its NPU tasks
  std::string host_reason;   // why an operation the NPU knows runs on the host; may be empty
  // Declined nodes.
  std::string reason;
  std::string text;
};

struct PartitionEntry {
  int32_t id = 0;
  std::vector<int32_t> nodes;
  uint64_t arena_bytes = 0;
  uint64_t weight_bytes = 0;
  double modelled_us = 0.0;          // one kick a task
  double modelled_chained_us = 0.0;  // one kick a submit where the chip allows it
  uint32_t kicks = 0;                // on this device
  uint32_t chained_kicks = 0;
  uint32_t submits = 0;
  uint32_t host_steps = 0;
  uint32_t layout_steps = 0;
  std::map<std::string, uint32_t> splits;  // host operations between two submits
};

struct ClaimReport {
  device::DeviceInfo device;  // provider "none" when there is none
  Options options;
  std::vector<NodeEntry> nodes;  // in plan order; all nodes the host holds, delegated ones excepted
  std::vector<PartitionEntry> partitions;
  uint32_t already_delegated = 0;  // nodes that another delegate had taken before
  size_t claimed() const;
};

// "1 node", "3 nodes".
std::string CountOf(size_t n, std::string_view word);

// "claimed 30 of 31 nodes in 1 partition on sim rk3588 (rocket-npu 0.1.0, ...); declined: ...".
// At most `max_reasons` different reasons, the most frequent first.
std::string SummaryLine(const ClaimReport& report, size_t max_reasons = 3);

// The explain file's text. `run` adds the section "run" (sums over the partitions).
std::string ExplainJson(const ClaimReport& report, const runtime::SessionStatistics* run);

// Writes beside `path` and renames, so that readers never see half a file; what is no regular file
// (a device, a pipe, a link) is written to as it is. Errors name the path.
Status WriteFileAtomically(const std::string& path, std::string_view text);

// Wall times of one partition over the life of its kernel.
struct PartitionTimes {
  int32_t partition = 0;
  uint64_t runs = 0;
  double mean_ms = 0.0, min_ms = 0.0, max_ms = 0.0;
  double modelled_us = 0.0;
};

// One line for a terminal.
std::string ProfileText(const PartitionTimes& times);

// One line of JSON at the end of a file. Errors name the path.
Status AppendProfile(const std::string& path, const PartitionTimes& times);

}  // namespace npu::frontends

#endif  // SRC_FRONTENDS_COMMON_REPORT_H_
