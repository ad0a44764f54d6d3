// SPDX-License-Identifier: Apache-2.0
// The command fetcher: command lists, chaining, launches, interrupts (registers-rk3588 3 to 5).
#ifndef SRC_SIM_PC_H_
#define SRC_SIM_PC_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/sim/cna.h"
#include "src/sim/fast_path.h"
#include "src/sim/memory.h"
#include "src/sim/register_file.h"
#include "src/sim/simulator.h"
#include "src/sim/small_planes.h"
#include "src/sim/task_view.h"

namespace npu::sim {

class CommandFetcher {
 public:
  explicit CommandFetcher(const SimOptions& options) : options_(options), fast_(options.pool) {}

  void Reset();
  // One kick as the kernel starts it. `result` receives everything but the modelled time.
  void Run(AddressSpace* memory, const Kick& kick, KickResult* result);

 private:
  // What a list asked for, beside register writes.
  struct Link {
    bool seen = false;
    uint32_t base = 0;
    uint32_t amount = 0;
  };
  struct KickState {
    const Kick* kick = nullptr;
    AddressSpace* memory = nullptr;
    DiagnosticSink sink;
    KickResult* result = nullptr;
    uint32_t task = 0;
    bool failed = false;
    bool warned_of_chaining = false;
  };

  void WriteMmio(regs::Block block, uint16_t offset, uint32_t value);
  bool FetchList(uint32_t base, uint32_t words, KickState* state, std::vector<uint64_t>* list);
  void RunList(std::span<const uint64_t> list, KickState* state, Link* link);
  void Execute(uint64_t word, uint32_t command, KickState* state, Link* link);
  void WriteRegister(regs::Block block, uint16_t offset, uint32_t value, uint32_t command,
                     KickState* state);
  void WritePc(uint16_t offset, uint32_t value, uint32_t command, KickState* state, Link* link);
  void LaunchMask(uint32_t mask, uint32_t command, KickState* state);
  void RunPending(KickState* state);
  void RunLaunch(const Launch& launch, KickState* state);
  void Stop(Outcome outcome, std::string reason, KickState* state);
  void Note(Severity severity, std::string_view id, std::string message, uint32_t command,
            KickState* state);
  void Finish(KickState* state);

  const SimOptions options_;
  RegisterFile file_;
  Cbuf cbuf_;
  FastPath fast_;
  SmallPlanes small_planes_;
  std::vector<Launch> pending_;
  uint64_t list_serial_ = 0;
  uint32_t launches_in_list_ = 0;
  uint32_t raw_status_ = 0;
  uint32_t task_status_ = 0;  // what the last task latched
  uint32_t interrupt_mask_ = 0;
  int32_t last_accumulator_ = 0;
  bool job_started_ = false;
  bool wedged_ = false;
};

}  // namespace npu::sim

#endif  // SRC_SIM_PC_H_
