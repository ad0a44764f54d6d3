// SPDX-License-Identifier: Apache-2.0
// The start-up checks. Both programs have the shapes of published gate tests of the silicon; a
// register that is not set here has its neutral word.
#include "src/device/rocket_checks.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "src/regs/command.h"

namespace npu::device {
namespace {

namespace r = regs::rk3588;

// Writes of one list by register, all of its blocks, because a core keeps what the job before
// wrote. Finish adds pointers in front and the tail.
class List {
 public:
  explicit List(std::vector<regs::Block> blocks) : blocks_(std::move(blocks)) {
    for (const regs::RegisterInfo& info : r::Registers()) {
      for (const regs::Block block : blocks_) {
        if (info.block == block && info.banked && info.name != "OPERATION_ENABLE") {
          words_[info.offset] =
              regs::MakeWord(*regs::TargetOf(block), info.neutral.value_or(0), info.offset);
        }
      }
    }
    words_.erase(r::CnaClkGate::kOffset);
    words_.erase(r::CoreMacGating::kOffset);
  }

  template <typename Reg>
  void Set(const Reg& reg) {
    Result<uint64_t> word = regs::MakeWord(reg);
    if (word.ok()) words_[Reg::kOffset] = *word;
    if (!word.ok()) status_ = word.status();
  }

  // `pointers`: group pointers the list itself has to write (the kernel writes CNA's and CORE's).
  Result<std::vector<uint64_t>> Finish(std::span<const uint64_t> pointers) const {
    NPU_RETURN_IF_ERROR(status_);
    std::vector<uint64_t> list(pointers.begin(), pointers.end());
    for (const auto& [offset, word] : words_) list.push_back(word);
    if (list.size() % 2 != 0) list.push_back(regs::kNopWord);
    uint32_t mask = 0;
    for (const regs::Block block : blocks_) mask |= uint32_t{1} << *regs::EnableBitOf(block);
    list.push_back(regs::kNopWord);
    list.push_back(regs::MakeWord(regs::Target::kPc, 0, r::PcRegisterAmounts::kOffset));
    list.push_back(regs::kSyncWord);
    list.push_back(regs::EnableWord(mask));
    return list;
  }

