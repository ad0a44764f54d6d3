// SPDX-License-Identifier: Apache-2.0
// The timing model: what a task, a kick and an inference would take on the chip. A modelled time is
// never shown as a measurement: print the version and the band of chip::Cost beside it.
// Source: performance-facts 4.
#ifndef SRC_COST_MODEL_H_
#define SRC_COST_MODEL_H_

#include <cstdint>
#include <span>

#include "src/chip/profile.h"

namespace npu::cost {

// What one task needs, from its registers (performance-facts 4.1): programmed extents, so padding
// and halo count.
struct TaskTerms {
  uint64_t mac_cycles = 0;     // C; 0: a task without multiply-accumulates (elementwise, copy, PPU)
  uint64_t feature_bytes = 0;  // F: the window read; 0 if resident in CBUF
  uint64_t weight_bytes = 0;   // W: the padded weight cube; 0 if resident
  uint64_t output_bytes = 0;   // O: written, plus elementwise operands read
  uint64_t elements = 0;       // E: through the DPU (or the PPU, input elements)
  enum class Unit : uint8_t { kDpu, kDpuWithLut, kPpu } unit = Unit::kDpu;  // sets elements/cycle
};

// Extents of a convolution-class task from which TaskTerms follow. `pixels` are output pixels, `ic`
// and `oc` programmed channels before padding to groups (matmul: pixels = M, ic = K, oc = N).
struct ConvExtents {
  uint64_t pixels = 0;
  uint32_t ic = 0, oc = 0;
  uint32_t kh = 1, kw = 1;
  uint64_t input_pixels = 0;  // pixels fetched: rows (halo included) * width
  bool depthwise = false;     // oc = ic
  bool packed_image = false;  // first convolution on 1-4 interleaved channels
  bool features_resident = false, weights_resident = false;
  uint32_t input_bytes = 1, output_bytes = 1;  // of one element
};

// C, F, W, O and E of a convolution. `precision` gives the group sizes (chip::Precision of the
// input type). Ranges: extents of valid tasks (no product reaches 2^63).
TaskTerms TermsOf(const ConvExtents& conv, const chip::Precision& precision);

// Extents of an elementwise task without a convolution, on one or two cubes. `lanes`: channels of
// an atom (16 int8, 8 fp16).
struct ElementwiseExtents {
  uint64_t pixels = 0;
  uint32_t channels = 0, lanes = 16;
  uint32_t inputs = 1;
  uint32_t input_bytes = 1, output_bytes = 1;  // of one element
};
TaskTerms TermsOf(const ElementwiseExtents& task);

// Extents of a pool of memory.
struct PoolExtents {
  uint64_t input_pixels = 0, output_pixels = 0;
  uint32_t channels = 0, lanes = 16;
  uint32_t element_bytes = 1;
};
TaskTerms TermsOf(const PoolExtents& task);

// The parts of one task's time, in microseconds. total_us = fixed + feature + max(mac, dma, dpu).
struct TaskTime {
  double fixed_us = 0;    // t_task
  double feature_us = 0;  // the part of the feature fetch that nothing overlaps
  double mac_us = 0;
  double dma_us = 0;
  double dpu_us = 0;
  double total_us = 0;
};

// Conditions the registers do not tell.
struct Conditions {
  double clock_mhz = 0;  // 0: the chip's default
  uint32_t active_cores = 1;
};

// Times under fixed conditions. Pure; `parameters` are copied.
class Model {
 public:
  explicit Model(const chip::Cost& parameters, const Conditions& conditions = {});

  // Bytes per nanosecond (GB/s) that one core gets: min(b * f, D / active cores).
  double bandwidth_gbps() const { return bandwidth_gbps_; }
  double clock_ghz() const { return clock_ghz_; }

  TaskTime Task(const TaskTerms& terms) const;
  // One start of the hardware running the tasks one after another: t_kick + their sum.
  double KickUs(std::span<const TaskTerms> tasks) const;
  // A job of kicks that take `kick_total_us` together: each kick after the first costs a re-arm.
  double JobUs(double kick_total_us, uint32_t kicks) const;
  // A submit as the host sees it: dispatch and wake-up, the job, and cache maintenance of the bytes
  // handed over before (fini) and after (prep), one call each.
  double SubmitUs(double job_us, uint64_t fini_bytes, uint64_t prep_bytes) const;

 private:
  chip::Cost parameters_;
  double clock_ghz_ = 0;
  double bandwidth_gbps_ = 0;
};

}  // namespace npu::cost

#endif  // SRC_COST_MODEL_H_
