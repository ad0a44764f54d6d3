// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sim_fast/random_task.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "src/base/checked.h"

namespace npu::sim {
namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int In(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<uint32_t>(high - low + 1));
  }
  bool Chance(int percent) { return In(1, 100) <= percent; }
  int32_t Bits() { return static_cast<int32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

void MakeGeometry(Random* r, ConvConfig* c) {
  c->depthwise = r->Chance(35);
  c->ic = c->depthwise ? 16 * r->In(1, 6) : r->In(1, 90);
  c->kh = r->Chance(40) ? 1 : r->In(1, 4);
  c->kw = r->Chance(40) ? 1 : r->In(1, 4);
  c->sy = r->In(1, 3);
  c->sx = r->In(1, 3);
  if (r->Chance(40)) c->sy = c->sx = 1;
  c->dy = r->In(1, 2);
  c->dx = r->In(1, 2);
  c->pad_top = r->Chance(50) ? 0 : r->In(0, 3);
  c->pad_left = r->Chance(50) ? 0 : r->In(0, 3);
  c->oh = r->In(1, 9);
  c->ow = r->Chance(20) ? 1 : r->In(1, 40);
  if (r->Chance(4)) c->ow = r->In(100, 130);  // more than one segment a row
  const int rows = (c->oh - 1) * c->sy + (c->kh - 1) * c->dy + 1 - c->pad_top;
  const int columns = (c->ow - 1) * c->sx + (c->kw - 1) * c->dx + 1 - c->pad_left;
  // Fewer input pixels than the windows span: bottom and right padding. More: unused ones.
  c->ih = std::max(1, rows + r->In(-2, 1));
  c->iw = std::max(1, columns + r->In(-2, 1));
  if (r->Chance(30)) {  // matmul: one column
    c->ow = c->iw = c->kw = c->sx = 1;
    c->pad_left = 0;
  }
  c->pad_value = static_cast<int8_t>(r->Bits());
  c->pad_value_odd = r->Chance(80) ? c->pad_value : static_cast<int8_t>(r->Bits());
  c->oc = c->depthwise ? RoundUp(c->ic, 64) : 32 * r->In(1, 3);
  c->kernels = c->depthwise ? 1 : std::max(1, c->oc - (r->Chance(50) ? 0 : r->In(0, 40)));
}

void MakeReader(Random* r, ConvConfig* c) {
  c->feature_base = kFeaturesAt;
  c->weight_base = kWeightsAt + 16 * r->In(0, 3);
  c->lines_per_burst = r->Chance(75) ? 4 : 1;
  const int slack = r->Chance(30) ? r->In(0, 3) : 0;  // rows of the plane below the task
  if (c->lines_per_burst == 4) {
    c->line_stride = 4 * c->iw;
    c->surf_stride = int64_t{c->iw} * (c->ih + slack - 4);
  } else {
    const int surfaces = CeilDiv(c->ic, 16);
    c->line_stride = int64_t{surfaces} * c->iw;
    c->surf_stride = 0;
  }
  if (!c->depthwise && r->Chance(8)) {
    c->pixel_channels = 1;
    c->ic = 16;
    c->lines_per_burst = 1;
    c->line_stride = c->iw + r->In(0, 5);
    c->pixel_converter = {r->Chance(70), r->Chance(50), 1, r->In(-128, 0)};
  }
  c->data_banks = 4;
  c->weight_banks = 4;
}

int32_t Addend(Random* r) { return r->Chance(15) ? r->Bits() : r->In(-200000, 200000); }

ScaleStage MakeStage(Random* r, int percent) {
  ScaleStage s;
  s.alu = r->Chance(percent);
  s.alu_op = r->Chance(80) ? AluOp::kAdd : AluOp::kSub;
  s.mul = r->Chance(percent);
  s.prelu = s.mul && r->Chance(20);
  s.relu = r->Chance(percent / 2);
  s.relux = r->Chance(percent / 4);
  s.alu_operand = Addend(r);
  s.mul_operand = static_cast<int16_t>(r->Chance(80) ? r->In(1, 32767) : r->Bits());
  s.shift_positive = s.shift_negative = r->Chance(80) ? r->In(10, 16) : r->In(0, 63);
  s.relux_limit = r->In(-3, 100000);
  return s;
}

arith::Converter MakeConverter(Random* r, int shift) {
  arith::Converter c;
  c.scale = static_cast<int16_t>(r->Chance(90) ? r->In(16384, 32767) : r->Bits());
  c.shift = static_cast<uint8_t>(r->Chance(90) ? shift : r->In(0, 63));
  c.offset = r->Chance(90) ? r->In(-128, 127) : r->Bits();
  c.add_first = r->Chance(20);
  c.rounding = r->Chance(75) ? arith::Rounding::kHalfEven : arith::Rounding::kHalfAway;
  return c;
}

void MakeOutput(Random* r, const ConvConfig& c, DpuConfig* d) {
  d->channels = c.oc;
  d->height = c.oh;
  d->width = c.ow;
  d->group = c.out_group();
  const int kind = r->In(0, 9);
  d->out_type = kind < 7 ? OutType::kInt8 : kind < 9 ? OutType::kInt32 : OutType::kFp32;
  d->dst_base = kOutputAt;
  const int surfaces = d->group / d->out_atom();
  d->surfaces = r->Chance(90) ? surfaces : r->In(1, surfaces);
  if (d->width == 1 && r->Chance(50)) {  // row-major
    d->dst_surf_stride = 16;
    d->surface_add = 16 * surfaces;
    d->line_pitch = int64_t{16} * surfaces * CeilDiv(d->channels, d->group) + 16 * r->In(0, 2);
  } else {
    d->line_pitch = int64_t{16} * (d->width + (r->Chance(20) ? r->In(1, 3) : 0));
    d->dst_surf_stride = d->line_pitch * d->height + 16 * r->In(0, 2);
    d->surface_add = d->dst_surf_stride * surfaces;
  }
}

void MakeOperands(Random* r, DpuConfig* d, RdmaConfig* rdma) {
  rdma->enabled = true;
  rdma->channels = d->channels;
  rdma->height = d->height;
  rdma->width = d->width;
  rdma->bs_base = kOperandsAt;
  d->bs.alu_from_memory = r->Chance(70);
  d->bs.mul_from_memory = r->Chance(40);
  d->cpend = r->Chance(40);
  d->cpend_from_memory = r->Chance(30);
  d->ow_op = static_cast<int16_t>(r->Chance(80) ? r->In(-128, 128) : r->Bits());
  rdma->bs_mul = rdma->bs_cpend = d->bs.mul_from_memory || d->cpend_from_memory;
  rdma->bs_alu = rdma->bs_mul || d->bs.alu_from_memory;
}

void MakeEw(Random* r, DpuConfig* d, RdmaConfig* rdma) {
  d->ew.relu = r->Chance(10);
  d->ew.relux = r->Chance(5);
  d->ew.relux_limit = r->In(0, 50000);
  if (!r->Chance(30)) return;
  d->ew.op = true;
  constexpr AluOp kOps[] = {AluOp::kAdd, AluOp::kSub, AluOp::kMax, AluOp::kMin};
  d->ew.alu_op = kOps[r->In(0, 3)];
  d->ew.convert = r->Chance(70);
  d->ew.converter = MakeConverter(r, r->In(0, 12));
  rdma->ew = EwSource::kConvFed;
  const int64_t plane = int64_t{16} * d->width * d->height;
  rdma->src_base = kAddendAt;
  rdma->ew_base = kAddendAt + plane;
  rdma->surf_notch = rdma->ew_surf_notch = rdma->ew_surf_stride = plane;
}

// Made once: drawing megabytes of random bytes for every task would be most of the test's time.
const std::vector<std::byte>& RandomImage() {
  static const std::vector<std::byte> kImage = [] {
    std::vector<std::byte> image(kMemoryBytes);
    std::mt19937_64 words(99);
    for (size_t i = 0; i < kMemoryBytes; i += sizeof(uint64_t)) {
      const uint64_t word = words();
      std::memcpy(image.data() + i, &word, sizeof(word));
    }
    return image;
  }();
  return kImage;
}

void MakeImage(Random* r, RandomTask* task) {
  task->memory.resize(kMemoryBytes);
  // The same bytes elsewhere for each task.
  const std::vector<std::byte>& image = RandomImage();
  const auto middle = image.begin() + r->In(0, 1 << 20);
  std::copy(image.begin(), middle, std::copy(middle, image.end(), task->memory.begin()));
}

}  // namespace

