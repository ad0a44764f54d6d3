// SPDX-License-Identifier: Apache-2.0
#include "src/device/rocket_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace npu::device {
namespace {

// Signals come one at a time; a call that is interrupted this often is broken.
constexpr int kMaxInterruptions = 10000;

uint64_t Pointer(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// What the person in front of the machine can do about a node that does not open (F.2).
const char* OpenRemedy(int error) {
  switch (error) {
    case EACCES:
      return "add your user to the group that owns the node (render on most systems) and log in "
             "again; where it belongs to root, add the udev rule SUBSYSTEM==\"accel\", "
             "KERNEL==\"accel[0-9]*\", GROUP=\"render\", MODE=\"0660\"";
    case EPERM:
      return "pass the device into the container and add the number of the host's group render";
    case ENOENT:
      return "the driver rocket of Linux 6.18 and later makes it: load it with modprobe rocket, "
             "and enable the NPU in the device tree";
    case ENODEV:
    case ENXIO:
      return "the node is stale: load the module rocket again";
    case ENOMEM:
      return "free memory or raise the limit of this process's control group";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return "look into the kernel log";
  }
}

bool Vanished(int error) {
  return error == ENODEV || error == ENXIO || error == EIO || error == EBADF;
}

}  // namespace

std::string ErrnoText(int error) { return std::generic_category().message(error); }

int64_t Deadline(int64_t now_ns, int64_t duration_ns) {
  constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
  return now_ns > kForever - duration_ns ? kForever : now_ns + duration_ns;
}

Result<std::unique_ptr<RocketFile>> RocketFile::Open(std::shared_ptr<RocketSys> sys,
                                                     const std::string& path) {
  int fd = 0;
  do {
    fd = sys->Open(path.c_str(), O_RDWR | O_CLOEXEC);
  } while (fd == -EINTR);
  if (fd < 0) {
    return Status(ErrorCode::kNoDevice, fmt::format("{} cannot be opened: {}; {}", path,
                                                    ErrnoText(-fd), OpenRemedy(-fd)));
  }
  std::unique_ptr<RocketFile> file(
      new RocketFile(std::move(sys), path, fd));  // NOLINT: private constructor
  file->AskDriver();
  return file;
}

RocketFile::RocketFile(std::shared_ptr<RocketSys> sys, std::string path, int fd)
    : sys_(std::move(sys)), path_(std::move(path)), fd_(fd), process_(sys_->ProcessId()) {}

// In a forked child this gives up the child's reference only.
RocketFile::~RocketFile() { (void)sys_->Close(fd_); }

void RocketFile::AskDriver() {
  std::array<char, 64> name{}, date{}, description{};
  uapi::DrmVersion version;
  version.name = Pointer(name.data());
  version.name_len = name.size();
  version.date = Pointer(date.data());
  version.date_len = date.size();
  version.desc = Pointer(description.data());
  version.desc_len = description.size();
  if (sys_->Ioctl(fd_, uapi::kIoctlVersion, &version) < 0) return;
  driver_.assign(name.data(), std::min<uint64_t>(version.name_len, name.size()));
  major_ = version.major;
  minor_ = version.minor;
}

bool RocketFile::AtLeast(int32_t major, int32_t minor) const {
  return major_ > major || (major_ == major && minor_ >= minor);
}

std::string RocketFile::version() const { return fmt::format("{}.{}", major_, minor_); }

Status RocketFile::Usable() const {
  if (forked()) {
    return Status(ErrorCode::kNoDevice,
                  fmt::format("{} was opened by the process this one was forked from and cannot "
                              "be used here; create the interpreter after the fork",
                              path_));
  }
  if (!lost_.load(std::memory_order_acquire)) return OkStatus();
  const std::lock_guard<std::mutex> lock(mutex_);
  return Status(ErrorCode::kNoDevice, why_lost_);
}

void RocketFile::MarkLost(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (why_lost_.empty()) {
    why_lost_ = fmt::format(
        "{} is not used any more: {}; look into the kernel log, load the "
        "module rocket again or restart the machine",
        path_, why);
  }
  lost_.store(true, std::memory_order_release);
}

int RocketFile::Call(uint32_t request, void* argument) {
  int result = -EINTR;
  for (int i = 0; i < kMaxInterruptions && result == -EINTR; ++i) {
    result = sys_->Ioctl(fd_, request, argument);
  }
  if (result < 0 && Vanished(-result)) MarkLost(ErrnoText(-result));
  return result;
}

Status RocketFile::Failed(const char* what, int error) const {
  ErrorCode code = ErrorCode::kDeviceFault;
  const char* remedy = "look into the kernel log";
  if (Vanished(error)) {
    code = ErrorCode::kNoDevice;
    remedy = "the device is gone: look into the kernel log and load the module rocket again";
  } else if (error == ENOMEM) {
    code = ErrorCode::kOutOfMemory;
    remedy = "out of memory: free some, or raise the limit of this process's control group";
  } else if (error == ENOSPC) {
    code = ErrorCode::kOutOfMemory;
    remedy =
        "out of NPU address space (4 GiB for each open file): use a smaller model or fewer "
        "sessions";
  }
  return Status(code, fmt::format("{}: {} failed: {}; {}", path_, what, ErrnoText(error), remedy));
}

Result<uapi::RocketCreateBo> RocketFile::CreateBo(uint32_t bytes) {
  NPU_RETURN_IF_ERROR(Usable());
  uapi::RocketCreateBo bo;
  bo.size = bytes;
  const int result = Call(uapi::kIoctlCreateBo, &bo);
  if (result < 0) {
    return Failed(fmt::format("allocating a buffer of {} bytes", bytes).c_str(), -result);
  }
  return bo;
}

void RocketFile::CloseBo(uint32_t handle) {
  if (forked()) return;  // it would close the parent's
  uapi::DrmGemClose close;
  close.handle = handle;
  (void)Call(uapi::kIoctlGemClose, &close);
}

Result<std::span<std::byte>> RocketFile::Map(const uapi::RocketCreateBo& bo, size_t bytes) {
  void* address = nullptr;
  const int result = sys_->Map(fd_, bo.offset, bytes, &address);
  if (result < 0) {
    return Failed(fmt::format("mapping a buffer of {} bytes", bytes).c_str(), -result);
  }
  return std::span<std::byte>(static_cast<std::byte*>(address), bytes);
}

void RocketFile::Unmap(std::span<std::byte> bytes) {
  if (!bytes.empty()) (void)sys_->Unmap(bytes.data(), bytes.size());
}

int RocketFile::PrepRaw(uint32_t handle, int64_t deadline_ns) {
  uapi::RocketPrepBo prep;
  prep.handle = handle;
  prep.timeout_ns = deadline_ns;
  int result = 0;
  do {  // with the same deadline, so that signals cannot prolong the wait
    result = sys_->Ioctl(fd_, uapi::kIoctlPrepBo, &prep);
  } while (result == -EINTR && sys_->MonotonicNs() < deadline_ns);
  return result;
}

Result<bool> RocketFile::Prep(uint32_t handle, int64_t deadline_ns) {
  NPU_RETURN_IF_ERROR(Usable());
  const int result = PrepRaw(handle, deadline_ns);
  if (result == -EBUSY || result == -ETIMEDOUT || result == -EINTR) return false;
  if (result >= 0) return true;
  if (Vanished(-result)) MarkLost(ErrnoText(-result));
  return Failed("waiting for a buffer", -result);
}

void RocketFile::AwaitAnyway(uint32_t handle, int64_t deadline_ns) {
  if (!forked()) (void)PrepRaw(handle, deadline_ns);
}

Status RocketFile::Fini(uint32_t handle) {
  NPU_RETURN_IF_ERROR(Usable());
  uapi::RocketFiniBo fini;
  fini.handle = handle;
  const int result = Call(uapi::kIoctlFiniBo, &fini);
  return result < 0 ? Failed("handing a buffer to the NPU", -result) : OkStatus();
}

int RocketFile::SubmitOnce(const JobArrays& arrays, uint32_t job_bytes) {
  uapi::RocketJob job;
  job.tasks = Pointer(arrays.tasks.data());
  job.task_count = static_cast<uint32_t>(arrays.tasks.size());
  job.task_struct_size = uapi::kRocketTaskV1Bytes;
  job.in_bo_handles = Pointer(arrays.inputs.data());
  job.in_bo_handle_count = static_cast<uint32_t>(arrays.inputs.size());
  job.out_bo_handles = Pointer(arrays.outputs.data());
  job.out_bo_handle_count = static_cast<uint32_t>(arrays.outputs.size());
  job.flags = arrays.batched ? uapi::kRocketJobBatched : 0;
  uapi::RocketSubmit submit;
  submit.jobs = Pointer(&job);
  submit.job_count = 1;  // so that EINTR can be retried: nothing was queued (A.9)
  submit.job_struct_size = job_bytes;
  return Call(uapi::kIoctlSubmit, &submit);
}

Status RocketFile::Submit(const JobArrays& job) {
  NPU_RETURN_IF_ERROR(Usable());
  const uint32_t job_bytes = job_bytes_.load(std::memory_order_relaxed);
  int result = SubmitOnce(job, job_bytes);
  // A kernel whose header and module differ may refuse the longer structure (F.3 K03). This job is
  // a good one, so asking again with the old length probes without risk. Flags need the new one.
  if (result == -EINVAL && job_bytes > uapi::kRocketJobV1Bytes && !job.batched) {
    result = SubmitOnce(job, uapi::kRocketJobV1Bytes);
    if (result >= 0) job_bytes_.store(uapi::kRocketJobV1Bytes, std::memory_order_relaxed);
  }
  return result < 0 ? Failed("submitting a job", -result) : OkStatus();
}

}  // namespace npu::device
