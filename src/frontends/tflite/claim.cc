// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "src/base/progress.h"
#include "src/frontends/tflite/builtin_ops.h"
#include "src/frontends/tflite/op_import.h"
#include "src/plan/summary.h"

namespace npu::tflite {
namespace {

using frontends::NodeEntry;

plan::CompileOptions CompileOptionsOf(const ClaimContext& claim) {
  plan::CompileOptions options;
  options.requant = claim.options.requant;
  options.chip = claim.options.chip;
  if (options.chip == "auto" && claim.device) options.chip = claim.device->info().chip;
  options.ppu_tasks = claim.device && claim.device->info().completes_ppu;
  return options;
}

Status Reworded(const Status& status, std::string_view prefix, std::string_view reason) {
  return Status(status.code(), fmt::format("{}{}", prefix, status.message()),
                status.reason().empty() ? reason : status.reason());
}

class Planner {
 public:
  Planner(abi::Context* context, const ClaimContext& claim)
      : context_(context), claim_(claim), importer_(context), options_(CompileOptionsOf(claim)) {}

  Result<ClaimPlan> Run();

 private:
  Status ReadNodes();
  void ExamineNodes();
  void CheckAlone(size_t position);
  Result<std::vector<CompiledPartition>> Preview(const std::vector<int32_t>& candidates);
  // True when every partition is compiled and pays; otherwise some candidates were declined.
  bool CompileAll(std::vector<CompiledPartition>* partitions);
  Status CompileOne(CompiledPartition* partition);
  bool WorksOnNpu(const std::vector<int32_t>& nodes) const;
  void Decline(int32_t node, const Status& status);
  std::vector<int32_t> Candidates() const;
  void Report(std::vector<CompiledPartition>* partitions);
  NodeEntry& entry(int32_t node) { return plan_.report.nodes[positions_.at(node)]; }

  abi::Context* context_;
  const ClaimContext& claim_;
  Importer importer_;
  plan::CompileOptions options_;
  ClaimPlan plan_;
  std::map<int32_t, size_t> positions_;  // node index -> position in report.nodes
  std::set<int32_t> candidates_;
  std::set<int32_t> on_npu_;
  std::map<std::vector<int32_t>, CompiledPartition> compiled_;
};

void Planner::Decline(int32_t node, const Status& status) {
  NodeEntry& e = entry(node);
  e.reason = status.reason().empty() ? "internal" : std::string(status.reason());
  e.text = status.message();
  candidates_.erase(node);
}

// In plan order, as the host wants them.
std::vector<int32_t> Planner::Candidates() const {
  std::vector<int32_t> nodes;
  for (const NodeEntry& e : plan_.report.nodes) {
    if (candidates_.count(e.index) != 0) nodes.push_back(e.index);
  }
  return nodes;
}

// Lists the plan's nodes; those another delegate has taken are only counted.
Status Planner::ReadNodes() {
  NPU_ASSIGN_OR_RETURN(const std::vector<int32_t> nodes, importer_.Plan());
  for (const int32_t index : nodes) {
    NPU_ASSIGN_OR_RETURN(const HostNode host, importer_.GetNode(index));
    if (host.registration->builtin_code == kDelegate) {
      ++plan_.report.already_delegated;
      plan_.foreign_delegate = OpNameOf(*host.registration);
      continue;
    }
    NodeEntry e;
    e.index = index;
    e.op = OpNameOf(*host.registration);
    for (const int32_t t : Span(host.node->inputs)) e.input_shapes.push_back(importer_.ShapeOf(t));
    for (const int32_t t : Span(host.node->outputs)) {
      e.output_shapes.push_back(importer_.ShapeOf(t));
    }
    positions_.emplace(index, plan_.report.nodes.size());
    plan_.report.nodes.push_back(std::move(e));
    candidates_.insert(index);
  }
  return OkStatus();
}

// A damaged node is found alone, so that it does not take the others with it.
void Planner::CheckAlone(size_t position) {
  const int32_t node = plan_.report.nodes[position].index;
  const Result<ImportedGraph> graph = importer_.ImportGraph({&node, 1}, {});
  if (!graph.ok()) return Decline(node, graph.status());
  const Status verified = claim_.engine->Verify(graph.value().graph);
  if (!verified.ok()) Decline(node, Reworded(verified, "", "model.inconsistent"));
}

void Planner::ExamineNodes() {
  for (size_t i = 0; i < plan_.report.nodes.size(); ++i) CheckAlone(i);
  const std::vector<int32_t> nodes = Candidates();
  const Result<ImportedGraph> imported = importer_.ImportGraph(nodes, {});
  Status status = imported.status();
  if (status.ok()) status = claim_.engine->Verify(imported.value().graph);
  if (!status.ok()) {
    for (const int32_t node : nodes) Decline(node, Reworded(status, "", "model.inconsistent"));
    return;
  }
  plan::CompileOptions options = options_;
  Progress progress(claim_.logger, "examining the model, operations");
  options.progress = [&](size_t done, size_t total) { progress.Step(done, total); };
  const std::vector<plan::Verdict> verdicts =
      claim_.engine->Examine(imported.value().graph, options);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i >= verdicts.size()) {
      Decline(nodes[i], Status(ErrorCode::kInternal, "the compiler gave no verdict", "internal"));
    } else if (!verdicts[i].supported) {
      NodeEntry& e = entry(nodes[i]);
      e.reason = verdicts[i].reason;
      e.text = verdicts[i].text;
      candidates_.erase(nodes[i]);
    } else if (verdicts[i].on_npu) {
      on_npu_.insert(nodes[i]);
    }
  }
}

