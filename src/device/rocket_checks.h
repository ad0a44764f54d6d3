// SPDX-License-Identifier: Apache-2.0
// What the rocket provider checks beyond CheckJob: the layout of a chain before it is submitted,
// and at start-up whether this board does what its kernel offers.
#ifndef SRC_DEVICE_ROCKET_CHECKS_H_
#define SRC_DEVICE_ROCKET_CHECKS_H_

#include "npu/status.h"
#include "src/device/device.h"
#include "src/device/live_buffers.h"

namespace npu::device {

// A chained job's lists lie one behind the other (a gap up to the next 64-byte boundary is
// allowed), and each but the last names the next one and its length in its tail: anything else
// stalls behind the first task (kernel-interfaces B.2). kInvalidArgument names the task. The job
// has passed CheckJob.
Status CheckChain(const Job& job, const LiveBuffers& live);

// Runs two chained int8 1x1 convolutions of known result in one kick. Needs can_chain.
Status ProveChains(Device* device);

// Runs one max pool, a task that starts only the PPU and its reader. On a kernel that does not see
// it complete this takes the 500 ms of the watchdog (kernel-interfaces A.12).
Status ProvePpu(Device* device);

}  // namespace npu::device

#endif  // SRC_DEVICE_ROCKET_CHECKS_H_
