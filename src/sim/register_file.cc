// SPDX-License-Identifier: Apache-2.0
#include "src/sim/register_file.h"

#include <algorithm>
#include <cstdio>

namespace npu::sim {
namespace {

namespace rk = regs::rk3588;

constexpr uint16_t kRegisterInBlock = 0xFFF;
constexpr uint16_t kSPointerInBlock = rk::CnaSPointer::kOffset & kRegisterInBlock;

size_t CellOf(uint16_t offset) { return static_cast<size_t>(offset & kRegisterInBlock) / 4; }

}  // namespace

std::optional<size_t> BankedIndex(regs::Block block) {
  const auto at = std::find(kBankedBlocks.begin(), kBankedBlocks.end(), block);
  if (at == kBankedBlocks.end()) return std::nullopt;
  return static_cast<size_t>(at - kBankedBlocks.begin());
}

RegisterFile::RegisterFile() { Reset(); }

void RegisterFile::Reset() {
  blocks_ = std::make_unique<std::array<BlockState, 6>>();
  for (const regs::RegisterInfo& info : rk::Registers()) {
    const std::optional<size_t> index = BankedIndex(info.block);
    if (!index || info.reset == 0) continue;
    for (auto& group : (*blocks_)[*index].cells) group[CellOf(info.offset)].value = info.reset;
  }
}

RegisterFile::BlockState& RegisterFile::At(regs::Block block) {
  return (*blocks_)[BankedIndex(block).value_or(0)];
}

const RegisterFile::BlockState& RegisterFile::At(regs::Block block) const {
  return (*blocks_)[BankedIndex(block).value_or(0)];
}

void RegisterFile::Write(regs::Block block, uint16_t offset, uint32_t value, WriteOrigin origin) {
  BlockState& state = At(block);
  if ((offset & kRegisterInBlock) == kSPointerInBlock) {
    // The six blocks share the layout of S_POINTER; CORE_ID exists only in CNA's and CORE's.
    const auto pointer = rk::Decode<rk::CnaSPointer>(value);
    state.pointer_auto = pointer.pointer_pp_en.get() != 0;
    state.executer_auto = pointer.executer_pp_en.get() != 0;
    state.not_old_producer = pointer.pointer_pp_mode.get() != 0;
    if (!state.pointer_auto) state.producer = static_cast<unsigned>(pointer.pointer.get());
    if (!state.executer_auto) state.executer = static_cast<unsigned>(pointer.executer.get());
    if (pointer.pointer_pp_clear.get() != 0) state.producer = 0;
    if (pointer.executer_pp_clear.get() != 0) state.executer = 0;
    return;
  }
  state.cells[state.producer][CellOf(offset)] = {value, true, origin};
  state.configured = true;
}

bool RegisterFile::producer_armed(regs::Block block) const {
  const BlockState& state = At(block);
  return state.armed[state.producer];
}

unsigned RegisterFile::Launch(regs::Block block) {
  BlockState& state = At(block);
  const unsigned group = state.producer;
  state.armed[group] = true;
  if (state.pointer_auto) {
    state.producer = state.not_old_producer ? 1 - state.producer : 1 - state.executer;
  }
  return group;
}

bool RegisterFile::CanRun(regs::Block block, unsigned group) const {
  const BlockState& state = At(block);
  return state.executer == group && state.armed[group];
}

void RegisterFile::Complete(regs::Block block, unsigned group) {
  BlockState& state = At(block);
  state.armed[group] = false;
  if (state.executer_auto) state.executer = 1 - state.executer;
}

uint32_t RegisterFile::Read(regs::Block block, unsigned group, uint16_t offset) const {
  return At(block).cells[group & 1][CellOf(offset)].value;
}

std::optional<WriteOrigin> RegisterFile::Origin(regs::Block block, unsigned group,
                                                uint16_t offset) const {
  const Cell& cell = At(block).cells[group & 1][CellOf(offset)];
  if (!cell.written) return std::nullopt;
  return cell.origin;
}

bool RegisterFile::configured(regs::Block block) const { return At(block).configured; }

std::string DecodeText(const regs::RegisterInfo& info, uint32_t value) {
  char hex[16];
  std::snprintf(hex, sizeof(hex), "0x%08X", value);
  std::string text = std::string(info.full_name) + " = " + hex;
  std::string fields;
  for (const regs::FieldInfo& field : info.fields) {
    const int64_t v = regs::FieldExtract(value, field.lsb, field.width, field.kind);
    if (v == 0) continue;
    if (!fields.empty()) fields += ", ";
    fields += std::string(field.name) + " " + std::to_string(v);
  }
  return fields.empty() ? text : text + " {" + fields + "}";
}

}  // namespace npu::sim
