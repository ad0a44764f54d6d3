// SPDX-License-Identifier: Apache-2.0
// Golden cases as jobs of a device, for tests.
#ifndef TESTS_UNIT_DEVICE_GOLDEN_JOB_H_
#define TESTS_UNIT_DEVICE_GOLDEN_JOB_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/device/job_file.h"

namespace npu::device {

// The folder with rk3588/: NPU_SHARED_DIR/golden, ../shared/golden or tests/golden; empty if none.
std::filesystem::path GoldenDir();

// The case `rk3588/<name>`; a test failure if it cannot be read.
JobFile ReadGolden(const std::string& name);

// The buffers of a file at exactly its addresses on a fresh device (fillers take the gaps).
class PlacedJob {
 public:
  PlacedJob(const JobFile& file, Device* device);

  // Buffers get their contents, then the job `index` of submission 0 is described.
  void LoadMemory();
  Job MakeJob(size_t index = 0) const;
  // Elements of all exact checks of submission 0 that differ.
  size_t Mismatches() const;
  Buffer* buffer(uint32_t id) const;

 private:
  void Place(Device* device);

  const JobFile& file_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // parallel to file_.buffers
  std::vector<std::unique_ptr<Buffer>> fillers_;
};

}  // namespace npu::device

#endif  // TESTS_UNIT_DEVICE_GOLDEN_JOB_H_