 private:
  const std::vector<regs::Block> blocks_;
  std::map<uint16_t, uint64_t> words_;
  Status status_;
};

// Places in the one data buffer. Readers may run a bank (32 KiB) past the end of a cube.
constexpr uint32_t kInput = 0, kWeights = 0x2000, kMiddle = 0x3000, kOutput = 0x4000;
constexpr uint32_t kDataBytes = 0x10000;
constexpr uint32_t kCanaryBytes = 16;

// 8 x 8 pixels, 32 channels in and out: two surfaces of 16 channels.
constexpr uint32_t kSide = 8, kChannels = 32, kCubeBytes = kSide * kSide * kChannels;

// An int8 1x1 convolution that doubles its input.
Result<std::vector<uint64_t>> DoublingList(uint32_t input, uint32_t weights, uint32_t output) {
  List list({regs::Block::kCna, regs::Block::kCore, regs::Block::kDpu, regs::Block::kDpuRdma});
  using regs::Var;
  list.Set(r::CnaConvCon2{.feature_grains = kSide + 1});
  list.Set(r::CnaConvCon3{.conv_x_stride = 1, .conv_y_stride = 1});
  list.Set(r::CnaDataSize0{.datain_height = kSide, .datain_width = kSide});
  list.Set(r::CnaDataSize1{.datain_channel = kChannels, .datain_channel_real = kChannels - 1});
  list.Set(r::CnaDataSize2{.dataout_width = kSide});
  list.Set(r::CnaDataSize3{.dataout_atomics = kSide * kSide});
  list.Set(r::CnaWeightSize0{.weight_bytes = kChannels * kChannels});
  list.Set(r::CnaWeightSize1{.weight_bytes_per_kernel = kChannels});
  list.Set(r::CnaWeightSize2{.weight_kernels = kChannels, .weight_height = 1, .weight_width = 1});
  list.Set(r::CnaCbufCon0{.data_bank = 2, .weight_bank = 10});
  list.Set(r::CnaCbufCon1{.data_entries = kSide * kChannels / 64});
  list.Set(r::CnaFeatureDataAddr{.feature_base_addr = Var(input)});
  list.Set(r::CnaDmaCon1{.line_stride = 4 * kSide});
  list.Set(r::CnaDmaCon2{.surf_stride = kSide * (kSide - 4)});
  list.Set(r::CnaFcDataSize0{.dma_height = kSide, .dma_width = kSide});
  list.Set(r::CnaFcDataSize1{.dma_channel = kChannels});
  list.Set(r::CnaDcompAddr0{.decompress_addr0 = Var(weights)});
  list.Set(r::CoreMiscCfg{.qd_en = 1});
  list.Set(r::CoreDataoutSize0{.dataout_width = kSide - 1, .dataout_height = kSide - 1});
  list.Set(r::CoreDataoutSize1{.dataout_channel = kChannels - 1});
  list.Set(r::DpuFeatureModeCfg{.output_mode = r::OutputMode::kToMemory,
                                .burst_len = r::BurstLen::kBurst16});
  list.Set(r::DpuDstBaseAddr{.dst_base_addr = Var(output)});
  list.Set(r::DpuDstSurfStride{.dst_surf_stride = kSide * kSide});
  list.Set(r::DpuDataCubeWidth{.width = kSide - 1});
  list.Set(r::DpuDataCubeHeight{.height = kSide - 1});
  list.Set(r::DpuDataCubeChannel{.channel = kChannels - 1, .orig_channel = kChannels - 1});
  list.Set(r::DpuBsOwCfg{.size_e_0 = 1, .size_e_1 = 1, .size_e_2 = 1});
  list.Set(r::DpuWdmaSize0{.channel_wdma = kChannels - 1});
  list.Set(r::DpuWdmaSize1{.width_wdma = kSide - 1, .height_wdma = kSide - 1});
  list.Set(r::DpuSurfaceAdd{.surf_add = kSide * kSide * 2});
  list.Set(r::DpuRdmaDataCubeWidth{.width = kSide - 1});
  list.Set(r::DpuRdmaDataCubeHeight{.height = kSide - 1});
  list.Set(r::DpuRdmaDataCubeChannel{.channel = kChannels - 1});
  const uint64_t pointers[] = {
      regs::MakeWord(regs::Target::kDpu, r::DpuSPointer::kNeutral, r::DpuSPointer::kOffset),
      regs::MakeWord(regs::Target::kDpuRdma, r::DpuRdmaSPointer::kNeutral,
                     r::DpuRdmaSPointer::kOffset)};
  return list.Finish(pointers);
}

// An fp16 max pool 2x2 with stride 2, 8 channels, 4x4 -> 2x2 pixels.
Result<std::vector<uint64_t>> PoolList(uint32_t input, uint32_t output) {
  List list({regs::Block::kPpu, regs::Block::kPpuRdma});
  using regs::Var;
  list.Set(r::PpuDataCubeInWidth{.cube_in_width = 3});
  list.Set(r::PpuDataCubeInHeight{.cube_in_height = 3});
  list.Set(r::PpuDataCubeInChannel{.cube_in_channel = 7});
  list.Set(r::PpuDataCubeOutWidth{.cube_out_width = 1});
  list.Set(r::PpuDataCubeOutHeight{.cube_out_height = 1});
  list.Set(r::PpuDataCubeOutChannel{.cube_out_channel = 7});
  list.Set(r::PpuOperationModeCfg{.pooling_method = r::PoolMethod::kMax, .flying_mode = 1});
  list.Set(r::PpuPoolingKernelCfg{
      .kernel_width = 1, .kernel_height = 1, .kernel_stride_width = 1, .kernel_stride_height = 1});
  list.Set(r::PpuDstBaseAddr{.dst_base_addr = Var(output)});
  list.Set(r::PpuDstSurfStride{.dst_surf_stride = 4});
  list.Set(r::PpuDataFormat{.proc_precision = r::PrecisionDpu::kFp16, .index_add = 4});
  list.Set(r::PpuRdmaCubeInWidth{.cube_in_width = 3});
  list.Set(r::PpuRdmaCubeInHeight{.cube_in_height = 3});
  list.Set(r::PpuRdmaCubeInChannel{.cube_in_channel = 7});
  list.Set(r::PpuRdmaSrcBaseAddr{.src_base_addr = Var(input)});
  list.Set(r::PpuRdmaSrcLineStride{.src_line_stride = 4});
  list.Set(r::PpuRdmaSrcSurfStride{.src_surf_stride = 16});
  list.Set(r::PpuRdmaDataFormat{.in_precision = r::DataBits::kBits16});
  const uint64_t pointers[] = {
      regs::MakeWord(regs::Target::kPpu, r::PpuSPointer::kNeutral, r::PpuSPointer::kOffset),
      regs::MakeWord(regs::Target::kPpuRdma, r::PpuRdmaSPointer::kNeutral,
                     r::PpuRdmaSPointer::kOffset)};
  return list.Finish(pointers);
}

struct Probe {
  std::unique_ptr<Buffer> data, commands;
};

Result<Probe> MakeProbe(Device* device) {
  Probe probe;
  NPU_ASSIGN_OR_RETURN(probe.data, device->Allocate(kDataBytes));
  NPU_ASSIGN_OR_RETURN(probe.commands, device->Allocate(4096));
  return probe;
}

// Runs the tasks and compares the output region.
Status RunProbe(Device* device, const Probe& probe, std::vector<Task> tasks,
                std::span<const std::byte> expected) {
  NPU_RETURN_IF_ERROR(probe.data->EndCpuAccess());
  NPU_RETURN_IF_ERROR(probe.commands->EndCpuAccess());
  Job job;
  job.chained = tasks.size() > 1;
  job.tasks = std::move(tasks);
  job.inputs = {probe.commands.get()};
  job.outputs = {probe.data.get()};
  job.canary = {probe.data.get(), kOutput, kCanaryBytes};
  NPU_RETURN_IF_ERROR(device->Run(job, nullptr));
  NPU_RETURN_IF_ERROR(probe.data->BeginCpuAccess());
  if (std::memcmp(probe.data->bytes().data() + kOutput, expected.data(), expected.size()) != 0) {
    return Status(ErrorCode::kDeviceFault, "the start-up check gave a wrong result");
  }
  return OkStatus();
}

}  // namespace

Status ProveChains(Device* device) {
  NPU_ASSIGN_OR_RETURN(const Probe probe, MakeProbe(device));
  std::byte* const data = probe.data->bytes().data();
  const uint32_t base = probe.data->iova(), commands = probe.commands->iova();
  std::vector<std::byte> expected(kCubeBytes);
  for (uint32_t i = 0; i < kCubeBytes; ++i) {
    const int value = static_cast<int>(i * 7 % 61) - 30;
    data[kInput + i] = static_cast<std::byte>(value);
    expected[i] = static_cast<std::byte>(4 * value);
  }
  for (uint32_t c = 0; c < kChannels; ++c) data[kWeights + c * kChannels + c] = std::byte{2};
  NPU_ASSIGN_OR_RETURN(std::vector<uint64_t> first,
                       DoublingList(base + kInput, base + kWeights, base + kMiddle));
  NPU_ASSIGN_OR_RETURN(const std::vector<uint64_t> second,
                       DoublingList(base + kMiddle, base + kWeights, base + kOutput));
  const auto count = static_cast<uint32_t>(first.size());
  const uint32_t next = commands + count * static_cast<uint32_t>(sizeof(uint64_t));
  first[count - 4] = regs::MakeWord(regs::Target::kPc, next, r::PcBaseAddress::kOffset);
  first[count - 3] =
      regs::MakeWord(regs::Target::kPc, regs::LengthCode(count), r::PcRegisterAmounts::kOffset);
  first.insert(first.end(), second.begin(), second.end());
  std::memcpy(probe.commands->bytes().data(), first.data(), first.size() * sizeof(uint64_t));
  return RunProbe(device, probe, {{commands, count}, {next, count}}, expected);
}

Status ProvePpu(Device* device) {
  NPU_ASSIGN_OR_RETURN(const Probe probe, MakeProbe(device));
  // Positive halves order as their bit patterns do; the largest of a window is its last pixel.
  constexpr uint32_t kPixels = 4, kLanes = 8;
  std::vector<uint16_t> input(kPixels * kPixels * kLanes), expected(4 * kLanes);
  for (uint32_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint16_t>(0x3C00 + i);
  for (uint32_t i = 0; i < expected.size(); ++i) {
    const uint32_t lane = i % kLanes, x = i / kLanes % 2, y = i / kLanes / 2;
    expected[i] = input[((2 * y + 1) * kPixels + 2 * x + 1) * kLanes + lane];
  }
  std::memcpy(probe.data->bytes().data() + kInput, input.data(), input.size() * 2);
  NPU_ASSIGN_OR_RETURN(const std::vector<uint64_t> list,
                       PoolList(probe.data->iova() + kInput, probe.data->iova() + kOutput));
  std::memcpy(probe.commands->bytes().data(), list.data(), list.size() * sizeof(uint64_t));
  return RunProbe(device, probe, {{probe.commands->iova(), static_cast<uint32_t>(list.size())}},
                  std::as_bytes(std::span(expected)));
}

}  // namespace npu::device
