// SPDX-License-Identifier: Apache-2.0
// One open node of the mainline driver `rocket`: its ioctls, with the retries and deadlines they
// need, as Status (kernel-interfaces A, B). One file is one address space and works on one core at
// a time.
#ifndef SRC_DEVICE_ROCKET_FILE_H_
#define SRC_DEVICE_ROCKET_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "npu/status.h"
#include "src/device/rocket_sys.h"
#include "src/uapi/rocket.h"

namespace npu::device {

// errno in words.
std::string ErrnoText(int error);

// min(INT64_MAX, now + duration): deadlines are absolute (A.7).
int64_t Deadline(int64_t now_ns, int64_t duration_ns);

// Thread-safe.
class RocketFile {
 public:
  // Opens any DRM node and asks for its driver. kNoDevice: errno in words and the remedy.
  static Result<std::unique_ptr<RocketFile>> Open(std::shared_ptr<RocketSys> sys,
                                                  const std::string& path);
  ~RocketFile();
  RocketFile(const RocketFile&) = delete;
  RocketFile& operator=(const RocketFile&) = delete;

  const std::string& path() const { return path_; }
  // Of the driver: "rocket"; empty when the node answers no DRM request.
  const std::string& driver() const { return driver_; }
  // Of the kernel interface: 0.0 on stock kernels.
  bool AtLeast(int32_t major, int32_t minor) const;
  std::string version() const;
  RocketSys& sys() const { return *sys_; }

  // kNoDevice in a process forked after Open, where every call would reach the parent's buffers,
  // and once the device is lost.
  Status Usable() const;
  // Nothing will work any more. The first reason stays.
  void MarkLost(const std::string& why);
  bool forked() const { return sys_->ProcessId() != process_; }

  Result<uapi::RocketCreateBo> CreateBo(uint32_t bytes);
  void CloseBo(uint32_t handle);
  Result<std::span<std::byte>> Map(const uapi::RocketCreateBo& bo, size_t bytes);
  void Unmap(std::span<std::byte> bytes);

  // Waits for the jobs that write the object and makes it readable. False: not before the deadline.
  Result<bool> Prep(uint32_t handle, int64_t deadline_ns);
  // The same wait, also on a lost device, whatever comes of it.
  void AwaitAnyway(uint32_t handle, int64_t deadline_ns);
  // Writes back what the CPU changed.
  Status Fini(uint32_t handle);

  // Exactly one job. The caller has validated it: stock kernels crash on malformed ones (A.9).
  struct JobArrays {
    std::span<const uapi::RocketTask> tasks;
    std::span<const uint32_t> inputs, outputs;
    bool batched = false;
  };
  Status Submit(const JobArrays& job);

 private:
  RocketFile(std::shared_ptr<RocketSys> sys, std::string path, int fd);
  void AskDriver();
  int PrepRaw(uint32_t handle, int64_t deadline_ns);
  // The result, or a negative errno; EINTR is retried, a vanished device is noted.
  int Call(uint32_t request, void* argument);
  int SubmitOnce(const JobArrays& job, uint32_t job_bytes);
  Status Failed(const char* what, int error) const;

  const std::shared_ptr<RocketSys> sys_;
  const std::string path_;
  const int fd_;
  const int64_t process_;  // that opened it
  std::string driver_;
  int32_t major_ = 0, minor_ = 0;
  std::atomic<uint32_t> job_bytes_{sizeof(uapi::RocketJob)};
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;
  std::string why_lost_;  // under mutex_
};

}  // namespace npu::device

#endif  // SRC_DEVICE_ROCKET_FILE_H_
