// SPDX-License-Identifier: Apache-2.0
// Everything the modelled kernel says: the lines of the real kernel log, the places where a stock
// kernel would crash, and the findings of the strict modes.
#ifndef SRC_KMODEL_REPORTER_H_
#define SRC_KMODEL_REPORTER_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "src/kmodel/options.h"

namespace npu::kmodel {

// Thread-safe if the logger and the callbacks are.
class Reporter {
 public:
  explicit Reporter(const Options& options) : options_(options) {}

  // A line of the kernel log, worded as the kernel words it: tools look for these.
  void KernelLine(const std::string& line) { options_.logger.Warning(line); }
  // A stock kernel would crash here. Does not return where on_oops does not.
  void Oops(const std::string& what);
  // A strict mode found a mistake of the client.
  void Finding(const char* mode, const std::string& what);

  uint64_t oopses() const { return oopses_; }
  uint64_t findings() const { return findings_; }

 private:
  const Options& options_;
  std::atomic<uint64_t> oopses_{0}, findings_{0};
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_REPORTER_H_
