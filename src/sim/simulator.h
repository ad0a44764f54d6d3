// SPDX-License-Identifier: Apache-2.0
// One simulated RK3588 NPU core. It learns everything from the command stream and memory, as the
// silicon does, and computes bit for bit what silicon computes; where the specification has no
// answer it says "unimplemented" instead of guessing. Sources: registers-rk3588,
// rk3588-conv-matmul 14, rk3588-dpu-ppu 16.
#ifndef SRC_SIM_SIMULATOR_H_
#define SRC_SIM_SIMULATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/base/worker_pool.h"
#include "src/chip/profile.h"
#include "src/cost/model.h"
#include "src/sim/diagnostics.h"
#include "src/sim/memory.h"

namespace npu::sim {

enum class Path : uint8_t { kClear, kFast };

// Named assumptions of the hardware model, each a row of docs/hardware/open-questions.md.
struct Assumptions {
  // A task without DPU_RDMA in its mask hangs while that block was never configured since reset
  // (registers-rk3588 8.3).
  bool rdma_must_be_configured_once = true;
  // From the second task of a kick on, raw integer outputs wider than 8 bits start from the
  // accumulators' residue (registers-rk3588 3.5 item 5, Q3).
  bool chained_raw_integer_is_wrong = true;
  // The PPU pools int8 with width code 1 as it pools fp16 (rk3588-dpu-ppu 11.2, Q2).
  bool ppu_pools_int8 = true;
  // The end of a pool also latches the DPU's completion bits, which are all that the mainline
  // kernel listens to (registers-rk3588 5, Q1). Else a kick that ends in a pool writes its result
  // and then hangs.
  bool ppu_raises_dpu_interrupt = false;
};

struct SimOptions {
  Path path = Path::kClear;
  WorkerPool* pool = nullptr;              // fast path only; borrowed, may be null (one thread)
  const chip::Profile* profile = nullptr;  // borrowed; its cost parameters fill modelled_us
  double clock_mhz = 0;                    // of the timing model; 0: the profile's default
  uint32_t core_index = 0;                 // 0..3, as the kernel writes it into S_POINTER.CORE_ID
  // A task with more multiply-accumulates than this is not computed: it would outlive the kernel's
  // watchdog (500 ms at 1 GHz are 2^39 of them), and hostile registers could ask for 2^70.
  uint64_t max_task_macs = uint64_t{1} << 39;
  Assumptions assume;
};

// One start of the command fetcher.
struct Kick {
  uint32_t regcmd = 0;       // address of the first list, 16-byte aligned
  uint32_t count = 0;        // 64-bit words of the first list, trailer included; >= 1
  uint32_t task_number = 1;  // tasks the kick runs, 1..4095; more than one needs linked lists
  bool first_of_job = true;  // false: CBUF contents of the kick before may be reused
};

enum class Outcome : uint8_t {
  kComplete,       // the completion interrupt came (the data may still be wrong: see diagnostics)
  kHang,           // it never comes; the kernel's watchdog resets the core after 500 ms
  kFault,          // the IOMMU refused an access; the kernel's watchdog resets the core
  kUnimplemented,  // the simulator does not model this task; the kick stopped before it
};
const char* ToString(Outcome outcome);

// What one task needed, from its registers: the terms of the cost model (performance-facts 4.1).
struct TaskReport {
  uint64_t macs = 0;           // useful multiply-accumulates of the programmed extents
  uint64_t mac_cycles = 0;     // C
  uint64_t feature_bytes = 0;  // F
  uint64_t weight_bytes = 0;   // W
  uint64_t output_bytes = 0;   // O: written, plus elementwise operands read
  uint64_t dpu_elements = 0;   // E; of a pool: input elements through the PPU
  cost::TaskTerms::Unit unit = cost::TaskTerms::Unit::kDpu;  // whose rate E has
  double modelled_us = 0.0;                                  // 0 without SimOptions::profile
};

struct KickResult {
  Outcome outcome = Outcome::kComplete;
  std::string reason;             // empty when complete, else one sentence
  uint32_t tasks_done = 0;        // tasks that ran to their end
  uint32_t raw_status = 0;        // INTERRUPT_RAW_STATUS at the end, before the kernel clears it
  uint32_t interrupts = 0;        // times the line rose
  std::vector<TaskReport> tasks;  // of the tasks that ran
  std::vector<Diagnostic> diagnostics;
  double modelled_us = 0.0;
};

// State that survives kicks, as on the chip: register groups, pointers, CBUF contents.
// Not thread-safe.
class Simulator {
 public:
  explicit Simulator(const SimOptions& options = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Does what the kernel does for one kick (registers-rk3588 3.2: the MMIO sequence, the wait, the
  // clearing of interrupts). After kHang, kFault or kUnimplemented the core is wedged and every
  // kick hangs until Reset. Never touches a byte outside the mapped regions.
  KickResult RunKick(AddressSpace& memory, const Kick& kick);

  // The reset of the kernel's timeout handler: registers, pointers, interrupts and CBUF are lost.
  void Reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace npu::sim

#endif  // SRC_SIM_SIMULATOR_H_
