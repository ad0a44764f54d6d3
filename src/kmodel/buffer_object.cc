// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/buffer_object.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/checked.h"

namespace npu::kmodel {

Domain::Domain(uint64_t page_bytes, uint64_t shuffle_seed)
    : addresses_(page_bytes), shuffle_(shuffle_seed != 0), random_(shuffle_seed) {}

std::optional<uint32_t> Domain::Allocate(uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return shuffle_ ? addresses_.AllocateAnywhere(bytes, &random_) : addresses_.Allocate(bytes);
}

void Domain::Attach(const std::shared_ptr<BufferObject>& object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  objects_[object->iova()] = object;
}

void Domain::Release(uint32_t iova) {
  const std::lock_guard<std::mutex> lock(mutex_);
  addresses_.Free(iova);
  objects_.erase(iova);
}

std::vector<std::shared_ptr<BufferObject>> Domain::Objects() const {
  std::vector<std::shared_ptr<BufferObject>> objects;
  const std::lock_guard<std::mutex> lock(mutex_);
  objects.reserve(objects_.size());
  for (const auto& [iova, weak] : objects_) {
    if (std::shared_ptr<BufferObject> object = weak.lock()) objects.push_back(std::move(object));
  }
  return objects;
}

int BufferObject::Create(const std::shared_ptr<Domain>& domain,
                         const std::shared_ptr<DeviceMemory>& memory, uint64_t bytes, bool coherent,
                         std::shared_ptr<BufferObject>* out) {
  const uint64_t rounded = RoundUp(bytes, memory->page_bytes());
  std::shared_ptr<BufferObject> object(new BufferObject);
  object->domain_ = domain;
  if (Pages::Create(memory, rounded, &object->pages_) != 0) return -ENOMEM;
  if (!coherent && Pages::CreatePrivate(rounded, &object->device_image_) != 0) return -ENOMEM;
  // The address is taken last, as the kernel does: pages first.
  const std::optional<uint32_t> iova = domain->Allocate(bytes);
  if (!iova) return -ENOSPC;
  object->iova_ = *iova;
  object->has_iova_ = true;
  domain->Attach(object);
  *out = std::move(object);
  return 0;
}

BufferObject::~BufferObject() {
  if (has_iova_) domain_->Release(iova_);
}

void BufferObject::Clean(uint64_t offset, uint64_t size) const {
  if (device_image_ == nullptr) return;
  std::memcpy(device_image_->bytes().data() + offset, pages_->bytes().data() + offset, size);
}

void BufferObject::Invalidate(uint64_t offset, uint64_t size) const {
  if (device_image_ == nullptr) return;
  std::memcpy(pages_->bytes().data() + offset, device_image_->bytes().data() + offset, size);
}

void BufferObject::AddWriter(std::shared_ptr<Fence> fence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(writers_, [](const auto& writer) { return writer->signalled(); });
  writers_.push_back(std::move(fence));
}

std::vector<std::shared_ptr<Fence>> BufferObject::PendingWriters() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(writers_, [](const auto& writer) { return writer->signalled(); });
  return writers_;
}

}  // namespace npu::kmodel
