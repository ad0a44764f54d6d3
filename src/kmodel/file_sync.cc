// SPDX-License-Identifier: Apache-2.0
// PREP and FINI, whole and ranged (kernel-interfaces A.7, A.8, B.4).
#include <fmt/format.h>

#include <cerrno>

#include "src/kmodel/file.h"
#include "src/kmodel/user_memory.h"

namespace npu::kmodel {
namespace {

bool HasPending(BufferObject* object) { return !object->PendingWriters().empty(); }

}  // namespace

int File::WaitForWriters(BufferObject* object, int64_t deadline_ns) {
  if (npu_->faults().InterruptNextPrep()) return -EINTR;
  if (deadline_ns <= MonotonicNow()) return HasPending(object) ? -EBUSY : 0;
  for (const std::shared_ptr<Fence>& fence : object->PendingWriters()) {
    if (const int result = fence->Wait(deadline_ns); result != 0) return result;
  }
  return 0;
}

int File::PrepBo(void* argument) {
  const auto& prep = *static_cast<const uapi::RocketPrepBo*>(argument);
  if (prep.reserved != 0) return -EINVAL;
  const std::shared_ptr<BufferObject> object = Lookup(prep.handle);
  if (object == nullptr) return -ENOENT;
  const int result = WaitForWriters(object.get(), prep.timeout_ns);
  object->Invalidate(0, object->bytes());  // also when the wait failed
  return result;
}

void File::NoteFini(const std::shared_ptr<BufferObject>& object) {
  if (!npu_->options().strict.war || object->readers() == 0) return;
  npu_->reporter().Finding(
      "war", fmt::format("FINI of the object at {:#x} while a queued or running job reads it",
                         object->iova()));
}

int File::FiniBo(void* argument) {
  const auto& fini = *static_cast<const uapi::RocketFiniBo*>(argument);
  if (fini.reserved != 0) return -EINVAL;
  const std::shared_ptr<BufferObject> object = Lookup(fini.handle);
  if (object == nullptr) return -ENOENT;
  NoteFini(object);
  object->Clean(0, object->bytes());
  return 0;
}

// Empty ranges mean the whole object.
int File::ReadRanges(const BufferObject& object, uint64_t pointer, uint32_t count,
                     std::vector<uapi::RocketBoRange>* out) const {
  if (count == 0) {
    out->assign(1, {0, object.bytes()});
    return 0;
  }
  if (count > uapi::kRocketMaxRanges) return -EINVAL;
  out->resize(count);
  if (!CopyFromUser(out->data(), pointer, count * sizeof(uapi::RocketBoRange))) return -EFAULT;
  uint64_t end = 0;
  for (const uapi::RocketBoRange& range : *out) {
    const bool inside = range.offset <= object.bytes() &&
                        range.size <= object.bytes() - range.offset;  // the sum may wrap
    if (range.size == 0 || !inside || range.offset < end) return -EINVAL;
    end = range.offset + range.size;
  }
  return 0;
}

int File::PrepBoRanges(void* argument) {
  const auto& prep = *static_cast<const uapi::RocketPrepBoRanges*>(argument);
  if (prep.reserved != 0) return -EINVAL;
  const std::shared_ptr<BufferObject> object = Lookup(prep.handle);
  if (object == nullptr) return -ENOENT;
  std::vector<uapi::RocketBoRange> ranges;
  if (const int r = ReadRanges(*object, prep.ranges, prep.range_count, &ranges); r != 0) return r;
  const int result = WaitForWriters(object.get(), prep.timeout_ns);
  for (const uapi::RocketBoRange& range : ranges) object->Invalidate(range.offset, range.size);
  return result;
}

int File::FiniBoRanges(void* argument) {
  const auto& fini = *static_cast<const uapi::RocketFiniBoRanges*>(argument);
  if (fini.reserved != 0) return -EINVAL;
  const std::shared_ptr<BufferObject> object = Lookup(fini.handle);
  if (object == nullptr) return -ENOENT;
  std::vector<uapi::RocketBoRange> ranges;
  if (const int r = ReadRanges(*object, fini.ranges, fini.range_count, &ranges); r != 0) return r;
  NoteFini(object);
  for (const uapi::RocketBoRange& range : ranges) object->Clean(range.offset, range.size);
  return 0;
}

}  // namespace npu::kmodel