// The host's own partitioning of the candidates, copied: its arrays live until the next call.
Result<std::vector<CompiledPartition>> Planner::Preview(const std::vector<int32_t>& candidates) {
  abi::DelegateParams* params = nullptr;
  int32_t count = 0;
  const HostList list(candidates);
  if (context_->PreviewDelegatePartitioning == nullptr ||
      context_->PreviewDelegatePartitioning(context_, list.get(), &params, &count) != abi::kOk ||
      count < 0 || (count > 0 && params == nullptr)) {
    return Status(ErrorCode::kCorruptData, "the host cannot preview the partitions", "model.plan");
  }
  std::vector<CompiledPartition> partitions(static_cast<size_t>(count));
  for (size_t i = 0; i < partitions.size(); ++i) {
    const std::span<const int32_t> nodes = Span(params[i].nodes_to_replace);
    const std::span<const int32_t> outputs = Span(params[i].output_tensors);
    partitions[i].nodes.assign(nodes.begin(), nodes.end());
    partitions[i].output_tensors.assign(outputs.begin(), outputs.end());
  }
  return partitions;
}

bool Planner::WorksOnNpu(const std::vector<int32_t>& nodes) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](int32_t node) { return on_npu_.count(node) != 0; });
}

Status Planner::CompileOne(CompiledPartition* partition) {
  Status no_work(ErrorCode::kUnsupported,
                 "nothing of this partition would run on the NPU, so it would not pay",
                 "partition.no_npu_work");
  const bool must_pay = claim_.options.claim == frontends::Claim::kAuto;
  if (must_pay && !WorksOnNpu(partition->nodes)) return no_work;
  const auto cached = compiled_.find(partition->nodes);
  if (cached != compiled_.end() && cached->second.session != nullptr &&
      cached->second.output_tensors == partition->output_tensors) {
    *partition = std::move(cached->second);
    compiled_.erase(cached);
    return OkStatus();
  }
  NPU_ASSIGN_OR_RETURN(
      *partition, CompilePartition(context_, claim_, partition->nodes, partition->output_tensors));
  if (must_pay && partition->program->tasks == 0) return no_work;
  return OkStatus();
}

bool Planner::CompileAll(std::vector<CompiledPartition>* partitions) {
  bool all = true;
  for (CompiledPartition& partition : *partitions) {
    const std::vector<int32_t> nodes = partition.nodes;
    const Status status = CompileOne(&partition);
    if (status.ok()) continue;
    all = false;
    for (const int32_t node : nodes) Decline(node, status);
    partition = {};
  }
  if (all) return true;
  for (CompiledPartition& partition : *partitions) {
    if (partition.session != nullptr) compiled_[partition.nodes] = std::move(partition);
  }
  return false;
}

