// SPDX-License-Identifier: Apache-2.0
// Runs a compiled program on a device.
#ifndef SRC_RUNTIME_SESSION_H_
#define SRC_RUNTIME_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npu/status.h"
#include "src/base/log.h"
#include "src/device/device.h"
#include "src/plan/program.h"

namespace npu::runtime {

struct SessionOptions {
  // At the first run each NPU operation is recomputed on the host from the device's own inputs with
  // silicon arithmetic and must be equal; on a mismatch the session runs on the host from then on.
  bool verify_first = false;
  // Start all tasks of a submit with one kick where device and program allow it.
  bool chain = true;
  Logger logger = Logger();
};

struct SessionStatistics {
  uint64_t runs = 0;
  uint64_t host_runs = 0;          // runs that used the host path after a failure
  uint64_t verify_mismatches = 0;  // elements, all operations
  uint64_t device_failures = 0;
  uint64_t submits = 0;
  uint64_t kicks = 0;
  double modelled_us = 0.0;  // of the last run
};

// Buffers and state of one partition. Belongs to one thread at a time; many sessions of one program
// run concurrently. Run allocates nothing.
class Session {
 public:
  static Result<std::unique_ptr<Session>> Create(
      std::shared_ptr<const plan::CompiledProgram> program, std::shared_ptr<device::Device> device,
      SessionOptions options);
  virtual ~Session() = default;

  // Row-major tensors in the order of graph.inputs and graph.outputs, of exactly their sizes.
  // A device failure is retried once, then this and all later runs take the host path (correct,
  // slower, announced once). An error means the outputs were not computed.
  virtual Status Run(std::span<const std::span<const std::byte>> inputs,
                     std::span<const std::span<std::byte>> outputs) = 0;
  virtual const SessionStatistics& statistics() const = 0;
};

}  // namespace npu::runtime

#endif  // SRC_RUNTIME_SESSION_H_
