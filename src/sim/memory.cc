// SPDX-License-Identifier: Apache-2.0
#include "src/sim/memory.h"

#include <algorithm>
#include <cstring>

namespace npu::sim {

Status AddressSpace::Map(uint32_t iova, std::span<std::byte> bytes) {
  const int64_t begin = iova;
  if (bytes.empty()) return {ErrorCode::kInvalidArgument, "cannot map an empty region"};
  if (bytes.size() > static_cast<uint64_t>(kEnd - begin)) {
    return {ErrorCode::kInvalidArgument, "the region passes the end of the 4 GiB address space"};
  }
  const Region region{begin, bytes};
  const auto next = std::lower_bound(regions_.begin(), regions_.end(), begin,
                                     [](const Region& r, int64_t v) { return r.begin < v; });
  const bool hits_next = next != regions_.end() && region.end() > next->begin;
  const bool hits_previous = next != regions_.begin() && std::prev(next)->end() > begin;
  if (hits_next || hits_previous) {
    return {ErrorCode::kInvalidArgument, "the region overlaps a mapped one"};
  }
  regions_.insert(next, region);
  return OkStatus();
}

Status AddressSpace::Unmap(uint32_t iova) {
  const auto at = std::find_if(regions_.begin(), regions_.end(),
                               [iova](const Region& r) { return r.begin == iova; });
  if (at == regions_.end()) return {ErrorCode::kNotFound, "no region starts at this address"};
  regions_.erase(at);
  return OkStatus();
}

const AddressSpace::Region* AddressSpace::Find(int64_t iova) const {
  auto next = std::upper_bound(regions_.begin(), regions_.end(), iova,
                               [](int64_t v, const Region& r) { return v < r.begin; });
  if (next == regions_.begin()) return nullptr;
  --next;
  return iova < next->end() ? &*next : nullptr;
}

std::byte* AddressSpace::Translate(int64_t iova, int64_t size) const {
  if (size < 1) return nullptr;
  const Region* region = Find(iova);
  if (region == nullptr || size > region->end() - iova) return nullptr;
  return region->bytes.data() + (iova - region->begin);
}

bool AddressSpace::IsMapped(int64_t iova, int64_t size) const {
  while (size > 0) {
    const Region* region = Find(iova);
    if (region == nullptr) return false;
    const int64_t here = std::min(size, region->end() - iova);
    iova += here;
    size -= here;
  }
  return true;
}

bool AddressSpace::Read(int64_t iova, std::span<std::byte> out) const {
  if (!IsMapped(iova, static_cast<int64_t>(out.size()))) return false;
  while (!out.empty()) {
    const Region* region = Find(iova);
    const size_t here = std::min(out.size(), static_cast<size_t>(region->end() - iova));
    std::memcpy(out.data(), region->bytes.data() + (iova - region->begin), here);
    iova += static_cast<int64_t>(here);
    out = out.subspan(here);
  }
  return true;
}

bool AddressSpace::Write(int64_t iova, std::span<const std::byte> in) {
  if (!IsMapped(iova, static_cast<int64_t>(in.size()))) return false;
  while (!in.empty()) {
    const Region* region = Find(iova);
    const size_t here = std::min(in.size(), static_cast<size_t>(region->end() - iova));
    std::memcpy(region->bytes.data() + (iova - region->begin), in.data(), here);
    iova += static_cast<int64_t>(here);
    in = in.subspan(here);
  }
  return true;
}

}  // namespace npu::sim
