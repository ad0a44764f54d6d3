// SPDX-License-Identifier: Apache-2.0
// The two ping-pong groups of every banked block, their pointers, and who wrote what. Launching and
// the pointer rules are registers-rk3588 section 4.
#ifndef SRC_SIM_REGISTER_FILE_H_
#define SRC_SIM_REGISTER_FILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gen/rk3588/registers.h"

#include "src/regs/register_info.h"

namespace npu::sim {

// The blocks that tasks run on.
inline constexpr std::array<regs::Block, 6> kBankedBlocks = {
    regs::Block::kCna,     regs::Block::kCore, regs::Block::kDpu,
    regs::Block::kDpuRdma, regs::Block::kPpu,  regs::Block::kPpuRdma};
std::optional<size_t> BankedIndex(regs::Block block);

// Where a write came from: the serial number of the list since reset (0: MMIO) and the word in it.
struct WriteOrigin {
  uint64_t list = 0;
  uint32_t command = 0;
};

class RegisterFile {
 public:
  RegisterFile();
  void Reset();

  // Stores into the producer group; S_POINTER by rules 4 and 6. `offset` must be a register of
  // `block`. Never launches.
  void Write(regs::Block block, uint16_t offset, uint32_t value, WriteOrigin origin);
  bool producer_armed(regs::Block block) const;

  // Arms the producer group and moves the pointer; returns the group.
  unsigned Launch(regs::Block block);
  // The executer group is `group` and armed, so the launch can run.
  bool CanRun(regs::Block block, unsigned group) const;
  // Disarms the group and toggles the executer by EXECUTER_PP_EN.
  void Complete(regs::Block block, unsigned group);

  uint32_t Read(regs::Block block, unsigned group, uint16_t offset) const;
  // Who wrote the register last; nullopt if nobody since reset.
  std::optional<WriteOrigin> Origin(regs::Block block, unsigned group, uint16_t offset) const;
  // A register other than S_POINTER was written since reset, in either group.
  bool configured(regs::Block block) const;

 private:
  struct Cell {
    uint32_t value = 0;
    bool written = false;
    WriteOrigin origin;
  };
  struct BlockState {
    unsigned producer = 0, executer = 0;
    bool pointer_auto = false, executer_auto = false, not_old_producer = false;
    bool configured = false;
    std::array<bool, 2> armed = {};
    std::array<std::array<Cell, 1024>, 2> cells;
  };
  BlockState& At(regs::Block block);
  const BlockState& At(regs::Block block) const;

  std::unique_ptr<std::array<BlockState, 6>> blocks_;
};

// "CNA.CBUF_CON0 = 0x00000093 {DATA_BANK 3, WEIGHT_BANK 9}": fields that are not 0.
std::string DecodeText(const regs::RegisterInfo& info, uint32_t value);

}  // namespace npu::sim

#endif  // SRC_SIM_REGISTER_FILE_H_
