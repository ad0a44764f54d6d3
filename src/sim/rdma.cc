// SPDX-License-Identifier: Apache-2.0
#include "src/sim/rdma.h"

#include <array>
#include <cstring>

#include "src/base/checked.h"

namespace npu::sim {
namespace {

constexpr int64_t kAtom = 16;
// A record of ALU + CPEND + MUL operands for eight channels.
constexpr int kRecordChannels = 8;
constexpr int kRecordBytes = 64, kCpendAt = 32, kMulAt = 48;

// Device memory is little endian, whatever the host is.
uint32_t Load(const std::byte* at, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= std::to_integer<uint32_t>(at[i]) << (8 * i);
  return v;
}

}  // namespace

bool FetchChannelOperands(const DpuConfig& d, const RdmaConfig& r, const AddressSpace& memory,
                          std::vector<ChannelOperands>* operands, int64_t* fault) {
  const int count = RoundUp(d.channels, d.group);
  ChannelOperands constant;
  constant.bs_add = d.bs.alu_operand;
  constant.bs_mul = d.bs.mul_operand;
  constant.ow_op = d.ow_op;
  operands->assign(static_cast<size_t>(count), constant);
  if (!r.bs_alu && !r.bs_cpend && !r.bs_mul) return true;
  const bool records = r.bs_mul;  // CheckCoverage lets pass ALU alone, or all three
  std::array<std::byte, kRecordBytes> record;
  const int record_bytes = records ? kRecordBytes : kRecordChannels * 4;
  const auto bytes = std::span(record).first(static_cast<size_t>(record_bytes));
  for (int c = 0; c < r.channels; c += kRecordChannels) {
    const int64_t address = r.bs_base + int64_t{c} / kRecordChannels * record_bytes;
    if (!memory.Read(address, bytes)) {
      *fault = address;
      return false;
    }
    for (int i = 0; i < kRecordChannels && c + i < count; ++i) {
      ChannelOperands& o = (*operands)[static_cast<size_t>(int64_t{c} + i)];
      const std::byte* at = record.data();
      if (d.bs.alu_from_memory) o.bs_add = static_cast<int32_t>(Load(at + i * 4, 4));
      if (!records) continue;
      if (d.cpend_from_memory) o.ow_op = static_cast<int16_t>(Load(at + kCpendAt + i * 2, 2));
      if (d.bs.mul_from_memory) o.bs_mul = static_cast<int16_t>(Load(at + kMulAt + i * 2, 2));
    }
  }
  return true;
}

int64_t EwRowAddress(const RdmaConfig& r, int surface, int y) {
  const int64_t row = kAtom * y * r.width;
  const int64_t odd_pitch = r.ew_surf_stride + r.ew_surf_notch;
  if (r.ew == EwSource::kFlying) return r.ew_base + surface * odd_pitch + row;
  // COMB_USE 5: two engines in parallel, MRDMA reads the even surfaces and ERDMA the odd ones.
  if (surface % 2 != 0) return r.ew_base + (surface / 2) * odd_pitch + row;
  return r.src_base + (surface / 2) * (kAtom * r.width * r.height + r.surf_notch) + row;
}

int64_t MainRowAddress(const RdmaConfig& r, int surface, int y) {
  return r.src_base + surface * (kAtom * r.width * r.height + r.surf_notch) + kAtom * y * r.width;
}

}  // namespace npu::sim
