// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device/fake_sys.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace npu::device {
namespace {

constexpr int64_t kWatchdogNs = 500'000'000;

template <typename T>
T* Pointer(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

}  // namespace

int FakeSys::Open(const char* path, int) {
  const auto it = nodes.find(path);
  if (it == nodes.end()) return -ENOENT;
  if (it->second.open_error != 0) return -it->second.open_error;
  auto file = std::make_unique<File>();
  file->node = it->second;
  files_[next_fd_] = std::move(file);
  return next_fd_++;
}

int FakeSys::Close(int fd) { return files_.erase(fd) == 1 ? 0 : -EBADF; }

size_t FakeSys::buffers() const {
  size_t total = 0;
  for (const auto& [fd, file] : files_) total += file->objects.size();
  return total;
}

size_t FakeSys::count(uint32_t request) const {
  const auto it = counts_.find(request);
  return it == counts_.end() ? 0 : it->second;
}

int FakeSys::Ioctl(int fd, uint32_t request, void* argument) {
  ++counts_[request];
  const auto it = files_.find(fd);
  if (it == files_.end()) return -EBADF;
  if (on_ioctl) {
    if (const auto result = on_ioctl(request, argument)) return *result;
  }
  if (it->second->node.driver.empty()) return -ENOTTY;
  return Dispatch(it->second.get(), request, argument);
}

int FakeSys::Dispatch(File* file, uint32_t request, void* argument) {
  switch (request) {
    case uapi::kIoctlVersion:
      return Version(*file, static_cast<uapi::DrmVersion*>(argument));
    case uapi::kIoctlCreateBo:
      return Create(file, static_cast<uapi::RocketCreateBo*>(argument));
    case uapi::kIoctlGemClose:
      return CloseObject(file, static_cast<uapi::DrmGemClose*>(argument)->handle);
    case uapi::kIoctlPrepBo:
      return Prep(file, *static_cast<uapi::RocketPrepBo*>(argument));
    case uapi::kIoctlFiniBo: {
      const auto it = file->objects.find(static_cast<uapi::RocketFiniBo*>(argument)->handle);
      if (it == file->objects.end()) return -ENOENT;
      Object& object = *it->second;  // the simulator has a view of the bytes: they must not move
      std::ranges::copy(object.cpu.bytes(), object.device.bytes().begin());
      return 0;
    }
    case uapi::kIoctlSubmit:
      return Submit(file, *static_cast<uapi::RocketSubmit*>(argument));
    default:
      return -EINVAL;
  }
}

int FakeSys::Version(const File& file, uapi::DrmVersion* version) {
  const std::string& name = file.node.driver;
  std::memcpy(Pointer<char>(version->name), name.data(),
              std::min<size_t>(version->name_len, name.size()));
  version->name_len = name.size();
  version->major = file.node.major;
  version->minor = file.node.minor;
  return 0;
}

int FakeSys::Create(File* file, uapi::RocketCreateBo* bo) {
  auto object = std::make_shared<Object>();
  const uint64_t rounded = (uint64_t{bo->size} + 4095) / 4096 * 4096;
  if (rounded == 0) return -ENOSPC;
  if (file->guard_taken) {
    const Result<uint32_t> iova = file->addresses.Allocate(bo->size);
    if (!iova.ok()) return -ENOSPC;
    object->iova = *iova;
  }
  file->guard_taken = true;
  object->offset = next_offset_;
  Result<HostPages> cpu = HostPages::Allocate(rounded), device = HostPages::Allocate(rounded);
  if (!cpu.ok() || !device.ok()) return -ENOMEM;
  object->cpu = *std::move(cpu);
  object->device = *std::move(device);
  next_offset_ += rounded;
  uint32_t handle = 1;
  while (file->objects.count(handle) != 0) ++handle;
  if (!file->memory.Map(object->iova, object->device.bytes()).ok()) return -ENOSPC;
  bo->handle = handle;
  bo->dma_address = object->iova;
  bo->offset = object->offset;
  file->objects[handle] = std::move(object);
  if (on_created) on_created(bo);
  return 0;
}

int FakeSys::CloseObject(File* file, uint32_t handle) {
  const auto it = file->objects.find(handle);
  if (it == file->objects.end()) return -EINVAL;
  (void)file->memory.Unmap(it->second->iova);
  (void)file->addresses.Free(it->second->iova);
  file->objects.erase(it);
  return 0;
}

int FakeSys::Map(int fd, uint64_t offset, size_t bytes, void** address) {
  if (map_error != 0) return -map_error;
  const auto file = files_.find(fd);
  if (file == files_.end()) return -EBADF;
  for (const auto& [handle, object] : file->second->objects) {
    if (object->offset != offset) continue;
    if (bytes > object->cpu.bytes().size()) return -EINVAL;
    *address = object->cpu.bytes().data();
    mappings_[*address] = object;
    return 0;
  }
  return -EINVAL;
}

int FakeSys::Unmap(void* address, size_t) { return mappings_.erase(address) == 1 ? 0 : -EINVAL; }

int FakeSys::Prep(File* file, const uapi::RocketPrepBo& prep) {
  if (prep.reserved != 0) return -EINVAL;
  const auto it = file->objects.find(prep.handle);
  if (it == file->objects.end()) return -ENOENT;
  Object& object = *it->second;
  int result = 0;
  if (object.swallow_wakeup && prep.timeout_ns > now_ns) {  // done, and nobody wakes the sleeper
    object.swallow_wakeup = false;
    now_ns = prep.timeout_ns;
    result = -ETIMEDOUT;
  } else if (object.done_ns > now_ns) {
    result = prep.timeout_ns <= now_ns ? -EBUSY : prep.timeout_ns < object.done_ns ? -ETIMEDOUT : 0;
    now_ns = std::max(now_ns, std::min(prep.timeout_ns, object.done_ns));
  }
  // The cache is invalidated whatever became of the wait.
  if (object.done_ns <= now_ns) {
    std::ranges::copy(object.device.bytes(), object.cpu.bytes().begin());
  }
  return result;
}

int FakeSys::Submit(File* file, const uapi::RocketSubmit& submit) {
  last_job_bytes = submit.job_struct_size;
  if (submit.job_count != 1 || submit.reserved != 0) return -EINVAL;
  if (submit.job_struct_size < uapi::kRocketJobV1Bytes) return -EINVAL;
  if (submit.job_struct_size > longest_job_struct) return -EINVAL;
  uapi::RocketJob job;
  std::memcpy(&job, Pointer<std::byte>(submit.jobs), submit.job_struct_size);
  last_job = job;
  const auto* in = Pointer<uint32_t>(job.in_bo_handles);
  const auto* out = Pointer<uint32_t>(job.out_bo_handles);
  last_in.assign(in, in + job.in_bo_handle_count);
  last_out.assign(out, out + job.out_bo_handle_count);
  int64_t done = now_ns + job_ns;
  if (job_outcome == FakeJob::kDropped) done = now_ns;
  if (job_outcome == FakeJob::kSilentTimeout) done = now_ns + kWatchdogNs;
  if (job_outcome == FakeJob::kNever) done = std::numeric_limits<int64_t>::max();
  if (job_outcome == FakeJob::kGood || job_outcome == FakeJob::kLostWakeup) {
    if (!Execute(file, job) && !ignore_hangs) done = now_ns + kWatchdogNs;
  }
  for (const uint32_t handle : last_out) {
    if (file->objects.count(handle) == 0) return -ENOENT;
    file->objects[handle]->done_ns = done;
    file->objects[handle]->swallow_wakeup = job_outcome == FakeJob::kLostWakeup;
  }
  return 0;
}

bool FakeSys::Execute(File* file, const uapi::RocketJob& job) {
  const bool batched = (job.flags & uapi::kRocketJobBatched) != 0 && honours_batched;
  bool completed = true;
  const uint32_t kicks = batched ? 1 : job.task_count;
  for (uint32_t k = 0; k < kicks; ++k) {
    uapi::RocketTask task;
    std::memcpy(&task, Pointer<std::byte>(job.tasks) + size_t{k} * job.task_struct_size,
                sizeof task);
    const sim::KickResult result =
        simulator_.RunKick(file->memory, {.regcmd = task.regcmd,
                                          .count = task.regcmd_count,
                                          .task_number = batched ? job.task_count : 1,
                                          .first_of_job = k == 0});
    for (const auto& d : result.diagnostics) findings += sim::ToString(d) + "\n";
    if (result.outcome != sim::Outcome::kComplete) {  // as the kernel after its watchdog
      findings += std::string(sim::ToString(result.outcome)) + ": " + result.reason + "\n";
      simulator_.Reset();
      completed = false;
    }
  }
  return completed;
}

}  // namespace npu::device
