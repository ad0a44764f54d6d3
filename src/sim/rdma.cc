// SPDX-License-Identifier: Apache-2.0
#include "src/sim/rdma.h"

#include <array>
#include <bit>

#include "src/arith/half.h"
#include "src/base/checked.h"

namespace npu::sim {
namespace {

constexpr int64_t kAtom = 16;
constexpr int kRecordChannels = 8;

// Device memory is little endian, whatever the host is.
uint32_t Load(const std::byte* at, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= std::to_integer<uint32_t>(at[i]) << (8 * i);
  return v;
}

// Where a record of eight channels holds each operand (conv-matmul 3.8, dpu-ppu 5).
struct RecordLayout {
  int cpend_at = 0, mul_at = 0, bytes = 0;
};

RecordLayout LayoutOf(const RdmaConfig& r) {
  RecordLayout layout;
  if (r.bs_alu) layout.bytes += 4 * kRecordChannels;
  layout.cpend_at = layout.bytes;
  if (r.bs_cpend) layout.bytes += 2 * kRecordChannels;
  layout.mul_at = layout.bytes;
  if (r.bs_mul) layout.bytes += 2 * kRecordChannels;
  return layout;
}

void ReadRecord(const DpuConfig& d, const RecordLayout& layout, const RdmaConfig& r,
                const std::byte* record, int channel, ChannelOperands* o) {
  if (r.bs_alu && d.bs.alu_from_memory) {
    const uint32_t word = Load(record + channel * 4, 4);
    o->bs_add = static_cast<int32_t>(word);
    o->bs_add_real = std::bit_cast<float>(word);
  }
  if (r.bs_cpend && d.cpend_from_memory) {
    o->ow_op = static_cast<int16_t>(Load(record + layout.cpend_at + channel * 2, 2));
  }
  if (r.bs_mul && d.bs.mul_from_memory) {
    const uint32_t word = Load(record + layout.mul_at + channel * 2, 2);
    o->bs_mul = static_cast<int16_t>(word);
    o->bs_mul_real = arith::HalfToFloat(static_cast<uint16_t>(word));
  }
}

}  // namespace

bool FetchChannelOperands(const DpuConfig& d, const RdmaConfig& r, const AddressSpace& memory,
                          std::vector<ChannelOperands>* operands, int64_t* fault) {
  const int count = RoundUp(d.channels, d.group);
  ChannelOperands constant;
  constant.bs_add = d.bs.alu_operand;
  constant.bs_mul = d.bs.mul_operand;
  constant.ow_op = d.ow_op;
  constant.bs_add_real = d.bs.alu_real;
  constant.bs_mul_real = d.bs.mul_real;
  operands->assign(static_cast<size_t>(count), constant);
  const RecordLayout layout = LayoutOf(r);
  if (layout.bytes == 0) return true;
  std::array<std::byte, 8 * kRecordChannels> record;
  const auto bytes = std::span(record).first(static_cast<size_t>(layout.bytes));
  for (int c = 0; c < r.channels; c += kRecordChannels) {
    const int64_t address = r.bs_base + int64_t{c} / kRecordChannels * layout.bytes;
    if (!memory.Read(address, bytes)) {
      *fault = address;
      return false;
    }
    for (int i = 0; i < kRecordChannels && c + i < count; ++i) {
      ReadRecord(d, layout, r, record.data(), i, &(*operands)[static_cast<size_t>(int64_t{c} + i)]);
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
