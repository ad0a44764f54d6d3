// SPDX-License-Identifier: Apache-2.0
// Step S5 needs the kernel's own calls: the device seam has no poll.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "src/base/checked.h"
#include "src/regs/command.h"
#include "src/selftest/steps.h"
#include "src/uapi/rocket.h"

namespace npu::selftest {
namespace {

constexpr uint32_t kTasks = 512;   // long enough to be in flight, far from the 500 ms limit
constexpr double kPromptMs = 100;  // a poll that waits for the job would take longer
constexpr int64_t kWaitNs = 2'000'000'000;
constexpr std::string_view kProvider = "rocket";

int64_t Now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// One open file of the driver with its buffers; closes after its last job is done.
class RocketFile {
 public:
  ~RocketFile() {
    for (const Bo& bo : bos_) {
      if (bo.memory != MAP_FAILED) munmap(bo.memory, bo.bytes);
    }
    if (fd_ >= 0) close(fd_);
  }
  RocketFile() = default;
  RocketFile(const RocketFile&) = delete;
  RocketFile& operator=(const RocketFile&) = delete;

  struct Bo {
    uint32_t handle = 0, iova = 0;
    size_t bytes = 0;
    void* memory = MAP_FAILED;
  };

  // The first node whose driver is rocket.
  bool Open() {
    const std::unique_ptr<DIR, void (*)(DIR*)> directory(opendir("/dev/accel"),
                                                         [](DIR* d) { closedir(d); });
    // An empty unique_ptr never calls its deleter.
    if (!directory) return false;
    while (const dirent* entry = readdir(directory.get())) {
      if (!std::string_view(entry->d_name).starts_with("accel")) continue;
      fd_ = open(fmt::format("/dev/accel/{}", entry->d_name).c_str(), O_RDWR | O_CLOEXEC);
      if (fd_ < 0) continue;
      std::array<char, 32> name{};
      uapi::DrmVersion version;
      version.name = reinterpret_cast<uintptr_t>(name.data());
      version.name_len = name.size() - 1;
      if (Call(uapi::kIoctlVersion, &version) == 0 && name.data() == kProvider) return true;
      close(std::exchange(fd_, -1));
    }
    return false;
  }

  // 0 or the errno; interrupted calls are repeated (a wait keeps its absolute deadline).
  int Call(uint32_t request, void* argument) const {
    int result = 0;
    do {
      result = ioctl(fd_, static_cast<unsigned long>(request), argument);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
  }

  // Null when the kernel refuses.
  const Bo* Create(uint32_t bytes) {
    uapi::RocketCreateBo create;
    create.size = bytes;
    if (Call(uapi::kIoctlCreateBo, &create) != 0) return nullptr;
    Bo bo{create.handle, static_cast<uint32_t>(create.dma_address), bytes, MAP_FAILED};
    bo.memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                     static_cast<off_t>(create.offset));
    bos_.push_back(bo);
    return bo.memory == MAP_FAILED ? nullptr : &bos_.back();
  }

  int Prep(uint32_t handle, int64_t deadline) const {
    uapi::RocketPrepBo prep{.handle = handle, .reserved = 0, .timeout_ns = deadline};
    return Call(uapi::kIoctlPrepBo, &prep);
  }
  int Fini(uint32_t handle) const {
    uapi::RocketFiniBo fini{.handle = handle, .reserved = 0};
    return Call(uapi::kIoctlFiniBo, &fini);
  }

