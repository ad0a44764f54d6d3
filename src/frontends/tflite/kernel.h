// SPDX-License-Identifier: Apache-2.0
// One claimed partition as the host sees it: a node with init, prepare, invoke and free.
#ifndef SRC_FRONTENDS_TFLITE_KERNEL_H_
#define SRC_FRONTENDS_TFLITE_KERNEL_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "npu/status.h"
#include "src/base/log.h"
#include "src/frontends/common/report.h"
#include "src/frontends/tflite/abi.h"
#include "src/frontends/tflite/claim.h"

namespace npu::tflite {

// The explain file of one delegate Prepare. Kernels add their statistics when they are freed, and
// the last of them completes the file. Thread-safe.
class ClaimRecord {
 public:
  ClaimRecord(frontends::ClaimReport report, Logger logger)
      : report_(std::move(report)), logger_(std::move(logger)) {}

  // Without statistics, at the time of the claim.
  void WriteExplain();
  void KernelStarted();
  void KernelFreed(const runtime::SessionStatistics& statistics);

 private:
  Status WriteLocked(const runtime::SessionStatistics* run);

  std::mutex mutex_;
  const frontends::ClaimReport report_;
  Logger logger_;
  runtime::SessionStatistics run_;
  size_t live_ = 0;
};

// Owns all it needs: hosts may destroy the delegate before its kernels (tflite-delegate 11.4).
// Used by one thread at a time.
class Kernel {
 public:
  Kernel(CompiledPartition partition, std::shared_ptr<ClaimRecord> record,
         frontends::Options options, Logger logger);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Cheap, repeatable; stores no pointer, since arena pointers are stale here.
  Status Prepare(const abi::Context& context) const;
  Status Invoke(const abi::Context& context);

 private:
  void NoteTime(double milliseconds);
  void WriteProfile();

  CompiledPartition partition_;
  std::shared_ptr<ClaimRecord> record_;
  frontends::Options options_;
  Logger logger_;
  std::vector<size_t> input_bytes_, output_bytes_;
  std::vector<std::span<const std::byte>> inputs_;
  std::vector<std::span<std::byte>> outputs_;
  frontends::PartitionTimes times_;
};

// Sends an error to the application and to stderr.
void ReportToHost(abi::Context* context, const Logger& logger, const Status& status);

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_KERNEL_H_
