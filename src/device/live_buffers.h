// SPDX-License-Identifier: Apache-2.0
// Which buffers of one device exist, by address.
#ifndef SRC_DEVICE_LIVE_BUFFERS_H_
#define SRC_DEVICE_LIVE_BUFFERS_H_

#include <cstdint>
#include <map>

#include "src/device/device.h"

namespace npu::device {

// Not thread-safe. Sizes are read from the buffers, which must be removed before they go.
class LiveBuffers {
 public:
  void Add(const Buffer* buffer);
  // False if nothing starts there.
  bool Remove(uint32_t iova);

  bool Owns(const Buffer* buffer) const;
  // The buffer holding all of [iova, iova + length); null if none. length >= 1.
  const Buffer* Find(uint64_t iova, uint64_t length) const;
  // Whether [iova, iova + length) touches any buffer.
  bool Overlaps(uint64_t iova, uint64_t length) const;

  uint64_t count() const { return by_iova_.size(); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::map<uint64_t, const Buffer*> by_iova_;
  uint64_t bytes_ = 0;
};

}  // namespace npu::device

#endif  // SRC_DEVICE_LIVE_BUFFERS_H_
