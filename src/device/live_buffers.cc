// SPDX-License-Identifier: Apache-2.0
#include "src/device/live_buffers.h"

#include <algorithm>

namespace npu::device {

void LiveBuffers::Add(const Buffer* buffer) {
  by_iova_[buffer->iova()] = buffer;
  bytes_ += buffer->bytes().size();
}

bool LiveBuffers::Remove(uint32_t iova) {
  const auto it = by_iova_.find(iova);
  if (it == by_iova_.end()) return false;
  bytes_ -= it->second->bytes().size();
  by_iova_.erase(it);
  return true;
}

// Buffers of other devices may be dead or of any type: they are compared, never read.
bool LiveBuffers::Owns(const Buffer* buffer) const {
  return std::any_of(by_iova_.begin(), by_iova_.end(),
                     [&](const auto& entry) { return entry.second == buffer; });
}

const Buffer* LiveBuffers::Find(uint64_t iova, uint64_t length) const {
  auto it = by_iova_.upper_bound(iova);
  if (it == by_iova_.begin()) return nullptr;
  --it;
  const uint64_t offset = iova - it->first, size = it->second->bytes().size();
  return offset < size && length <= size - offset ? it->second : nullptr;
}

bool LiveBuffers::Overlaps(uint64_t iova, uint64_t length) const {
  auto it = by_iova_.lower_bound(iova);
  if (it != by_iova_.end() && it->first - iova < length) return true;
  if (it == by_iova_.begin()) return false;
  --it;
  return iova - it->first < it->second->bytes().size();
}

}  // namespace npu::device
