// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/file.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "src/base/checked.h"
#include "src/kmodel/user_memory.h"

namespace npu::kmodel {
namespace {

constexpr std::chrono::milliseconds kClosePatience{1000};
// Requests are at most 16 KiB by encoding; ours are smaller, a longer tail is only copied.
constexpr size_t kMaxArgument = 0x3FFF;

// What a mapping keeps alive: the object and the open file (A.6).
struct MappingReference {
  std::shared_ptr<BufferObject> object;
  std::shared_ptr<File> file;
};

// Whether the request moves data in this direction, and the command does.
bool Moves(uint32_t request, uint32_t code, uapi::Direction direction) {
  return ((request & code) >> 30 & static_cast<uint32_t>(direction)) != 0;
}

}  // namespace

File::File(std::shared_ptr<Npu> npu)
    : npu_(std::move(npu)),
      domain_(std::make_shared<Domain>(
          npu_->memory()->page_bytes(),
          npu_->options().strict.shuffle ? npu_->options().seed + ++npu_->opens_ : 0)),
      entity_(npu_->scheduler().NewEntity()) {
  ++npu_->files_;
}

File::~File() {
  if (!npu_->scheduler().Retire(entity_, kClosePatience)) {
    npu_->reporter().KernelLine(
        "rocket: closed while its jobs were queued or running; a stock kernel uses freed memory "
        "here");
  }
  --npu_->files_;
}

const File::Command* File::FindCommand(uint32_t nr) {
  static constexpr Command kCommands[] = {
      {uapi::kNrVersion, uapi::kIoctlVersion, &File::GetVersion},
      {uapi::kNrGetUnique, uapi::kIoctlGetUnique, &File::GetUnique},
      {uapi::kNrGemClose, uapi::kIoctlGemClose, &File::GemClose},
      {uapi::kNrGemFlink, uapi::kIoctlGemFlink, &File::GemFlink},
      {uapi::kNrGetCap, uapi::kIoctlGetCap, &File::GetCap},
      {uapi::kNrSetClientCap, uapi::kIoctlSetClientCap, &File::SetClientCap},
      {uapi::kNrPrimeHandleToFd, uapi::kIoctlPrimeHandleToFd, &File::HandleToFd},
      {uapi::kNrPrimeFdToHandle, uapi::kIoctlPrimeFdToHandle, &File::FdToHandle},
      {uapi::kNrCreateBo, uapi::kIoctlCreateBo, &File::CreateBo},
      {uapi::kNrSubmit, uapi::kIoctlSubmit, &File::Submit},
      {uapi::kNrPrepBo, uapi::kIoctlPrepBo, &File::PrepBo},
      {uapi::kNrFiniBo, uapi::kIoctlFiniBo, &File::FiniBo},
      {uapi::kNrPrepBoRanges, uapi::kIoctlPrepBoRanges, &File::PrepBoRanges, 5},
      {uapi::kNrFiniBoRanges, uapi::kIoctlFiniBoRanges, &File::FiniBoRanges, 5},
  };
  for (const Command& command : kCommands) {
    if (command.nr == nr) return &command;
  }
  return nullptr;
}

// The rules of the DRM core (A.2): by number only, sizes are how much is copied.
int File::Ioctl(uint32_t request, uint64_t argument) {
  if (npu_->faults().NodeGoneAtNextIoctl()) return -ENODEV;
  if (uapi::RequestType(request) != uapi::kDrmIoctlType) return -ENOTTY;
  const Command* const command = FindCommand(uapi::RequestNr(request));
  if (command == nullptr) return -EINVAL;
  if (command->since_minor != 0 && !npu_->options().version.AtLeast(1, command->since_minor)) {
    return -EINVAL;
  }
  const size_t user_bytes = uapi::RequestBytes(request);
  alignas(8) std::array<std::byte, kMaxArgument + 1> words;
  const size_t kernel_bytes = std::max<size_t>(user_bytes, uapi::RequestBytes(command->code));
  std::fill_n(words.begin(), kernel_bytes, std::byte{0});
  const bool copy_in = Moves(request, command->code, uapi::Direction::kWrite);
  if (copy_in && !CopyFromUser(words.data(), argument, user_bytes)) return -EFAULT;
  int result = (this->*command->handler)(words.data());
  // Written back whatever the result, as the core does.
  const bool copy_out = Moves(request, command->code, uapi::Direction::kRead);
  if (copy_out && !CopyToUser(argument, words.data(), user_bytes)) result = -EFAULT;
  return result;
}

std::shared_ptr<BufferObject> File::Lookup(uint32_t handle) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = handles_.find(handle);
  return at == handles_.end() ? nullptr : at->second;
}

uint32_t File::AddHandle(std::shared_ptr<BufferObject> object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint32_t handle = 1;
  for (const auto& [taken, unused] : handles_) {
    if (taken != handle) break;
    ++handle;
  }
  handles_[handle] = std::move(object);
  return handle;
}

size_t File::handle_count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return handles_.size();
}

int File::CreateBo(void* argument) {
  auto& create = *static_cast<uapi::RocketCreateBo*>(argument);
  const FaultInjector::CreateFaults faults = npu_->faults().NextCreate();
  if (faults.no_memory) return -ENOMEM;
  if (create.size == 0) return -ENOSPC;
  const uint64_t page = npu_->memory()->page_bytes();
  // The kernel holds the mapped length in a signed 32-bit variable (A.5).
  if (RoundUp<uint64_t>(create.size, page) > INT32_MAX) return -ENOMEM;
  const uint64_t bytes =
      faults.short_object && create.size > page ? create.size - page : create.size;
  std::shared_ptr<BufferObject> object;
  const bool coherent = !npu_->options().strict.coherency;
  const int result = BufferObject::Create(domain_, npu_->memory(), bytes, coherent, &object);
  if (result != 0) return result;
  npu_->AddObject(object);
  create.dma_address = object->iova();
  create.offset = object->offset();
  create.handle = AddHandle(std::move(object));
  return 0;
}

int File::GemClose(void* argument) {
  std::shared_ptr<BufferObject> object;  // goes after the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = handles_.find(static_cast<uapi::DrmGemClose*>(argument)->handle);
  if (at == handles_.end()) return -EINVAL;
  object = std::move(at->second);
  handles_.erase(at);
  return 0;
}

File::Mapping File::Map(uint64_t length, int protection, int flags, uint64_t offset) {
  if (npu_->faults().node_gone()) return {.error = -ENODEV};
  if (npu_->faults().FailNextMmap()) return {.error = -ENOMEM};
  std::shared_ptr<BufferObject> object = npu_->FindObject(offset);
  if (object == nullptr || length == 0) return {.error = -EINVAL};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool mine = std::any_of(handles_.begin(), handles_.end(),
                                  [&](const auto& entry) { return entry.second == object; });
    if (!mine) return {.error = -EACCES};
  }
  if (length > object->bytes()) return {.error = -EINVAL};
  const bool shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
  if (!shared && (protection & PROT_WRITE) != 0) return {.error = -EINVAL};
  auto keep = std::make_shared<MappingReference>(MappingReference{object, shared_from_this()});
  return {.fd = npu_->memory()->fd(), .offset = offset, .keep = std::move(keep)};
}

}  // namespace npu::kmodel