 private:
  int fd_ = -1;
  std::vector<Bo> bos_;
};

// The tiny case on a raw file: buffers by id, lists relocated by value (addresses of these cases
// are no other register's value).
bool Load(const device::JobFile& file, RocketFile* rocket,
          std::map<uint32_t, RocketFile::Bo>* bos) {
  if (rocket->Create(4096) == nullptr) return false;  // the guard page at address 0
  for (const device::JobBuffer& buffer : file.buffers) {
    const RocketFile::Bo* bo = rocket->Create(static_cast<uint32_t>(buffer.size));
    if (bo == nullptr) return false;
    bos->emplace(buffer.id, *bo);
  }
  for (const device::MemoryRecord& record : file.submits[0].memory) {
    auto* bytes = static_cast<std::byte*>(bos->at(record.buffer).memory);
    for (const device::MemorySegment& segment : record.segments) {
      const auto data = file.Bytes(segment.data_offset, segment.length);
      std::memcpy(bytes + segment.offset, data.data(), data.size());
    }
  }
  for (const device::TaskRecord& task : file.submits[0].jobs[0].tasks) {
    const device::JobBuffer* list = file.FindRange(task.regcmd, 1);
    if (list == nullptr) return false;
    auto* bytes = static_cast<std::byte*>(bos->at(list->id).memory) + (task.regcmd - list->iova);
    for (uint32_t i = 0; i < task.count; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + i * sizeof word, sizeof word);
      const regs::CommandWord split = regs::Split(word);
      const device::JobBuffer* target = file.FindRange(split.value, 1);
      if (target == nullptr || !regs::BlockOf(split.target)) continue;
      word = regs::MakeWord(static_cast<regs::Target>(split.target),
                            bos->at(target->id).iova + (split.value - target->iova), split.offset);
      std::memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
  }
  for (const auto& [id, bo] : *bos) {
    if (rocket->Fini(bo.handle) != 0) return false;
  }
  return true;
}

// Submits the first task `kTasks` times in one job. 0 or the errno.
int Submit(const device::JobFile& file, const RocketFile& rocket,
           const std::map<uint32_t, RocketFile::Bo>& bos) {
  const device::JobRecord& record = file.submits[0].jobs[0];
  const device::JobBuffer* list = file.FindRange(record.tasks[0].regcmd, 1);
  const uapi::RocketTask task{
      .regcmd = bos.at(list->id).iova + (record.tasks[0].regcmd - list->iova),
      .regcmd_count = RoundUp<uint32_t>(record.tasks[0].count, 2)};
  const std::vector<uapi::RocketTask> tasks(kTasks, task);
  std::vector<uint32_t> in, out;
  for (const uint32_t id : record.in) in.push_back(bos.at(id).handle);
  for (const uint32_t id : record.out) out.push_back(bos.at(id).handle);
  uapi::RocketJob job;
  job.tasks = reinterpret_cast<uintptr_t>(tasks.data());
  job.task_count = kTasks;
  job.task_struct_size = sizeof(uapi::RocketTask);
  job.in_bo_handles = reinterpret_cast<uintptr_t>(in.data());
  job.in_bo_handle_count = static_cast<uint32_t>(in.size());
  job.out_bo_handles = reinterpret_cast<uintptr_t>(out.data());
  job.out_bo_handle_count = static_cast<uint32_t>(out.size());
  uapi::RocketSubmit submit{.jobs = reinterpret_cast<uintptr_t>(&job),
                            .job_count = 1,
                            .job_struct_size = sizeof job,
                            .reserved = 0};
  return rocket.Call(uapi::kIoctlSubmit, &submit);
}

}  // namespace

StepResult StepPolling(const device::DeviceInfo& info, const device::JobFile& tiny) {
  StepResult step{"S5", "polling", Verdict::kSkip, {}};
  if (info.provider != kProvider) {
    step.evidence = "only on the kernel driver rocket";
    return step;
  }
  step.verdict = Verdict::kFail;
  RocketFile rocket;
  std::map<uint32_t, RocketFile::Bo> bos;
  if (!rocket.Open() || !Load(tiny, &rocket, &bos)) {
    step.evidence = fmt::format("cannot open or allocate: {}", std::strerror(errno));
    return step;
  }
  if (const int error = Submit(tiny, rocket, bos); error != 0) {
    step.evidence = fmt::format("submit: {}", std::strerror(error));
    return step;
  }
  const uint32_t handle = bos.at(tiny.submits[0].jobs[0].out[0]).handle;
  const int64_t before = Now();
  const int polled = rocket.Prep(handle, before - 1'000'000);
  const double ms = static_cast<double>(Now() - before) * 1e-6;
  // Never close with a job in flight (kernel-interfaces A.13).
  const int waited = rocket.Prep(handle, Now() + kWaitNs);
  const bool answered = polled == 0 || polled == EBUSY;
  step.verdict = answered && ms < kPromptMs && waited == 0 ? Verdict::kPass : Verdict::kFail;
  step.evidence = fmt::format("past deadline during {} tasks: {} after {:.2f} ms", kTasks,
                              polled == 0 ? "done" : std::strerror(polled), ms);
  if (waited != 0) step.evidence += fmt::format("; then: {}", std::strerror(waited));
  return step;
}

}  // namespace npu::selftest
