// SPDX-License-Identifier: Apache-2.0
#include "src/selftest/case_builder.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "src/base/checked.h"
#include "src/layout/pack.h"

namespace npu::selftest {
namespace {

constexpr uint32_t kPage = 4096;
// Small register values must not look like addresses.
constexpr uint32_t kFirstAddress = 0x0A000000;
constexpr uint8_t kPrefill = 0xA5;

int8_t Uniform(std::mt19937& random, int lo, int hi) {
  return static_cast<int8_t>(lo + static_cast<int>(random() % static_cast<uint32_t>(hi - lo + 1)));
}

class Builder {
 public:
  Builder(std::string name, const chip::Profile& profile) : profile_(profile) {
    file_.name = std::move(name);
    file_.chip = profile.name;
    file_.family = "built_in";
    file_.title = file_.name;
    file_.evidence = "encoder";
    file_.submits.resize(1);
    file_.submits[0].jobs.resize(1);
  }

  // A buffer of `bytes` and the chip's slack; returns its address.
  uint32_t Add(uint64_t bytes, uint8_t fill, std::span<const std::byte> contents, bool output) {
    const uint32_t address = next_;
    const auto id = static_cast<uint32_t>(file_.buffers.size() + 1);
    const uint64_t size = RoundUp<uint64_t>(bytes + profile_.memory.slack_bytes, kPage);
    file_.buffers.push_back({id, address, size});
    next_ += static_cast<uint32_t>(size) + kPage;
    device::MemoryRecord record{id, fill, {}};
    if (!contents.empty()) {
      record.segments.push_back({0, contents.size(), file_.data.size()});
      file_.data.insert(file_.data.end(), contents.begin(), contents.end());
    }
    file_.submits[0].memory.push_back(std::move(record));
    (output ? job().out : job().in).push_back(id);
    return address;
  }

  // All lists in one buffer, one behind the other as a chain needs them.
  void AddLists(std::vector<std::vector<uint64_t>> lists, bool chained) {
    std::vector<uint32_t> starts;
    uint32_t at = next_;
    for (const std::vector<uint64_t>& list : lists) {
      starts.push_back(at);
      at += static_cast<uint32_t>(list.size() * sizeof(uint64_t));
    }
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < lists.size(); ++i) {
      std::vector<uint64_t>& list = lists[i];
      // kernel-interfaces B.2: each but the last names its successor's address and length.
      if (chained && i + 1 < lists.size()) {
        uint64_t* tail = list.data() + list.size() - regs::kTailWords;
        tail[0] =
            regs::MakeWord(regs::Target::kPc, starts[i + 1], regs::rk3588::PcBaseAddress::kOffset);
        tail[1] = regs::MakeWord(regs::Target::kPc,
                                 regs::LengthCode(static_cast<uint32_t>(lists[i + 1].size())),
                                 regs::rk3588::PcRegisterAmounts::kOffset);
      }
      const auto* raw = reinterpret_cast<const std::byte*>(list.data());
      bytes.insert(bytes.end(), raw, raw + list.size() * sizeof(uint64_t));
      job().tasks.push_back({starts[i], static_cast<uint32_t>(list.size()), {}});
    }
    job().flags = chained ? 1 : 0;
    Add(bytes.size(), 0, bytes, false);
  }

  device::JobRecord& job() { return file_.submits[0].jobs[0]; }
  device::JobFile&& Take() { return std::move(file_); }

 private:
  const chip::Profile& profile_;
  device::JobFile file_;
  uint32_t next_ = kFirstAddress;
};

}  // namespace

const encode::ConvProblem& Convolution::Problem() {
  problem.weights = weights;
  problem.bias = bias;
  problem.multipliers = multipliers;
  return problem;
}