RandomTask MakeRandomElementwise(uint32_t seed) {
  Random r(seed);
  RandomTask task;
  DpuConfig& d = task.dpu;
  d.flying = true;
  d.group = 16;
  d.channels = r.Chance(60) ? 16 : r.In(1, 64);
  d.height = r.In(1, 9);
  d.width = r.Chance(20) ? r.In(100, 700) : r.In(1, 40);
  d.dst_base = r.Chance(20) ? kFeaturesAt : kOutputAt;  // in place
  d.line_pitch = int64_t{16} * (d.width + (d.dst_base == kOutputAt && r.Chance(20) ? 2 : 0));
  d.dst_surf_stride = d.surface_add = d.line_pitch * d.height;
  MakeOperands(&r, &d, &task.rdma);
  d.cpend = d.cpend_from_memory = false;
  d.bs = MakeStage(&r, 40);
  if (r.Chance(25)) d.bn = MakeStage(&r, 50);
  task.rdma.bs_mul = task.rdma.bs_cpend = d.bs.mul_from_memory;
  task.rdma.bs_alu = d.bs.mul_from_memory || d.bs.alu_from_memory;
  MakeEw(&r, &d, &task.rdma);
  task.rdma.ew = EwSource::kFlying;
  task.rdma.src_base = kFeaturesAt;
  task.rdma.ew_base = r.Chance(10) ? kFeaturesAt : kAddendAt;
  task.rdma.surf_notch = task.rdma.ew_surf_notch = 0;
  task.rdma.ew_surf_stride = int64_t{16} * d.width * d.height;
  d.out_cvt = MakeConverter(&r, r.In(12, 18));
  if (r.Chance(30)) d.out_cvt = {};
  MakeImage(&r, &task);
  return task;
}

