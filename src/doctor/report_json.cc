// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/doctor/doctor.h"

namespace npu::doctor {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view HealthName(Health health) {
  if (health == Health::kHealthy) return "healthy";
  return health == Health::kProblems ? "problems" : "unknown";
}

nlohmann::ordered_json Machine(const Facts& f) {
  nlohmann::ordered_json machine = {
      {"model", f.model},
      {"architecture", f.architecture},
      {"release", f.release},
      {"chip", f.chip != nullptr ? std::string(f.chip->name) : std::string()},
      {"cores", nlohmann::ordered_json::array()},
      {"nodes", nlohmann::ordered_json::array()},
  };
  for (const BoundCore& core : f.cores) machine["cores"].push_back(core.name);
  for (const auto* list : {&f.accel_nodes, &f.render_nodes}) {
    for (const NodeAnswer& node : *list) {
      machine["nodes"].push_back({{"path", node.path},
                                  {"errno", node.error},
                                  {"driver", node.driver},
                                  {"version", {node.major, node.minor, node.patch}}});
    }
  }
  return machine;
}

}  // namespace

std::string JsonReport(const Report& report) {
  nlohmann::ordered_json json = {
      {"format", 1},
      {"machine", Machine(report.facts)},
      {"checks", nlohmann::ordered_json::array()},
      {"health", HealthName(report.health)},
      {"exit_code", report.exit_code()},
      {"summary", report.summary},
  };
  for (const Row& row : report.rows) {
    json["checks"].push_back({{"id", row.check->id},
                              {"group", row.check->group},
                              {"title", row.check->title},
                              {"verdict", Lower(ToString(row.finding.verdict))},
                              {"evidence", row.finding.evidence},
                              {"fix", row.fix()}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string BaselineRelease(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("machine")) return {};
  const auto& machine = parsed["machine"];
  if (!machine.is_object() || !machine.contains("release")) return {};
  return machine["release"].is_string() ? machine["release"].get<std::string>() : "";
}

}  // namespace npu::doctor
