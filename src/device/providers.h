// SPDX-License-Identifier: Apache-2.0
// The providers behind Open. Each function makes one kind of device.
#ifndef SRC_DEVICE_PROVIDERS_H_
#define SRC_DEVICE_PROVIDERS_H_

#include <filesystem>
#include <memory>

#include "npu/status.h"
#include "src/chip/profile.h"
#include "src/device/device.h"
#include "src/device/host_buffer.h"
#include "src/device/open.h"

namespace npu::device {

// The simulator as a device: 4 GiB of addresses, the kernel's rules for jobs, its watchdog reset.
Result<std::shared_ptr<Device>> OpenSim(const chip::Profile& profile, const OpenOptions& options);

// Checks jobs, runs nothing, leaves outputs as they are. Run allocates no memory.
Result<std::shared_ptr<Device>> OpenNull(const chip::Profile& profile, const OpenOptions& options);

// Passes everything to `inner` and saves each job with the contents of its buffers before it and,
// when it succeeded, what it changed as exact checks.
Result<std::shared_ptr<Device>> OpenRecord(std::shared_ptr<Device> inner,
                                           const std::filesystem::path& directory,
                                           const OpenOptions& options);

// The NPU behind the mainline driver `rocket`: finds node and chip, makes the start-up checks.
// kNoDevice: what was tried, errno in words, the remedy.
Result<std::shared_ptr<Device>> OpenRocket(const OpenOptions& options);

// What every provider demands of a job before anything runs, as A.18 of the kernel interfaces: at
// least one task and one output, counts even and encodable, lists 16-byte aligned inside a buffer
// that the job names, every buffer of this device and named once. Allocates only to report an
// error.
Status CheckJob(const Job& job, const LiveBuffers& live, const chip::Profile& profile,
                bool can_chain);

}  // namespace npu::device

#endif  // SRC_DEVICE_PROVIDERS_H_