Convolution Identity(uint32_t channels, uint32_t extent, double multiplier) {
  Convolution c;
  c.problem.ic = c.problem.oc = channels;
  c.problem.ih = c.problem.iw = c.problem.oh = c.problem.ow = extent;
  c.weights.assign(size_t{channels} * channels, 0);
  for (uint32_t i = 0; i < channels; ++i) c.weights[size_t{i} * channels + i] = 1;
  c.multipliers = {multiplier};
  c.input.resize(size_t{extent} * extent * channels);
  for (size_t i = 0; i < c.input.size(); ++i) {
    c.input[i] = static_cast<int8_t>(static_cast<int>(i * 7 % 256) - 128);
  }
  return c;
}

Convolution Random(bool depthwise, uint32_t ic, uint32_t oc, uint32_t extent, uint32_t kernel,
                   uint32_t stride, bool per_channel) {
  std::mt19937 random(ic * 1000003u + oc * 10007u + extent * 101u + kernel);
  Convolution c;
  encode::ConvProblem& p = c.problem;
  p.depthwise = depthwise;
  p.ic = ic;
  p.oc = depthwise ? ic : oc;
  p.ih = p.iw = extent;
  p.kh = p.kw = kernel;
  p.sh = p.sw = stride;
  p.pad_top = p.pad_left = kernel / 2;
  p.oh = p.ow = (extent + 2 * p.pad_top - kernel) / stride + 1;
  p.in_zero_point = -3;
  p.out_zero_point = 5;
  const uint32_t taps = kernel * kernel * (depthwise ? 1 : ic);
  c.input.resize(size_t{extent} * extent * ic);
  for (int8_t& v : c.input) v = Uniform(random, -128, 127);
  c.weights.resize(size_t{taps} * p.oc);
  for (int8_t& v : c.weights) v = Uniform(random, -127, 127);
  c.bias.resize(p.oc);
  for (int32_t& v : c.bias) v = Uniform(random, -100, 100) * 16;
  // Typical sums fill the output's range.
  const double typical = 64.0 / (74.0 * 74.0 * std::sqrt(static_cast<double>(taps)));
  c.multipliers.assign(per_channel ? p.oc : 1, typical);
  for (size_t i = 0; i < c.multipliers.size(); ++i) {
    c.multipliers[i] *= 1.0 + 0.03 * static_cast<double>(i % 23);
  }
  return c;
}

Result<device::JobFile> BuildCase(std::string name, const chip::Profile& profile,
                                  const encode::EncodedOp& op, std::span<const int8_t> input,
                                  Grouping grouping, uint32_t repeat) {
  Builder builder(std::move(name), profile);
  std::vector<std::byte> cube(op.input.bytes());
  if (input.size() != uint64_t{op.input.channels} * op.input.height * op.input.width) {
    return Status(ErrorCode::kInternal, "self-test case: input of the wrong size");
  }
  layout::PackInt8(reinterpret_cast<const std::byte*>(input.data()), op.input, false, cube.data());
  const uint32_t in = builder.Add(cube.size(), 0, cube, false);
  const uint32_t weights = builder.Add(op.weights.size(), 0, op.weights, false);
  const uint32_t operands =
      op.operands.empty() ? 0 : builder.Add(op.operands.size(), 0, op.operands, false);
  std::vector<std::vector<uint64_t>> lists;
  for (uint32_t r = 0; r < repeat; ++r) {
    const uint32_t out = builder.Add(op.output.bytes(), kPrefill, {}, true);
    const auto address = [&](encode::Slot slot) {
      if (slot == encode::Slot::kInput) return in;
      if (slot == encode::Slot::kOutput) return out;
      return slot == encode::Slot::kWeights ? weights : operands;
    };
    for (const encode::TaskProgram& task : op.tasks) {
      std::vector<uint64_t> words = task.words;
      for (const encode::Relocation& relocation : task.relocations) {
        words[relocation.word] |= uint64_t{address(relocation.slot) + relocation.offset} << 16;
      }
      lists.push_back(std::move(words));
    }
  }
  builder.AddLists(std::move(lists), grouping == Grouping::kChained);
  device::JobFile file = builder.Take();
  NPU_RETURN_IF_ERROR(device::ValidateJobFile(file));
  return file;
}

}  // namespace npu::selftest
