// SPDX-License-Identifier: Apache-2.0
// Programs and memory for the simulator's tests, written from the specification's formulas and
// independent of the encoder: rk3588-conv-matmul 3 and 4.
#ifndef TESTS_UNIT_SIM_PROGRAM_H_
#define TESTS_UNIT_SIM_PROGRAM_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "gen/rk3588/registers.h"

#include "src/regs/command.h"
#include "src/sim/memory.h"
#include "src/sim/simulator.h"

namespace npu::sim {

namespace rk = regs::rk3588;

// Addresses of the test machine: 8 MiB from 1 MiB on.
inline constexpr uint32_t kMemoryBase = 0x100000, kMemorySize = 0x800000;
inline constexpr uint32_t kLists = 0x100000, kFeatures = 0x200000, kWeights = 0x300000,
                          kOutput = 0x400000, kBias = 0x600000, kOperand = 0x680000;

// Register values by offset; emitted as a full list.
class Program {
 public:
  template <typename Reg>
  Program& Set(const Reg& reg) {
    values_[Reg::kOffset] = Encoded(rk::Encode(reg));
    return *this;
  }
  template <typename Reg>
  Reg Get() const {
    const auto at = values_.find(Reg::kOffset);
    return rk::Decode<Reg>(at == values_.end() ? 0 : at->second);
  }
  // Changes fields: program.Edit<rk::CnaCbufCon0>([](auto& r) { r.data_bank = 1; }).
  template <typename Reg, typename F>
  Program& Edit(F change) {
    Reg reg = Get<Reg>();
    change(reg);
    return Set(reg);
  }
  template <typename Reg>
  Program& Drop() {
    values_.erase(Reg::kOffset);
    return *this;
  }

  uint32_t mask = rk::kEnableConv;
  uint32_t s_pointer = 0xE;
  uint32_t next_base = 0, next_words = 0;  // link to the next list; 0: none

  // S_POINTERs of DPU and DPU_RDMA (unless no register of the block is set), body, tail of 4.
  std::vector<uint64_t> Words() const;

 private:
  static uint32_t Encoded(const Result<uint32_t>& word) { return word.ok() ? word.value() : 0; }
  std::map<uint16_t, uint32_t> values_;
};

struct ConvShape {
  int ic = 32, ih = 8, iw = 8;
  int oc = 32, kh = 1, kw = 1;
  int sy = 1, sx = 1, dy = 1, dx = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool depthwise = false;
  int oh() const { return (ih + pad_top + pad_bottom - (kh - 1) * dy - 1) / sy + 1; }
  int ow() const { return (iw + pad_left + pad_right - (kw - 1) * dx - 1) / sx + 1; }
};

// Integer tensors of the tests, [c][h][w] and [oc][ic][kh][kw] (depthwise [c][1][kh][kw]).
using Tensor = std::vector<int8_t>;

// Full int8 -> int8 list for channels that are whole groups: BS adds int32 biases at kBias.
Program MakeConv(const ConvShape& shape);
// The same as raw int32.
Program MakeRawConv(const ConvShape& shape);
// fp16 -> fp16: `shape` in channels, BS bypassed (conv-matmul 4.5).
Program MakeHalfConv(const ConvShape& shape);
// fp16 add of two cubes of 8 channels and `columns` atoms, at kFeatures and kOperand
// (dpu-ppu 15.2).
Program MakeHalfElementwise(int columns);
// int8 elementwise add of two cubes of `columns` atoms at kFeatures and kOperand.
Program MakeElementwise(int columns);

// Pool of `channels` int8 or fp16 channels from kFeatures to kOutput, kernel = stride = 2 on a
// plane of 8x8, without padding (dpu-ppu 15.7).
struct PoolShape {
  int channels = 16, ih = 8, iw = 8, oh = 4, ow = 4;
  int kh = 2, kw = 2, sy = 2, sx = 2;
  int top = 0, left = 0, bottom = 0, right = 0;
  bool fp16 = false;
  rk::PoolMethod method = rk::PoolMethod::kMax;
  int pad_value = 0;  // int8 value or fp16 bits
};
Program MakePool(const PoolShape& shape);

class Machine {
 public:
  explicit Machine(const SimOptions& options = {});

  void Put(uint32_t address, const std::vector<int8_t>& bytes);
  void PutWords(uint32_t address, const std::vector<uint64_t>& words);
  void PutHalves(uint32_t address, const std::vector<uint16_t>& values);
  uint16_t Half(uint32_t address) const;
  void PutInts(uint32_t address, const std::vector<int32_t>& values);
  int8_t Byte(uint32_t address) const;
  int32_t Int(uint32_t address) const;
  void Fill(uint32_t address, uint32_t size, uint8_t value);

  // Puts the list at kLists and runs it as one kick.
  KickResult Run(const Program& program, bool first_of_job = true);
  KickResult RunWords(const std::vector<uint64_t>& words, uint32_t task_number = 1);

  AddressSpace memory;
  Simulator core;
  std::vector<std::byte> bytes;
};

bool Has(const KickResult& result, std::string_view id);
const Diagnostic* Find(const KickResult& result, std::string_view id);

// Deterministic pseudo-random bytes in [low, high].
Tensor RandomTensor(size_t count, uint32_t seed, int low = -128, int high = 127);

// Layouts (3.1, 3.5, 3.6): feature cube with `plane_height` rows in memory; weight streams.
std::vector<int8_t> PackFeatures(const Tensor& x, int c, int h, int w);
std::vector<int8_t> PackWeights(const Tensor& w, const ConvShape& shape);

// The convolution's sum plus ow_op times the window sum, by definition (6.1, 6.3).
int64_t Sum(const ConvShape& s, const Tensor& x, const Tensor& w, int8_t pad, int ow_op, int oc,
            int oh, int ow);

// Address of element (c, h, w) of a dense output cube at kOutput.
uint32_t OutputAddress(const ConvShape& s, int element_bytes, int c, int h, int w);

}  // namespace npu::sim

#endif  // TESTS_UNIT_SIM_PROGRAM_H_
