// SPDX-License-Identifier: Apache-2.0
// The system calls of the rocket provider without a kernel: nodes, buffers with separate CPU and
// device bytes, jobs on the simulator, a clock that only waits move, and faults on demand.
#ifndef TESTS_UNIT_DEVICE_FAKE_SYS_H_
#define TESTS_UNIT_DEVICE_FAKE_SYS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/device/address_allocator.h"
#include "src/device/host_buffer.h"
#include "src/device/rocket_sys.h"
#include "src/sim/simulator.h"
#include "src/uapi/rocket.h"

namespace npu::device {

// What becomes of the next jobs.
enum class FakeJob : uint8_t { kGood, kDropped, kSilentTimeout, kNever, kLostWakeup };

class FakeSys : public RocketSys {
 public:
  struct Node {
    int open_error = 0;
    std::string driver = "rocket";  // empty: no DRM node
    int32_t major = 0, minor = 0;
  };
  std::map<std::string, Node> nodes;
  // Sees every ioctl before it runs; a value is its result instead.
  std::function<std::optional<int>(uint32_t request, void* argument)> on_ioctl;
  std::function<void(uapi::RocketCreateBo*)> on_created;  // may spoil the answer
  int map_error = 0;
  FakeJob job_outcome = FakeJob::kGood;
  uint32_t longest_job_struct = 48;  // longer ones are EINVAL
  bool honours_batched = true;
  bool ignore_hangs = false;  // jobs that raise no interrupt are retired all the same
  int64_t job_ns = 1'000'000;
  int64_t now_ns = 5'000'000'000;
  int64_t process = 100;

  int Open(const char* path, int flags) override;
  int Close(int fd) override;
  int Ioctl(int fd, uint32_t request, void* argument) override;
  int Map(int fd, uint64_t offset, size_t bytes, void** address) override;
  int Unmap(void* address, size_t bytes) override;
  int64_t MonotonicNs() override { return now_ns; }
  int64_t ProcessId() override { return process; }
  uint32_t PageBytes() override { return 4096; }

  // What exists now, and how often each request was made.
  size_t open_files() const { return files_.size(); }
  size_t buffers() const;
  size_t mappings() const { return mappings_.size(); }
  size_t count(uint32_t request) const;
  uint32_t last_job_bytes = 0;
  uapi::RocketJob last_job;
  std::vector<uint32_t> last_in, last_out;
  std::string findings;  // what the simulator had to say about the jobs, a line each

 private:
  struct Object {
    uint32_t iova = 0;
    uint64_t offset = 0;
    HostPages cpu, device;
    int64_t done_ns = 0;  // of the last job that writes it
    bool swallow_wakeup = false;
  };
  struct File {
    Node node;
    std::map<uint32_t, std::shared_ptr<Object>> objects;  // by handle
    sim::AddressSpace memory;
    bool guard_taken = false;
    AddressAllocator addresses{uint64_t{1} << 32, 4096};  // behind the first object, at 0
  };
  int Dispatch(File* file, uint32_t request, void* argument);
  int Version(const File& file, uapi::DrmVersion* version);
  int Create(File* file, uapi::RocketCreateBo* bo);
  int CloseObject(File* file, uint32_t handle);
  int Prep(File* file, const uapi::RocketPrepBo& prep);
  int Submit(File* file, const uapi::RocketSubmit& submit);
  bool Execute(File* file, const uapi::RocketJob& job);

  sim::Simulator simulator_{sim::SimOptions{}};  // the one core, which keeps its registers
  std::map<int, std::unique_ptr<File>> files_;
  std::map<void*, std::shared_ptr<Object>> mappings_;
  std::map<uint32_t, size_t> counts_;
  uint64_t next_offset_ = uint64_t{1} << 32;
  int next_fd_ = 3;
};

}  // namespace npu::device

#endif  // TESTS_UNIT_DEVICE_FAKE_SYS_H_
