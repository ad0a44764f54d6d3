// SPDX-License-Identifier: Apache-2.0
#include "src/sim/simulator.h"

#include "src/cost/model.h"
#include "src/sim/pc.h"

namespace npu::sim {
namespace {

// Modelled times of a kick's tasks and of the kick.
void ApplyModel(const SimOptions& options, KickResult* result) {
  if (options.profile == nullptr) return;
  cost::Conditions conditions;
  conditions.clock_mhz = options.clock_mhz;
  const cost::Model model(options.profile->cost, conditions);
  std::vector<cost::TaskTerms> terms;
  for (TaskReport& task : result->tasks) {
    terms.push_back({task.mac_cycles, task.feature_bytes, task.weight_bytes, task.output_bytes,
                     task.dpu_elements, task.unit});
    task.modelled_us = model.Task(terms.back()).total_us;
  }
  result->modelled_us = model.KickUs(terms);
}

}  // namespace

struct Simulator::State {
  explicit State(const SimOptions& o) : options(o), fetcher(o) {}
  const SimOptions options;
  CommandFetcher fetcher;
};

Simulator::Simulator(const SimOptions& options) : state_(std::make_unique<State>(options)) {}
Simulator::~Simulator() = default;

KickResult Simulator::RunKick(AddressSpace& memory, const Kick& kick) {
  KickResult result;
  state_->fetcher.Run(&memory, kick, &result);
  ApplyModel(state_->options, &result);
  return result;
}

void Simulator::Reset() { state_->fetcher.Reset(); }

const char* ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return "complete";
    case Outcome::kHang:
      return "hang";
    case Outcome::kFault:
      return "fault";
    case Outcome::kUnimplemented:
      break;
  }
  return "unimplemented";
}

}  // namespace npu::sim
