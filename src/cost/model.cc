// SPDX-License-Identifier: Apache-2.0
#include "src/cost/model.h"

#include <algorithm>

#include "src/base/checked.h"

namespace npu::cost {
namespace {

constexpr double kNsPerUs = 1000.0;

uint64_t Groups(uint64_t channels, uint32_t group) {
  return group == 0 ? 0 : CeilDiv<uint64_t>(channels, group);
}

// Cycles of the MAC array for one convolution: one group of kernels, one group of input channels
// and one tap take a cycle a pixel, whatever the precision (the groups scale with it).
uint64_t MacCycles(const ConvExtents& conv, const chip::Precision& precision) {
  const uint64_t taps = uint64_t{conv.kh} * conv.kw;
  if (conv.depthwise) return conv.pixels * Groups(conv.ic, precision.depthwise_group) * taps;
  const uint64_t kernels = Groups(conv.oc, precision.kernel_group);
  if (conv.packed_image) {
    return conv.pixels * kernels * std::max<uint64_t>(1, Groups(conv.ic * taps, 32));
  }
  return conv.pixels * kernels * Groups(conv.ic, precision.weight_ic_group) * taps;
}

double ToDouble(uint64_t v) { return static_cast<double>(v); }

}  // namespace

TaskTerms TermsOf(const ConvExtents& conv, const chip::Precision& precision) {
  TaskTerms terms;
  terms.mac_cycles = MacCycles(conv, precision);
  const uint64_t taps = uint64_t{conv.kh} * conv.kw;
  const uint64_t ic_atoms = RoundUp<uint64_t>(conv.ic, precision.feature_c2);
  if (!conv.features_resident) {
    terms.feature_bytes =
        conv.input_pixels * (conv.packed_image ? conv.ic : ic_atoms) * conv.input_bytes;
  }
  if (!conv.weights_resident) {
    const uint64_t kernels =
        conv.depthwise ? 1 : RoundUp<uint64_t>(conv.oc, precision.kernel_group);
    const uint64_t channels =
        conv.depthwise ? RoundUp<uint64_t>(conv.ic, std::max(1u, precision.depthwise_group))
                       : RoundUp<uint64_t>(conv.ic, precision.weight_ic_group);
    terms.weight_bytes = kernels * channels * taps * conv.input_bytes;
  }
  const uint64_t oc = conv.depthwise ? conv.ic : conv.oc;
  terms.output_bytes = conv.pixels * RoundUp<uint64_t>(oc, 16) * conv.output_bytes;
  terms.elements = conv.pixels * RoundUp<uint64_t>(oc, conv.depthwise ? 16 : 32);
  return terms;
}

TaskTerms TermsOf(const ElementwiseExtents& task) {
  const uint64_t channels = RoundUp<uint64_t>(task.channels, std::max(1u, task.lanes));
  TaskTerms terms;
  terms.elements = task.pixels * channels;
  terms.feature_bytes = terms.elements * task.input_bytes;
  terms.output_bytes = terms.elements * task.output_bytes;
  if (task.inputs > 1) terms.output_bytes += (task.inputs - 1) * terms.feature_bytes;
  return terms;
}

TaskTerms TermsOf(const PoolExtents& task) {
  const uint64_t channels = RoundUp<uint64_t>(task.channels, std::max(1u, task.lanes));
  TaskTerms terms;
  terms.unit = TaskTerms::Unit::kPpu;
  terms.elements = task.input_pixels * channels;
  terms.feature_bytes = terms.elements * task.element_bytes;
  terms.output_bytes = task.output_pixels * channels * task.element_bytes;
  return terms;
}

Model::Model(const chip::Cost& parameters, const Conditions& conditions) : parameters_(parameters) {
  const double mhz =
      conditions.clock_mhz > 0 ? conditions.clock_mhz : parameters_.default_clock_mhz;
  clock_ghz_ = mhz / 1000.0;
  const double dram = parameters_.dram_share * parameters_.dram_peak_gbps;
  bandwidth_gbps_ = std::min(parameters_.dma_bytes_per_cycle * clock_ghz_,
                             dram / std::max(1u, conditions.active_cores));
}

TaskTime Model::Task(const TaskTerms& terms) const {
  double rate = parameters_.dpu_elements_per_cycle;
  if (terms.unit == TaskTerms::Unit::kDpuWithLut) rate = parameters_.dpu_lut_elements_per_cycle;
  if (terms.unit == TaskTerms::Unit::kPpu) rate = parameters_.ppu_elements_per_cycle;
  TaskTime time;
  time.fixed_us = parameters_.task_us;
  time.dpu_us = ToDouble(terms.elements) / (rate * clock_ghz_) / kNsPerUs;
  const double feature_us = ToDouble(terms.feature_bytes) / bandwidth_gbps_ / kNsPerUs;
  const double stream_us =
      ToDouble(terms.weight_bytes + terms.output_bytes) / bandwidth_gbps_ / kNsPerUs;
  if (terms.mac_cycles == 0) {
    time.dma_us = feature_us + stream_us;
  } else {
    time.feature_us = (1.0 - parameters_.feature_overlap) * feature_us;
    time.dma_us = parameters_.feature_overlap * feature_us + stream_us;
    time.mac_us = ToDouble(terms.mac_cycles) / (parameters_.eta * clock_ghz_) / kNsPerUs;
  }
  time.total_us =
      time.fixed_us + time.feature_us + std::max({time.mac_us, time.dma_us, time.dpu_us});
  return time;
}

double Model::KickUs(std::span<const TaskTerms> tasks) const {
  double total = parameters_.kick_us;
  for (const TaskTerms& terms : tasks) total += Task(terms).total_us;
  return total;
}

double Model::JobUs(double kick_total_us, uint32_t kicks) const {
  return kick_total_us + parameters_.rearm_us * (kicks > 1 ? kicks - 1 : 0);
}

double Model::SubmitUs(double job_us, uint64_t fini_bytes, uint64_t prep_bytes) const {
  const auto sync_us = [this](uint64_t bytes) {
    return ToDouble(bytes) / parameters_.sync_gbps / kNsPerUs;
  };
  return parameters_.fini_us + sync_us(fini_bytes) + parameters_.submit_us + job_us +
         parameters_.prep_us + sync_us(prep_bytes);
}

}  // namespace npu::cost
