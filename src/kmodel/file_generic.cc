// SPDX-License-Identifier: Apache-2.0
// The ioctls that every DRM driver shares (kernel-interfaces A.1, A.3, A.14, C.4).
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/kmodel/file.h"
#include "src/kmodel/user_memory.h"

namespace npu::kmodel {
namespace {

constexpr char kUnique[] = "rknn";
constexpr uint64_t kPrimeBoth = 3;  // import and export

// Copies as much of `text` as there is room for, without a final NUL, and tells its real length.
bool GiveText(const char* text, uint64_t pointer, uint64_t* length) {
  const uint64_t room = *length;
  *length = std::strlen(text);
  return pointer == 0 || CopyToUser(pointer, text, std::min(room, *length));
}

}  // namespace

int File::GetVersion(void* argument) {
  auto& version = *static_cast<uapi::DrmVersion*>(argument);
  version.major = npu_->options().version.major;
  version.minor = npu_->options().version.minor;
  version.patch = 0;
  const bool copied = GiveText(uapi::kRocketName, version.name, &version.name_len) &&
                      GiveText(uapi::kRocketDate, version.date, &version.date_len) &&
                      GiveText(uapi::kRocketDescription, version.desc, &version.desc_len);
  return copied ? 0 : -EFAULT;
}

int File::GetUnique(void* argument) {
  auto& unique = *static_cast<uapi::DrmUnique*>(argument);
  return GiveText(kUnique, unique.unique, &unique.unique_len) ? 0 : -EFAULT;
}

int File::GetCap(void* argument) {
  auto& cap = *static_cast<uapi::DrmGetCap*>(argument);
  switch (cap.capability) {
    case uapi::kCapPrime:
      cap.value = kPrimeBoth;
      return 0;
    case uapi::kCapMonotonic:
      cap.value = 1;
      return 0;
    case uapi::kCapSyncobj:
    case uapi::kCapSyncobjTimeline:
      cap.value = 0;
      return 0;
    default:
      return -EOPNOTSUPP;
  }
}

// Client capabilities belong to mode setting, which an accelerator does not have.
int File::SetClientCap(void*) { return -EOPNOTSUPP; }

int File::GemFlink(void*) { return -EOPNOTSUPP; }

int File::HandleToFd(void* argument) {
  auto& prime = *static_cast<uapi::DrmPrimeHandle*>(argument);
  std::shared_ptr<BufferObject> object = Lookup(prime.handle);
  if (object == nullptr) return -ENOENT;
  if (npu_->descriptors() == nullptr) return -ENOSYS;
  const int fd = npu_->descriptors()->Install(std::move(object), prime.flags);
  if (fd < 0) return fd;
  prime.fd = fd;
  return 0;
}

// A foreign buffer cannot be imported: the driver has no hook for it. One of ours gives the same
// object, still mapped only in the address space of the file that made it.
int File::FdToHandle(void* argument) {
  auto& prime = *static_cast<uapi::DrmPrimeHandle*>(argument);
  std::shared_ptr<BufferObject> object =
      npu_->descriptors() == nullptr ? nullptr : npu_->descriptors()->Find(prime.fd);
  if (object == nullptr) return -EINVAL;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [handle, known] : handles_) {
      if (known != object) continue;
      prime.handle = handle;
      return 0;
    }
  }
  prime.handle = AddHandle(std::move(object));
  return 0;
}

}  // namespace npu::kmodel
