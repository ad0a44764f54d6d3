// SPDX-License-Identifier: Apache-2.0
// A client of the kernel model: typed calls of its ioctls, golden cases as jobs, a log to look at.
#ifndef TESTS_UNIT_KMODEL_CLIENT_H_
#define TESTS_UNIT_KMODEL_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/device/job_file.h"
#include "src/kmodel/file.h"
#include "src/kmodel/npu.h"
#include "src/uapi/rocket.h"

namespace npu::kmodel {

inline constexpr int64_t kMillisecond = 1'000'000;

// An NPU whose log lines, oopses and job outcomes are kept.
class TestNpu {
 public:
  explicit TestNpu(Options options = {}, DescriptorTable* descriptors = nullptr);

  std::shared_ptr<File> Open() { return npu_->Open(); }
  Npu& npu() { return *npu_; }

  std::vector<JobOutcome> outcomes();
  std::string log();

 private:
  std::mutex mutex_;
  std::string log_;                   // under mutex_
  std::vector<JobOutcome> outcomes_;  // under mutex_
  std::shared_ptr<Npu> npu_;
};

// Options with a version and a short watchdog.
Options Quick(Version version = {});

struct Bo {
  uint32_t handle = 0;
  uint64_t iova = 0, offset = 0;
};

// Calls with the results of the ioctl: 0 or a negative errno.
int Create(File* file, uint32_t size, Bo* out);
Bo Create(File* file, uint32_t size);  // a test failure if it fails
int Close(File* file, uint32_t handle);
int Prep(File* file, uint32_t handle, int64_t deadline_ns, uint32_t reserved = 0);
int Fini(File* file, uint32_t handle, uint32_t reserved = 0);

// A job in user space; the vectors must stay until the submit.
struct UserJob {
  std::vector<uapi::RocketTask> tasks;
  std::vector<uint32_t> in, out;
  uint32_t flags = 0;
  uapi::RocketJob words() const;
};
int Submit(File* file, const UserJob& job);
int Submit(File* file, const std::vector<UserJob>& jobs);

// The buffers of a golden case at exactly its addresses, mapped.
class PlacedCase {
 public:
  // Place before the file has any object.
  PlacedCase(const std::string& name, File* file);
  ~PlacedCase();
  PlacedCase(const PlacedCase&) = delete;
  PlacedCase& operator=(const PlacedCase&) = delete;

  // Fills the buffers of submission 0 and flushes them.
  void Load(bool flush = true);
  UserJob Job() const;
  // Elements of all checks that differ from what is mapped.
  size_t Mismatches() const;
  uint32_t output() const { return Job().out.front(); }
  uint32_t handle(uint32_t id) const { return buffers_.at(id).bo.handle; }
  std::byte* bytes(uint32_t id) const { return buffers_.at(id).bytes; }
  const device::JobFile& file() const { return case_; }

 private:
  struct Buffer {
    Bo bo;
    std::byte* bytes = nullptr;
    uint64_t size = 0;
    std::shared_ptr<const void> keep;
  };
  device::JobFile case_;
  File* const file_;
  std::map<uint32_t, Buffer> buffers_;  // by the case's id
};

// A small convolution whose result is known.
inline constexpr char kSmallCase[] = "conv_i8_1x1_32x8x8_32";

}  // namespace npu::kmodel

#endif  // TESTS_UNIT_KMODEL_CLIENT_H_