RandomTask MakeRandomTask(uint32_t seed) {
  Random r(seed);
  RandomTask task;
  MakeGeometry(&r, &task.conv);
  MakeReader(&r, &task.conv);
  DpuConfig& d = task.dpu;
  MakeOutput(&r, task.conv, &d);
  d.bs = MakeStage(&r, 70);
  if (r.Chance(25)) d.bn = MakeStage(&r, 50);
  MakeOperands(&r, &d, &task.rdma);
  MakeEw(&r, &d, &task.rdma);
  d.out_cvt = MakeConverter(&r, r.In(18, 26));
  if (d.out_type != OutType::kInt8 && r.Chance(60)) d.out_cvt = {};
  if (r.Chance(5)) d.residue = r.In(-100000, 100000);
  MakeImage(&r, &task);
  if (r.Chance(30)) {  // padding channels: zero weights, so that some quads vanish
    std::fill_n(task.memory.begin() + kWeightsAt + 64, 0x8000, std::byte{0});
  }
  return task;
}

std::string RandomTask::Describe() const {
  std::ostringstream s;
  s << (conv.depthwise ? "depthwise" : "direct") << " ic" << conv.ic << " ih" << conv.ih << " iw"
    << conv.iw << " oc" << conv.oc << " oh" << conv.oh << " ow" << conv.ow << " kernels"
    << conv.kernels << " kh" << conv.kh << " kw" << conv.kw << " sy" << conv.sy << " sx" << conv.sx
    << " dy" << conv.dy << " dx" << conv.dx << " pt" << conv.pad_top << " pl" << conv.pad_left
    << " burst" << conv.lines_per_burst << " pixels" << conv.pixel_channels << " out"
    << static_cast<int>(dpu.out_type) << " surfaces" << dpu.surfaces << " cpend" << dpu.cpend
    << " bs" << dpu.bs.alu << dpu.bs.mul << dpu.bs.prelu << " bn" << dpu.bn.active() << " ew"
    << dpu.ew.op << " away" << (dpu.out_cvt.rounding == arith::Rounding::kHalfAway) << " add_first"
    << dpu.out_cvt.add_first;
  return s.str();
}

}  // namespace npu::sim