void Planner::Report(std::vector<CompiledPartition>* partitions) {
  for (CompiledPartition& partition : *partitions) {
    partition.id = static_cast<int32_t>(plan_.report.partitions.size());
    const plan::CompiledProgram& program = *partition.program;
    const bool chained = claim_.device->info().can_chain;
    const plan::ProgramSummary summary = plan::Summarize(program);
    plan_.report.partitions.push_back({.id = partition.id,
                                       .nodes = partition.nodes,
                                       .arena_bytes = program.arena_bytes,
                                       .weight_bytes = program.constants.size(),
                                       .modelled_us = program.modelled_us,
                                       .modelled_chained_us = program.modelled_chained_us,
                                       .kicks = chained ? summary.chained_kicks : program.tasks,
                                       .chained_kicks = summary.chained_kicks,
                                       .submits = program.submits,
                                       .host_steps = summary.host_steps,
                                       .layout_steps = summary.layout_steps,
                                       .splits = summary.splits});
    for (const int32_t node : partition.nodes) {
      entry(node).claimed = true;
      entry(node).partition = partition.id;
    }
    for (const plan::NodeReport& r : program.reports) {
      if (r.node < 0 || static_cast<size_t>(r.node) >= partition.nodes.size()) continue;
      NodeEntry& e = entry(partition.nodes[static_cast<size_t>(r.node)]);
      e.route = r.route;
      e.tasks = r.tasks;
      e.macs = r.macs;
      e.bound_counts = r.bound.counts;
      e.modelled_us = r.modelled_us;
      e.host_reason = r.host_reason;
    }
  }
}

Result<ClaimPlan> Planner::Run() {
  plan_.report.options = claim_.options;
  plan_.report.device.provider = "none";
  if (claim_.device) plan_.report.device = claim_.device->info();
  NPU_RETURN_IF_ERROR(ReadNodes());
  if (!claim_.device) {
    for (const int32_t node : Candidates()) {
      Decline(node, Reworded(claim_.no_device, "", "device.none"));
    }
    return std::move(plan_);
  }
  ExamineNodes();
  // Every round but the last declines at least one node.
  for (;;) {
    const std::vector<int32_t> candidates = Candidates();
    if (candidates.empty()) return std::move(plan_);
    NPU_ASSIGN_OR_RETURN(std::vector<CompiledPartition> partitions, Preview(candidates));
    if (!CompileAll(&partitions)) continue;
    Report(&partitions);
    plan_.partitions = std::move(partitions);
    return std::move(plan_);
  }
}

}  // namespace

std::vector<int32_t> ClaimPlan::claimed_nodes() const {
  std::vector<int32_t> nodes;
  for (const NodeEntry& e : report.nodes) {
    if (e.claimed) nodes.push_back(e.index);
  }
  return nodes;
}

HostList::HostList(std::span<const int32_t> values) {
  storage_.reserve(values.size() + 1);
  storage_.push_back(static_cast<int32_t>(values.size()));
  storage_.insert(storage_.end(), values.begin(), values.end());
}

Result<CompiledPartition> CompilePartition(abi::Context* context, const ClaimContext& claim,
                                           std::span<const int32_t> nodes,
                                           std::span<const int32_t> outputs) {
  Importer importer(context);
  if (outputs.empty()) {
    return Status(ErrorCode::kUnsupported, "nothing reads the results of this partition",
                  "partition.unused");
  }
  NPU_ASSIGN_OR_RETURN(ImportedGraph imported, importer.ImportGraph(nodes, outputs));
  if (imported.output_tensors.size() != outputs.size()) {
    return Status(ErrorCode::kCorruptData, "the host expects results that no node computes",
                  "model.inconsistent");
  }
  NPU_RETURN_IF_ERROR(claim.engine->Verify(imported.graph));
  plan::CompileOptions options = CompileOptionsOf(claim);
  Progress progress(claim.logger, "compiling, operations");
  options.progress = [&](size_t done, size_t total) { progress.Step(done, total); };
  auto program = claim.engine->Compile(imported.graph, options);
  if (!program.ok()) return Reworded(program.status(), "does not compile: ", "partition.compile");
  CompiledPartition partition;
  partition.nodes.assign(nodes.begin(), nodes.end());
  partition.input_tensors = std::move(imported.input_tensors);
  partition.output_tensors = std::move(imported.output_tensors);
  partition.program = std::move(program).value();
  auto session = claim.engine->CreateSession(
      partition.program, claim.device,
      {.verify_first = claim.options.verify == frontends::Verify::kFirst,
       .chain = claim.options.chain != frontends::Chain::kOff,
       .logger = claim.logger});
  if (!session.ok()) return Reworded(session.status(), "cannot be set up: ", "partition.session");
  partition.session = std::move(session).value();
  return partition;
}

Result<ClaimPlan> PlanClaim(abi::Context* context, const ClaimContext& claim) {
  return Planner(context, claim).Run();
}

}  // namespace npu::tflite
