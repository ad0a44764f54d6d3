// SPDX-License-Identifier: Apache-2.0
#include "src/regs/command.h"

#include <algorithm>
#include <array>

namespace npu::regs {
namespace {

struct NamedTarget {
  std::string_view name;
  Target target;
};
constexpr std::array<NamedTarget, 3> kActions = {
    {{"NOP", Target::kNop}, {"SYNC", Target::kSync}, {"ENABLE", Target::kEnable}}};

const rk3588::BlockInfo* Find(Block block) {
  for (const rk3588::BlockInfo& info : rk3588::kBlocks) {
    if (info.block == block) return &info;
  }
  return nullptr;
}

}  // namespace

std::optional<Target> TargetOf(Block block) {
  const rk3588::BlockInfo* info = Find(block);
  if (info == nullptr || !info->has_target) return std::nullopt;
  return info->target;
}

std::optional<Block> BlockOf(uint16_t target) {
  for (const rk3588::BlockInfo& info : rk3588::kBlocks) {
    if (info.has_target && static_cast<uint16_t>(info.target) == target) return info.block;
  }
  return std::nullopt;
}

std::optional<unsigned> EnableBitOf(Block block) {
  const rk3588::BlockInfo* info = Find(block);
  if (info == nullptr || info->enable_bit < 0) return std::nullopt;
  return static_cast<unsigned>(info->enable_bit);
}

std::string_view BlockName(Block block) {
  const rk3588::BlockInfo* info = Find(block);
  return info == nullptr ? std::string_view() : info->name;
}

std::string_view TargetName(uint16_t target) {
  for (const NamedTarget& action : kActions) {
    if (static_cast<uint16_t>(action.target) == target) return action.name;
  }
  const std::optional<Block> block = BlockOf(target);
  return block ? BlockName(*block) : std::string_view();
}

std::optional<Target> FindTarget(std::string_view name) {
  for (const NamedTarget& action : kActions) {
    if (action.name == name) return action.target;
  }
  for (const rk3588::BlockInfo& info : rk3588::kBlocks) {
    if (info.has_target && name == info.name) return info.target;
  }
  return std::nullopt;
}

const RegisterInfo* FindRegister(uint32_t offset) {
  const std::span<const RegisterInfo> all = rk3588::Registers();
  const auto it = std::lower_bound(
      all.begin(), all.end(), offset,
      [](const RegisterInfo& info, uint32_t wanted) { return info.offset < wanted; });
  return it != all.end() && it->offset == offset ? &*it : nullptr;
}

const RegisterInfo* FindRegister(std::string_view full_name) {
  for (const RegisterInfo& info : rk3588::Registers()) {
    if (info.full_name == full_name) return &info;
  }
  return nullptr;
}

}  // namespace npu::regs
