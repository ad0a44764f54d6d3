// SPDX-License-Identifier: Apache-2.0
#include "src/sim/simulator.h"

#include "src/sim/pc.h"

namespace npu::sim {

struct Simulator::State {
  explicit State(const SimOptions& options) : fetcher(options) {}
  CommandFetcher fetcher;
};

Simulator::Simulator(const SimOptions& options) : state_(std::make_unique<State>(options)) {}
Simulator::~Simulator() = default;

KickResult Simulator::RunKick(AddressSpace& memory, const Kick& kick) {
  KickResult result;
  state_->fetcher.Run(&memory, kick, &result);
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
