// SPDX-License-Identifier: Apache-2.0
// Makes a job file of an operation that our own encoders produced, so that built-in cases and
// micro-tests run through the same code as recorded ones.
#ifndef SRC_SELFTEST_CASE_BUILDER_H_
#define SRC_SELFTEST_CASE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gen/rk3588/registers.h"

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/device/job_file.h"
#include "src/encode/conv.h"
#include "src/regs/command.h"

namespace npu::selftest {

// A convolution with all its tensors; spans of `problem` point into the vectors here.
struct Convolution {
  encode::ConvProblem problem;
  std::vector<int8_t> input;  // [ih][iw][ic]
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;
  std::vector<double> multipliers;

  Convolution() = default;
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;
  Convolution(Convolution&&) = default;
  Convolution& operator=(Convolution&&) = default;

  // Sets the spans; call before encoding.
  const encode::ConvProblem& Problem();
};

// A 1x1 convolution of `channels` channels on an `extent` x `extent` plane that multiplies every
// input by 1, without bias and zero points: accumulators are the inputs.
Convolution Identity(uint32_t channels, uint32_t extent, double multiplier);
// Pseudo-random tensors, the same at every call. Depthwise: oc is ignored.
Convolution Random(bool depthwise, uint32_t ic, uint32_t oc, uint32_t extent, uint32_t kernel,
                   uint32_t stride, bool per_channel);

enum class Grouping : uint8_t {
  kOneJob,   // all tasks in one job, one kick each
  kChained,  // one kick: linked lists
};

// The job file: input, weights, operands, lists and an output that is filled with 0xA5. Tasks in
// the encoder's order; `repeat` > 1 runs the whole list again with another output buffer each time.
Result<device::JobFile> BuildCase(std::string name, const chip::Profile& profile,
                                  const encode::EncodedOp& op, std::span<const int8_t> input,
                                  Grouping grouping, uint32_t repeat = 1);

// Calls change(register) for every word that writes the register.
template <typename Reg, typename F>
void PatchWords(std::span<uint64_t> words, F&& change) {
  for (uint64_t& word : words) {
    const regs::CommandWord split = regs::Split(word);
    if (split.offset != Reg::kOffset || regs::BlockOf(split.target) != Reg::kBlock) continue;
    Reg reg = regs::rk3588::Decode<Reg>(split.value);
    change(reg);
    const Result<uint64_t> changed = regs::MakeWord(reg);
    if (changed.ok()) word = *changed;
  }
}
template <typename Reg, typename F>
void Patch(encode::EncodedOp* op, F&& change) {
  for (encode::TaskProgram& task : op->tasks) PatchWords<Reg>(task.words, change);
}

}  // namespace npu::selftest

#endif  // SRC_SELFTEST_CASE_BUILDER_H_
