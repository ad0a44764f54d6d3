// SPDX-License-Identifier: Apache-2.0
#include "src/plan/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "src/chip/profile.h"
#include "src/plan/jobs.h"
#include "src/plan/link.h"
#include "src/plan/memory.h"
#include "src/plan/pays.h"
#include "src/plan/route.h"
#include "src/plan/schedule.h"
#include "src/plan/steps.h"

namespace npu::plan {
namespace {

Result<const chip::Profile*> FindChip(const CompileOptions& options) {
  const chip::Profile* chip = chip::FindChip(options.chip);
  if (chip != nullptr) return chip;
  return Status(ErrorCode::kUnsupported,
                fmt::format("unknown chip '{}': this version supports rk3588", options.chip),
                "chip.unknown");
}

// A graph output has one place, the caller's tensor, so it must be computed here and listed once.
Status CheckOutputs(const ir::Graph& graph) {
  std::set<ir::ValueId> seen(graph.inputs.begin(), graph.inputs.end());
  for (ir::ValueId out : graph.outputs) {
    if (graph.value(out).is_constant() || !seen.insert(out).second) {
      return {
          ErrorCode::kUnsupported,
          fmt::format("output '{}' is an input, a constant or listed twice", graph.value(out).name),
          "graph.output"};
    }
  }
  return OkStatus();
}

void CopyConstants(CompiledProgram* program) {
  for (ir::Value& value : program->graph.values) {
    if (!value.is_constant()) continue;
    std::vector<std::byte>& storage = program->constant_storage.emplace_back();
    storage.reserve(std::max<size_t>(1, value.constant.size()));  // an empty one has an address too
    storage.assign(value.constant.begin(), value.constant.end());
    value.constant = {storage.data(), storage.size()};
  }
}

std::string Describe(const ir::Graph& graph, const ir::Node& node, const Status& status) {
  return fmt::format("{} '{}': {}", ir::OpName(node.params),
                     node.outputs.empty() ? node.name : graph.output(node).name, status.message());
}

}  // namespace

std::vector<Verdict> Examine(const ir::Graph& graph, const CompileOptions& options) {
  std::vector<Verdict> verdicts(graph.nodes.size());
  const Result<const chip::Profile*> chip = FindChip(options);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Verdict& verdict = verdicts[n];
    Result<RoutedNode> routed = chip.ok() ? RouteNode(graph, graph.nodes[n], options, **chip)
                                          : Result<RoutedNode>(chip.status());
    verdict.supported = routed.ok();
    if (routed.ok()) {
      verdict.on_npu = routed->npu != nullptr;
    } else {
      verdict.reason = routed.status().reason();
      verdict.text = routed.status().message();
    }
    if (options.progress) options.progress(n + 1, graph.nodes.size());
  }
  return verdicts;
}

Result<std::unique_ptr<CompiledProgram>> Compile(const ir::Graph& graph,
                                                 const CompileOptions& options) {
  NPU_ASSIGN_OR_RETURN(const chip::Profile* chip, FindChip(options));
  NPU_RETURN_IF_ERROR(ir::Verify(graph));
  NPU_RETURN_IF_ERROR(CheckOutputs(graph));
  auto program = std::make_unique<CompiledProgram>();
  program->graph = graph;
  CopyConstants(program.get());

  std::vector<RoutedNode> routed;
  for (const ir::Node& node : program->graph.nodes) {
    Result<RoutedNode> route = RouteNode(program->graph, node, options, *chip);
    if (!route.ok()) {
      return Status(route.status().code(), Describe(graph, node, route.status()),
                    route.status().reason());
    }
    routed.push_back(std::move(route).value());
    if (options.progress) options.progress(routed.size(), program->graph.nodes.size());
  }
  NPU_RETURN_IF_ERROR(KeepWhatPays(program->graph, *chip, &routed));
  std::vector<bool> on_npu;
  on_npu.reserve(routed.size());
  for (const RoutedNode& route : routed) on_npu.push_back(route.npu != nullptr);
  StepBuilder builder(program.get());
  for (int32_t node : ScheduleNodes(program->graph, on_npu)) {
    builder.AddNode(node, std::move(routed[static_cast<size_t>(node)]));
  }
  builder.Finish();
  std::sort(program->reports.begin(), program->reports.end(),
            [](const NodeReport& a, const NodeReport& b) { return a.node < b.node; });
  NPU_RETURN_IF_ERROR(PlanMemory(program.get()));
  FormJobs(*chip, program.get());
  NPU_RETURN_IF_ERROR(LinkProgram(program.get()));
  return program;
}

}  // namespace npu::plan
