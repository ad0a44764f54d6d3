// SPDX-License-Identifier: Apache-2.0
// Capabilities and limits of one NPU, generated from chips/<soc>/limits.json, where every number
// has its evidence tag and source section. Code asks the profile and never for a chip's name.
#ifndef SRC_CHIP_PROFILE_H_
#define SRC_CHIP_PROFILE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace npu::chip {

// Limits of one task. Sizes are counts (never minus 1); "max" is the largest value that works.
struct FeatureLimits {
  uint32_t input_height_max = 0, input_width_max = 0, input_channels_max = 0;
  uint32_t output_height_max = 0, output_width_max = 0, output_channels_max = 0;
  uint32_t output_plane_max = 0;    // OW * OH
  uint32_t flying_columns_max = 0;  // columns of a task without convolution
  uint32_t kernel_max = 0;          // KH, KW
  uint32_t kernels_max = 0;         // output channels of the weight stream
  uint32_t stride_max = 0, dilation_max = 0, pad_max = 0;
  uint32_t kernel_bytes_max = 0;  // KH*KW*IC*esz of one kernel
  uint32_t data_entries_max = 0, feature_grains_max = 0;
  uint32_t out_scale_max = 0, out_shift_max = 0;  // OUT_CVT
};

// The on-chip operand buffer, shared by features (first banks) and weights.
struct Cbuf {
  uint32_t banks = 0, bank_bytes = 0, entry_bytes = 0;
  uint32_t data_banks_max = 0;  // at least one bank is left for weights
};

// Layout groups and MAC rate of one element type (rk3588-conv-matmul section 2).
struct Precision {
  std::string_view name;  // "int8"
  uint32_t bits = 0;
  uint32_t feature_c2 = 0;       // channels of one atom of a feature cube
  uint32_t weight_ic_group = 0;  // input channels stored together in a weight cube
  uint32_t kernel_group = 0;     // output channels processed together
  uint32_t depthwise_group = 0;  // channels of a depthwise block; 0: not supported
  uint32_t mac_per_cycle = 0;
};

struct Layout {
  uint32_t atom_bytes = 0;  // one pixel of one channel group
  std::span<const Precision> precisions;
};

struct Memory {
  uint32_t page_bytes = 0;
  uint64_t address_space_bytes = 0;
  uint32_t slack_bytes = 0;  // cleared bytes behind feature and weight cubes
  uint32_t command_alignment = 0, operand_alignment = 0;
  uint32_t command_words_max = 0;   // of one task
  uint32_t tasks_per_kick_max = 0;  // width of the task counter
  uint32_t job_timeout_ms = 0;      // the kernel's watchdog
};

// Parameters of the timing model (performance-facts 4.3). Modelled times carry the version and
// band.
struct Cost {
  std::string_view version;
  double band_percent = 0;
  double default_clock_mhz = 0;
  double eta = 0;                  // share of the peak MAC rate that is reached
  double dma_bytes_per_cycle = 0;  // b, one core
  double dram_share = 0;           // D = share * peak
  double dram_peak_gbps = 0;
  double feature_overlap = 0;  // q
  double dpu_elements_per_cycle = 0, dpu_lut_elements_per_cycle = 0, ppu_elements_per_cycle = 0;
  double task_us = 0, kick_us = 0, rearm_us = 0, submit_us = 0;
  double prep_us = 0, fini_us = 0, sync_gbps = 0;  // cache maintenance: constant + bytes / rate
  double power_up_us = 0;
  double pack_gbps = 0, unpack_gbps = 0, memcpy_gbps = 0;  // host, one core
};

struct Profile {
  std::string_view name;  // "rk3588"
  uint32_t cores = 0;
  FeatureLimits feature;
  Cbuf cbuf;
  Layout layout;
  Memory memory;
  Cost cost;

  // Null when the chip has no such element type.
  const Precision* FindPrecision(std::string_view precision) const;
};

// The profile of a chip by its short name ("rk3588"); null if unknown. Static storage.
const Profile* FindChip(std::string_view name);

// All chips, one line each in chip_list.inc.
std::span<const Profile* const> AllChips();

}  // namespace npu::chip

#endif  // SRC_CHIP_PROFILE_H_
