// SPDX-License-Identifier: Apache-2.0
#include "src/sim/fast_outputs.h"

#include <algorithm>

#include "src/base/checked.h"
#include "src/sim/rdma.h"
#include "src/sim/writer.h"

namespace npu::sim::fast {
namespace {

constexpr int64_t kAtomBytes = 16;

struct Plane {
  int64_t begin = 0;
  int64_t line_bytes = 0, line_pitch = 0;
  int lines = 0;
  int64_t extent() const { return (lines - 1) * line_pitch + line_bytes; }
};

// No byte is written twice: planes behind one another, or lines interleaved within one pitch.
bool AreDisjoint(std::vector<Plane> planes) {
  std::sort(planes.begin(), planes.end(),
            [](const Plane& a, const Plane& b) { return a.begin < b.begin; });
  const Plane& first = planes.front();
  if (first.lines > 1 && first.line_pitch < first.line_bytes) return false;
  bool apart = true, interleaved = true;
  for (size_t i = 1; i < planes.size(); ++i) {
    const int64_t gap = planes[i].begin - planes[i - 1].begin;
    apart = apart && gap >= first.extent();
    interleaved = interleaved && gap >= first.line_bytes;
  }
  const int64_t spread = planes.back().begin + first.line_bytes - first.begin;
  return apart || (interleaved && spread <= first.line_pitch);
}

bool LocateOutput(const DpuConfig& d, const AddressSpace& memory, Surfaces* s,
                  std::vector<Plane>* planes) {
  const int blocks = CeilDiv(d.channels, d.group);
  const int per_block = d.group / d.out_atom();
  s->per_block = static_cast<size_t>(per_block);
  s->line_pitch = d.line_pitch;
  for (int block = 0; block < blocks; ++block) {
    for (int surface = 0; surface < per_block; ++surface) {
      if (surface >= d.surfaces) {
        s->output.push_back(nullptr);
        continue;
      }
      const Plane plane = {OutputRowAddress(d, block, surface, 0), kAtomBytes * d.width,
                           d.line_pitch, d.height};
      if (plane.line_pitch < 0) return false;
      s->output.push_back(memory.Translate(plane.begin, plane.extent()));
      if (s->output.back() == nullptr) return false;
      planes->push_back(plane);
    }
  }
  return !planes->empty() && AreDisjoint(*planes);
}

// An operand may be overwritten in place only by the very row that was computed from it.
bool IsSafe(const std::vector<Plane>& operands, const std::vector<Plane>& outputs) {
  const auto hull = [](const std::vector<Plane>& planes) {
    std::pair<int64_t, int64_t> range = {INT64_MAX, INT64_MIN};
    for (const Plane& p : planes) {
      range.first = std::min(range.first, p.begin);
      range.second = std::max(range.second, p.begin + p.extent());
    }
    return range;
  };
  const auto in = hull(operands);
  const auto out = hull(outputs);
  if (in.second <= out.first || out.second <= in.first) return true;
  return operands.size() == outputs.size() &&
         std::equal(operands.begin(), operands.end(), outputs.begin(),
                    [](const Plane& a, const Plane& b) {
                      return a.begin == b.begin && a.line_bytes == b.line_bytes &&
                             (a.lines == 1 || a.line_pitch == b.line_pitch);
                    });
}

// Planes of an input cube of 8-bit atoms that starts at address(surface).
template <typename Address>
bool LocateInput(const DpuConfig& d, const AddressSpace& memory, Address address, int64_t pitch,
                 const std::vector<Plane>& outputs, std::vector<const std::byte*>* pointers) {
  std::vector<Plane> planes;
  for (int surface = 0; surface < CeilDiv(d.channels, static_cast<int>(kAtomBytes)); ++surface) {
    const Plane plane = {address(surface), kAtomBytes * d.width, pitch, d.height};
    pointers->push_back(memory.Translate(plane.begin, plane.extent()));
    if (pointers->back() == nullptr) return false;
    planes.push_back(plane);
  }
  return IsSafe(planes, outputs);
}

}  // namespace

bool LocateSurfaces(const DpuConfig& d, const RdmaConfig& r, const AddressSpace& memory,
                    Surfaces* surfaces) {
  *surfaces = {};
  std::vector<Plane> outputs;
  if (!LocateOutput(d, memory, surfaces, &outputs)) return false;
  if (d.flying) {
    surfaces->main_pitch = kAtomBytes * r.width;
    const auto main = [&](int surface) { return MainRowAddress(r, surface, 0); };
    if (!LocateInput(d, memory, main, surfaces->main_pitch, outputs, &surfaces->main)) {
      return false;
    }
  }
  if (!d.ew.op) return true;
  if (r.ew != (d.flying ? EwSource::kFlying : EwSource::kConvFed)) return false;
  surfaces->operand_pitch = kAtomBytes * r.width;
  const auto operand = [&](int surface) { return EwRowAddress(r, surface, 0); };
  return LocateInput(d, memory, operand, surfaces->operand_pitch, outputs, &surfaces->operand);
}

}  // namespace npu::sim::fast
