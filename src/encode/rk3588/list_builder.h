// SPDX-License-Identifier: Apache-2.0
// Builds one complete command list: every configuration register of the blocks it launches is
// written every time, because registers survive from task to task in two alternating groups
// (registers-rk3588 section 6). Registers that are not set carry their neutral word.
#ifndef SRC_ENCODE_RK3588_LIST_BUILDER_H_
#define SRC_ENCODE_RK3588_LIST_BUILDER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "gen/rk3588/registers.h"

#include "npu/status.h"
#include "src/encode/encoded_op.h"
#include "src/regs/command.h"

namespace npu::encode::rk3588 {

class ListBuilder {
 public:
  // The blocks a list configures and launches.
  enum class Unit : uint8_t {
    kConvolution,  // CNA, CORE, DPU, DPU_RDMA
    kElementwise,  // DPU, DPU_RDMA
    kPool,         // PPU, PPU_RDMA
  };
  explicit ListBuilder(Unit unit = Unit::kConvolution);

  // Replaces the neutral word. The first field that does not fit fails Finish.
  template <typename Reg>
  void Set(const Reg& reg) {
    Result<uint64_t> word = regs::MakeWord(reg);
    if (word.ok()) {
      body_[Reg::kOffset] = *word;
    } else if (status_.ok()) {
      status_ = word.status();
    }
  }

  // The register becomes address(slot) + offset when addresses are known.
  template <typename Reg>
  void SetAddress(Slot slot, uint64_t offset) {
    Relocate(Reg::kOffset, Reg::kName, slot, offset);
  }

  // Pointers, body ascending by register, tail with ENABLE of the blocks; an even
  // number of words, not chained. Error kOutOfRange naming register, field and value.
  Result<TaskProgram> Finish() const;

 private:
  struct Open {
    uint16_t reg = 0;
    Slot slot = Slot::kInput;
    uint32_t offset = 0;
  };
  void Relocate(uint16_t reg, const char* name, Slot slot, uint64_t offset);

  Unit unit_;
  std::map<uint16_t, uint64_t> body_;  // register offset -> command word
  std::vector<Open> open_;
  Status status_;
};

}  // namespace npu::encode::rk3588

#endif  // SRC_ENCODE_RK3588_LIST_BUILDER_H_
