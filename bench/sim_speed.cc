// SPDX-License-Identifier: Apache-2.0
// How fast the simulator computes: whole encoded int8 convolutions through the device seam, command
// fetch, packing and requantization included. Prints one JSON object a line. Run by run_bench.py,
// which times the same convolutions on the CPU interpreter.
//
// Usage: bench_sim_speed CASE THREADS REPEATS [clear]    CASE: 3x3 or 1x1
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "src/chip/profile.h"
#include "src/device/open.h"
#include "src/encode/conv.h"

namespace npu {
namespace {

struct Case {
  std::string_view name;
  uint32_t size, ic, oc, kernel;
};
constexpr Case kCases[] = {{"3x3", 56, 128, 128, 3}, {"1x1", 28, 256, 256, 1}};

int Fail(const Status& status) {
  fmt::print(stderr, "bench_sim_speed: {}\n", status.message());
  return 1;
}

Result<encode::EncodedOp> Encode(const Case& c) {
  std::mt19937 random(1);
  std::vector<int8_t> weights(size_t{c.oc} * c.kernel * c.kernel * c.ic);
  for (int8_t& w : weights) w = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
  std::vector<double> multipliers(c.oc);
  for (double& m : multipliers) m = 0.0002 + 0.0002 * static_cast<double>(random() % 1000) / 1000;
  const std::vector<int32_t> bias(c.oc, 100);
  return encode::EncodeConv(*chip::FindChip("rk3588"), {.ic = c.ic,
                                                        .ih = c.size,
                                                        .iw = c.size,
                                                        .oc = c.oc,
                                                        .oh = c.size,
                                                        .ow = c.size,
                                                        .kh = c.kernel,
                                                        .kw = c.kernel,
                                                        .pad_top = c.kernel / 2,
                                                        .pad_left = c.kernel / 2,
                                                        .weights = weights,
                                                        .bias = bias,
                                                        .multipliers = multipliers});
}

// The operation's buffers on a device, and the job that runs it.
class Prepared {
 public:
  Status Init(device::Device* device, const encode::EncodedOp& op) {
    NPU_RETURN_IF_ERROR(Add(device, encode::Slot::kInput, op.input.bytes(), {}));
    NPU_RETURN_IF_ERROR(Add(device, encode::Slot::kOutput, op.output.bytes(), {}));
    NPU_RETURN_IF_ERROR(Add(device, encode::Slot::kWeights, op.weights.size(), op.weights));
    NPU_RETURN_IF_ERROR(Add(device, encode::Slot::kOperands, op.operands.size(), op.operands));
    std::mt19937 random(2);
    for (std::byte& b : buffers_[encode::Slot::kInput]->bytes()) {
      b = static_cast<std::byte>(random());
    }
    for (const encode::TaskProgram& task : op.tasks) NPU_RETURN_IF_ERROR(AddTask(device, task));
    for (const auto& [slot, buffer] : buffers_) {
      (slot == encode::Slot::kOutput ? job_.outputs : job_.inputs).push_back(buffer.get());
    }
    for (const auto& list : lists_) job_.inputs.push_back(list.get());
    return OkStatus();
  }
  const device::Job& job() const { return job_; }

 private:
  Status Add(device::Device* device, encode::Slot slot, size_t bytes,
             const std::vector<std::byte>& contents) {
    constexpr size_t kSlack = 32 * 1024;  // the feature DMA may read one bank past the end
    NPU_ASSIGN_OR_RETURN(buffers_[slot], device->Allocate(bytes + kSlack));
    std::copy(contents.begin(), contents.end(), buffers_[slot]->bytes().begin());
    return OkStatus();
  }

  Status AddTask(device::Device* device, const encode::TaskProgram& task) {
    std::vector<uint64_t> words = task.words;
    for (const encode::Relocation& r : task.relocations) {
      words[r.word] |= uint64_t{buffers_.at(r.slot)->iova() + r.offset} << 16;
    }
    NPU_ASSIGN_OR_RETURN(auto list, device->Allocate(words.size() * sizeof(uint64_t)));
    std::memcpy(list->bytes().data(), words.data(), words.size() * sizeof(uint64_t));
    job_.tasks.push_back({list->iova(), static_cast<uint32_t>(words.size())});
    lists_.push_back(std::move(list));
    return OkStatus();
  }

  std::map<encode::Slot, std::unique_ptr<device::Buffer>> buffers_;
  std::vector<std::unique_ptr<device::Buffer>> lists_;
  device::Job job_;
};

int RunCase(const Case& c, size_t threads, int repeats, bool clear) {
  auto op = Encode(c);
  if (!op.ok()) return Fail(op.status());
  auto device = device::Open(
      {.provider = "sim", .sim_fast = !clear, .pool = std::make_shared<WorkerPool>(threads)});
  if (!device.ok()) return Fail(device.status());
  Prepared prepared;
  if (const Status s = prepared.Init(device->get(), *op); !s.ok()) return Fail(s);
  std::vector<double> microseconds;
  for (int i = -2; i < repeats; ++i) {  // two runs to warm up
    const auto start = std::chrono::steady_clock::now();
    if (const Status s = (*device)->Run(prepared.job(), nullptr); !s.ok()) return Fail(s);
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    if (i >= 0) microseconds.push_back(elapsed.count());
  }
  std::sort(microseconds.begin(), microseconds.end());
  fmt::print(
      "{{\"case\": \"{}\", \"threads\": {}, \"path\": \"{}\", \"tasks\": {}, \"macs\": {}, "
      "\"best_us\": {:.1f}, \"median_us\": {:.1f}}}\n",
      c.name, threads, clear ? "clear" : "fast", op->tasks.size(), op->macs, microseconds.front(),
      microseconds[microseconds.size() / 2]);
  return 0;
}

int Main(int argc, char** argv) {
  size_t threads = 0;
  int repeats = 0;
  const auto parse = [](std::string_view text, auto* value) {
    return std::from_chars(text.data(), text.data() + text.size(), *value).ec == std::errc{};
  };
  if (argc < 4 || !parse(argv[2], &threads) || !parse(argv[3], &repeats) || repeats < 1) {
    fmt::print(stderr, "usage: bench_sim_speed 3x3|1x1 THREADS REPEATS [clear]\n");
    return 2;
  }
  const bool clear = argc > 4 && std::string_view(argv[4]) == "clear";
  for (const Case& c : kCases) {
    if (c.name == argv[1]) return RunCase(c, threads, repeats, clear);
  }
  fmt::print(stderr, "bench_sim_speed: unknown case {}\n", argv[1]);
  return 2;
}

}  // namespace
}  // namespace npu

int main(int argc, char** argv) { return npu::Main(argc, argv); }
