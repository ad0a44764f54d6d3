// SPDX-License-Identifier: Apache-2.0
#include "src/encode/rk3588/list_builder.h"

#include <array>
#include <optional>
#include <span>
#include <string>

#include "src/base/checked.h"

namespace npu::encode::rk3588 {
namespace {

namespace r = regs::rk3588;

constexpr std::array kConvolution = {regs::Block::kCna, regs::Block::kCore, regs::Block::kDpu,
                                     regs::Block::kDpuRdma};
constexpr std::array kElementwise = {regs::Block::kDpu, regs::Block::kDpuRdma};
constexpr std::array kPool = {regs::Block::kPpu, regs::Block::kPpuRdma};

std::span<const regs::Block> BlocksOf(ListBuilder::Unit unit) {
  switch (unit) {
    case ListBuilder::Unit::kElementwise:
      return kElementwise;
    case ListBuilder::Unit::kPool:
      return kPool;
    case ListBuilder::Unit::kConvolution:
      break;
  }
  return kConvolution;
}

// Launched blocks. DPU_RDMA is always configured and launched with DPU: leaving it out hangs while
// it is in reset state (registers-rk3588 8.3).
uint32_t EnableMask(ListBuilder::Unit unit) {
  uint32_t mask = 0;
  for (const regs::Block block : BlocksOf(unit)) mask |= uint32_t{1} << *regs::EnableBitOf(block);
  return mask;
}

// Status and pointer registers, launches (the mask does it) and clock gating are not configuration.
bool IsConfiguration(const regs::RegisterInfo& info) {
  return info.banked && info.name != "OPERATION_ENABLE" && info.offset != r::CnaClkGate::kOffset &&
         info.offset != r::CoreMacGating::kOffset;
}

}  // namespace

ListBuilder::ListBuilder(Unit unit) : unit_(unit) {
  for (const regs::RegisterInfo& info : r::Registers()) {
    for (const regs::Block block : BlocksOf(unit)) {
      if (info.block != block || !IsConfiguration(info)) continue;
      body_[info.offset] =
          regs::MakeWord(*regs::TargetOf(block), info.neutral.value_or(0), info.offset);
    }
  }
}

void ListBuilder::Relocate(uint16_t reg, const char* name, Slot slot, uint64_t offset) {
  if (FitsIn<uint32_t>(offset)) {
    open_.push_back({reg, slot, static_cast<uint32_t>(offset)});
  } else if (status_.ok()) {
    status_ = Status(ErrorCode::kOutOfRange,
                     std::string(name) + ": offset " + std::to_string(offset) + " exceeds 32 bits");
  }
}

Result<TaskProgram> ListBuilder::Finish() const {
  NPU_RETURN_IF_ERROR(status_);
  TaskProgram program;
  // The kernel writes the pointers of CNA and CORE; a list that does so hangs (conv-matmul E9).
  if (unit_ == Unit::kPool) {
    program.words = {
        regs::MakeWord(regs::Target::kPpu, r::PpuSPointer::kNeutral, r::PpuSPointer::kOffset),
        regs::MakeWord(regs::Target::kPpuRdma, r::PpuRdmaSPointer::kNeutral,
                       r::PpuRdmaSPointer::kOffset)};
  } else {
    program.words = {
        regs::MakeWord(regs::Target::kDpu, r::DpuSPointer::kNeutral, r::DpuSPointer::kOffset),
        regs::MakeWord(regs::Target::kDpuRdma, r::DpuRdmaSPointer::kNeutral,
                       r::DpuRdmaSPointer::kOffset)};
  }
  for (const auto& [offset, word] : body_) {
    for (const Open& open : open_) {
      if (open.reg != offset) continue;
      program.relocations.push_back(
          {static_cast<uint32_t>(program.words.size()), open.slot, open.offset});
    }
    program.words.push_back(word);
  }
  // Lists of a chain lie without gaps (kernel-interfaces B.2) and each starts on 64 bytes
  // (registers-rk3588 3.4), so every list is whole lines of 64 bytes.
  while ((program.words.size() + regs::kTailWords) % regs::kWordsPerLine != 0) {
    program.words.push_back(regs::kNopWord);
  }
  program.words.push_back(regs::kNopWord);
  program.words.push_back(regs::MakeWord(regs::Target::kPc, 0, r::PcRegisterAmounts::kOffset));
  program.words.push_back(regs::kSyncWord);
  program.words.push_back(regs::EnableWord(EnableMask(unit_)));
  return program;
}

}  // namespace npu::encode::rk3588
