// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/selftest/faulty_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "gen/rk3588/registers.h"

#include "src/regs/command.h"

namespace npu::selftest {
namespace {

namespace r = regs::rk3588;
using regs::Var;

constexpr size_t kLanes = 32, kDeadLane = 5;

// Every Reg of the lists, changed.
template <typename Reg, typename F>
void Change(std::span<std::byte> list, F&& change) {
  for (size_t at = 0; at + sizeof(uint64_t) <= list.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, list.data() + at, sizeof word);
    const regs::CommandWord split = regs::Split(word);
    if (split.offset != Reg::kOffset || regs::BlockOf(split.target) != Reg::kBlock) continue;
    Reg reg = r::Decode<Reg>(split.value);
    change(reg);
    word = *regs::MakeWord(reg);
    std::memcpy(list.data() + at, &word, sizeof word);
  }
}

uint32_t Read(std::span<const std::byte> list, uint16_t offset) {
  uint32_t value = 0;
  for (size_t at = 0; at + sizeof(uint64_t) <= list.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, list.data() + at, sizeof word);
    if (regs::Split(word).offset == offset) value = regs::Split(word).value;
  }
  return value;
}

// Reports what it holds to the device; may lose the CPU's last byte.
class FaultyBuffer : public device::Buffer {
 public:
  FaultyBuffer(std::unique_ptr<device::Buffer> inner, Fault fault)
      : inner_(std::move(inner)), fault_(fault) {
    if (fault == Fault::kDirtyBuffers) inner_->bytes()[7] = std::byte{1};
  }
  device::Buffer* inner() const { return inner_.get(); }
  uint32_t iova() const override { return inner_->iova(); }
  std::span<std::byte> bytes() const override { return inner_->bytes(); }
  Status BeginCpuAccess() override {
    if (fault_ == Fault::kLostWrites) inner_->bytes().back() = std::byte{0};
    return inner_->BeginCpuAccess();
  }
  Status EndCpuAccess() override { return inner_->EndCpuAccess(); }

 private:
  std::unique_ptr<device::Buffer> inner_;
  const Fault fault_;
};

class FaultyDevice : public device::Device {
 public:
  FaultyDevice(std::shared_ptr<device::Device> inner, Fault fault)
      : inner_(std::move(inner)), fault_(fault) {}

  const device::DeviceInfo& info() const override { return inner_->info(); }
  device::DeviceStatistics statistics() const override { return inner_->statistics(); }

  Result<std::unique_ptr<device::Buffer>> Allocate(uint64_t bytes) override {
    NPU_ASSIGN_OR_RETURN(std::unique_ptr<device::Buffer> inner, inner_->Allocate(bytes));
    return std::unique_ptr<device::Buffer>(
        std::make_unique<FaultyBuffer>(std::move(inner), fault_));
  }

  Status Run(const device::Job& job, device::JobReport* report) override {
    if (fault_ == Fault::kDropsJobs) {
      if (report != nullptr) *report = {.completed = true, .failure = {}, .diagnostics = {}};
      return OkStatus();
    }
    device::Job changed{.tasks = job.tasks, .inputs = {}, .outputs = {}, .chained = job.chained};
    for (const auto* b : job.inputs) changed.inputs.push_back(Inner(b));
    for (const auto* b : job.outputs) changed.outputs.push_back(Inner(b));
    std::map<const device::Buffer*, std::vector<std::byte>> before;
    for (const device::Buffer* b : changed.inputs) {
      before[b].assign(b->bytes().begin(), b->bytes().end());
    }
    for (const device::Task& task : changed.tasks) Plant(task, changed);
    if (fault_ == Fault::kLastTask && changed.tasks.size() > 1) changed.tasks.pop_back();
    const Status status = inner_->Run(changed, report);
    for (const auto& [b, bytes] : before) std::ranges::copy(bytes, b->bytes().begin());
    // Behind the payload, in the last guard page (bench.h).
    if (fault_ == Fault::kWritesBeyond) {
      const auto bytes = changed.outputs[0]->bytes();
      bytes[bytes.size() - 4096] = std::byte{0};
    }
    if (fault_ == Fault::kWritesInput) changed.inputs[0]->bytes()[4096] ^= std::byte{1};
    return status;
  }

 private:
  static const device::Buffer* Inner(const device::Buffer* buffer) {
    return static_cast<const FaultyBuffer*>(buffer)->inner();
  }

  static std::span<std::byte> At(const device::Job& job, uint32_t iova, size_t bytes) {
    for (const auto* list : {&job.inputs, &job.outputs}) {
      for (const device::Buffer* b : *list) {
        if (iova >= b->iova() && iova + bytes <= b->iova() + b->bytes().size()) {
          return b->bytes().subspan(iova - b->iova(), bytes);
        }
      }
    }
    return {};
  }

  void Plant(const device::Task& task, const device::Job& job) const {
    const auto list = At(job, task.regcmd, task.count * sizeof(uint64_t));
    switch (fault_) {
      case Fault::kRoundsAway:
        return Change<r::DpuOutCvtShift>(list,
                                         [](auto& reg) { reg.cvt_round = r::RoundMode::kHalfUp; });
      case Fault::kSurfaceStride:
        return Change<r::DpuDstSurfStride>(
            list, [](auto& reg) { reg.dst_surf_stride = Var(reg.dst_surf_stride.get() + 16); });
      case Fault::kNoLimit:
        return Change<r::DpuBnCfg>(list, [](auto& reg) { reg.bn_relux_en = Var(0); });
      case Fault::kPadZero:
        return Change<r::CnaPadCon1>(list, [](auto& reg) { reg.pad_value = Var(0); });
      case Fault::kNoMultiplier:
        return Change<r::DpuBsCfg>(list, [](auto& reg) { reg.bs_mul_bypass = Var(1); });
      case Fault::kOffsetByOne:
        return Change<r::DpuOutCvtOffset>(
            list, [](auto& reg) { reg.out_cvt_offset = Var(reg.out_cvt_offset.get() + 1); });
      case Fault::kWeightLane: {
        const auto weights =
            At(job, Read(list, r::CnaDcompAddr0::kOffset), Read(list, r::CnaWeightSize0::kOffset));
        for (size_t i = kDeadLane; i < weights.size(); i += kLanes) weights[i] = std::byte{0};
        return;
      }
      default:
        return;
    }
  }

  const std::shared_ptr<device::Device> inner_;
  const Fault fault_;
};

}  // namespace

std::shared_ptr<device::Device> PlantFault(std::shared_ptr<device::Device> inner, Fault fault) {
  return std::make_shared<FaultyDevice>(std::move(inner), fault);
}

}  // namespace npu::selftest
