// SPDX-License-Identifier: Apache-2.0
// Buffer objects and the address space of one open file.
#ifndef SRC_KMODEL_BUFFER_OBJECT_H_
#define SRC_KMODEL_BUFFER_OBJECT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

#include "src/kmodel/fence.h"
#include "src/kmodel/iova_allocator.h"
#include "src/kmodel/memory.h"
#include "src/sim/memory.h"

namespace npu::kmodel {

class BufferObject;

// The IOMMU domain of a file; outlives it while objects, mappings or jobs do. Thread-safe.
class Domain {
 public:
  // `shuffle_seed` other than 0: addresses are random.
  Domain(uint64_t page_bytes, uint64_t shuffle_seed);

  // nullopt: ENOSPC.
  std::optional<uint32_t> Allocate(uint64_t bytes);
  void Attach(const std::shared_ptr<BufferObject>& object);
  void Release(uint32_t iova);

  // What the NPU reaches now: every object that exists, whether a job lists it or not. The objects
  // stay alive while `held` does.
  std::vector<std::shared_ptr<BufferObject>> Objects() const;

 private:
  mutable std::mutex mutex_;
  IovaAllocator addresses_;
  const bool shuffle_;
  std::mt19937_64 random_;
  std::map<uint32_t, std::weak_ptr<BufferObject>> objects_;
};

// Owned by handles, mappings, exported descriptors and jobs; its pages and its address go with the
// last of them (kernel-interfaces A.6, A.13). Thread-safe.
class BufferObject {
 public:
  // `bytes` as requested, > 0. 0 or -errno (ENOMEM, ENOSPC). With `coherent` false CPU and device
  // have an image each.
  static int Create(const std::shared_ptr<Domain>& domain,
                    const std::shared_ptr<DeviceMemory>& memory, uint64_t bytes, bool coherent,
                    std::shared_ptr<BufferObject>* out);
  ~BufferObject();

  uint32_t iova() const { return iova_; }
  uint64_t offset() const { return pages_->offset(); }       // of the device's memory file
  uint64_t bytes() const { return pages_->bytes().size(); }  // rounded up to pages
  // What the NPU reads and writes.
  std::span<std::byte> device_bytes() const {
    return device_image_ == nullptr ? pages_->bytes() : device_image_->bytes();
  }

  // Cache maintenance of [offset, + size), which must lie inside: clean makes CPU writes visible to
  // the NPU, invalidate drops them and shows what the NPU wrote. Nothing to do without an image.
  void Clean(uint64_t offset, uint64_t size) const;
  void Invalidate(uint64_t offset, uint64_t size) const;

  // Fences of jobs that write the object.
  void AddWriter(std::shared_ptr<Fence> fence);
  std::vector<std::shared_ptr<Fence>> PendingWriters();
  // Queued and running jobs that list it as an input (strict mode WAR).
  std::atomic<uint32_t>& readers() { return readers_; }

 private:
  BufferObject() = default;

  std::shared_ptr<Domain> domain_;
  std::unique_ptr<Pages> pages_;         // the CPU's image
  std::unique_ptr<Pages> device_image_;  // strict coherency only
  uint32_t iova_ = 0;
  bool has_iova_ = false;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Fence>> writers_;  // under mutex_
  std::atomic<uint32_t> readers_{0};
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_BUFFER_OBJECT_H_
