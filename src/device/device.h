// SPDX-License-Identifier: Apache-2.0
// The device seam: buffers at NPU addresses and jobs of command lists. Providers: sim (in process),
// record (wraps another, saves jobs), null (accepts and computes nothing); later rocket and rknpu.
#ifndef SRC_DEVICE_DEVICE_H_
#define SRC_DEVICE_DEVICE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npu/status.h"

namespace npu::device {

// A buffer object. Freed with its last owner; the destructor waits for nothing, so wait for the
// jobs that use it first. Contents start as zeros.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual uint32_t iova() const = 0;  // page aligned, never 0
  virtual std::span<std::byte> bytes() const = 0;
  // Cache maintenance over the whole object. BeginCpuAccess: after the NPU wrote, before the CPU
  // reads. EndCpuAccess: after the CPU wrote, before a job that reads it.
  virtual Status BeginCpuAccess() = 0;
  virtual Status EndCpuAccess() = 0;
};

struct Task {
  uint32_t regcmd = 0;  // iova of the command list, 16-byte aligned
  uint32_t count = 0;   // 64-bit words, even, trailer included
  // At the chip's nominal clock; 0: not known. Kernels end a job after 500 ms: a provider cuts a
  // job that may take too long, and refuses a task that would alone.
  double modelled_us = 0;
};

// Bytes of an output that the job overwrites for certain and does not read before. Kernels report
// a job they dropped as done: a provider marks these bytes before the job and looks for the mark
// after it. No live data may be there. bytes == 0: none.
struct Canary {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;
  uint32_t bytes = 0;
};

struct Job {
  std::vector<Task> tasks;             // run in order
  std::vector<const Buffer*> inputs;   // only read by the NPU (command lists and weights too)
  std::vector<const Buffer*> outputs;  // written, or written and read; at least one
  bool chained = false;                // one kick for all tasks (needs DeviceInfo::can_chain)
  Canary canary = {};
};

// What became of a job. Durations of a simulated device are modelled, never measured.
struct JobReport {
  bool completed = false;
  std::string failure;                  // empty, or "hang: ...", "fault: ..." in words
  std::chrono::nanoseconds elapsed{0};  // wall time from submit to completion
  double modelled_us = 0.0;             // 0 where the provider has no model
  uint32_t kicks = 0;
  std::vector<std::string> diagnostics;  // strict simulator findings, one line each
};

struct DeviceInfo {
  std::string provider;  // "sim"
  std::string chip;      // "rk3588"
  std::string description;
  bool simulated = false;
  bool can_chain = false;
  // Whether a task that starts only the PPU is seen to complete (kernel-interfaces A.12): on a
  // kernel driver only where a check on this board proved it.
  bool completes_ppu = false;
  uint32_t cores = 1;  // devices of this kind that can work at the same time
};

// Counters since the device was opened; live_* are what exists now.
struct DeviceStatistics {
  uint64_t submits = 0, tasks = 0, kicks = 0, failures = 0;
  uint64_t live_buffers = 0, live_bytes = 0;
  double modelled_us = 0.0;
};

// Thread-safe. One job of one device runs at a time in this slice.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Whether this process can use the device at all: kNoDevice with the reason in a forked child and
  // once the device is gone. Ask before touching buffers: a child shares them with its parent.
  virtual Status Ready() const { return OkStatus(); }
  // kOutOfMemory when host memory or the 4 GiB address space ends; the message tells which.
  virtual Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes) = 0;
  // Validates the job (addresses, alignment, counts, buffers), runs it and waits until it is done
  // or has failed. A hung job is reported as kDeviceFault after the kernel's timeout (at once on
  // the simulator); `report`, if not null, is filled in both cases.
  virtual Status Run(const Job& job, JobReport* report) = 0;
  virtual DeviceStatistics statistics() const = 0;
};

}  // namespace npu::device

#endif  // SRC_DEVICE_DEVICE_H_
