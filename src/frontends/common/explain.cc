// SPDX-License-Identifier: Apache-2.0
// The JSON of report.h; the only file of the frontends that includes the JSON package.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/frontends/common/report.h"

namespace npu::frontends {
namespace {

using Json = nlohmann::ordered_json;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Names come from models: bytes that are not UTF-8 are replaced, never an error.
std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Status IoError(std::string_view what, const std::string& path) {
  return Status(ErrorCode::kIoError,
                fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

Json DeviceJson(const device::DeviceInfo& device) {
  return {{"provider", device.provider},
          {"chip", device.chip},
          {"description", device.description},
          {"simulated", device.simulated}};
}

Json NodeJson(const NodeEntry& node) {
  Json json = {{"index", node.index},
               {"op", node.op},
               {"shapes", {{"inputs", node.input_shapes}, {"outputs", node.output_shapes}}},
               {"claimed", node.claimed}};
  if (node.claimed) {
    json["partition"] = node.partition;
    json["route"] = node.route;
    json["tasks"] = node.tasks;
    json["macs"] = node.macs;
    json["bound_counts"] = node.bound_counts;
    json["modelled_us"] = node.modelled_us;
    if (!node.host_reason.empty()) json["host_reason"] = node.host_reason;
  } else {
    json["reason"] = node.reason;
    json["text"] = node.text;
  }
  return json;
}

Json PartitionJson(const PartitionEntry& partition) {
  return {{"id", partition.id},
          {"nodes", partition.nodes},
          {"arena_bytes", partition.arena_bytes},
          {"weight_bytes", partition.weight_bytes},
          {"modelled_us", partition.modelled_us},
          {"modelled_chained_us", partition.modelled_chained_us},
          {"kicks", partition.kicks},
          {"chained_kicks", partition.chained_kicks},
          {"submits", partition.submits},
          {"host_steps", partition.host_steps},
          {"layout_steps", partition.layout_steps},
          {"splits", partition.splits}};
}

Json SummaryJson(const ClaimReport& report) {
  uint64_t kicks = 0;
  uint64_t submits = 0;
  for (const PartitionEntry& partition : report.partitions) {
    kicks += partition.kicks;
    submits += partition.submits;
  }
  return {{"nodes", report.nodes.size() + report.already_delegated},
          {"offered", report.nodes.size()},
          {"claimed", report.claimed()},
          {"partitions", report.partitions.size()},
          {"kicks", kicks},
          {"submits", submits}};
}

Json RunJson(const runtime::SessionStatistics& run) {
  return {{"runs", run.runs},
          {"host_runs", run.host_runs},
          {"verify_mismatches", run.verify_mismatches},
          {"device_failures", run.device_failures},
          {"submits", run.submits},
          {"kicks", run.kicks},
          {"modelled_us", run.modelled_us}};
}

}  // namespace

std::string ExplainJson(const ClaimReport& report, const runtime::SessionStatistics* run) {
  Json json = {{"format", 1},
               {"library", fmt::format("rocket-npu {}", LibraryVersion())},
               {"device", DeviceJson(report.device)}};
  Json& options = json["options"] = Json::object();
  for (const KeyValue& option : EffectiveOptions(report.options))
    options[option.key] = option.value;
  json["summary"] = SummaryJson(report);
  Json& partitions = json["partitions"] = Json::array();
  for (const PartitionEntry& p : report.partitions) partitions.push_back(PartitionJson(p));
  Json& nodes = json["nodes"] = Json::array();
  for (const NodeEntry& node : report.nodes) nodes.push_back(NodeJson(node));
  if (run != nullptr) json["run"] = RunJson(*run);
  return Dump(json, 1) + "\n";
}

Status WriteFileAtomically(const std::string& path, std::string_view text) {
  // Devices, pipes and links (/dev/stdout) are written to: a rename would put a file in their
  // place.
  std::error_code error;
  const auto kind = std::filesystem::symlink_status(path, error).type();
  const bool replace =
      kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  const std::string target = replace ? fmt::format("{}.tmp-{}", path, ::getpid()) : path;
  File file(std::fopen(target.c_str(), "wb"));
  if (!file) return IoError(replace ? "create" : "write", target);
  bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  written = std::fclose(file.release()) == 0 && written;
  if (written && (!replace || std::rename(target.c_str(), path.c_str()) == 0)) return OkStatus();
  Status status = IoError("write", path);
  if (replace) std::remove(target.c_str());
  return status;
}

Status AppendProfile(const std::string& path, const PartitionTimes& times) {
  const Json json = {{"partition", times.partition}, {"runs", times.runs},
                     {"mean_ms", times.mean_ms},     {"min_ms", times.min_ms},
                     {"max_ms", times.max_ms},       {"modelled_us", times.modelled_us}};
  const std::string line = Dump(json, -1) + "\n";
  File file(std::fopen(path.c_str(), "ab"));
  if (!file) return IoError("open", path);
  const bool written = std::fwrite(line.data(), 1, line.size(), file.get()) == line.size();
  if (std::fclose(file.release()) != 0 || !written) return IoError("write", path);
  return OkStatus();
}

}  // namespace npu::frontends
