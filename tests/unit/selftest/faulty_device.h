// SPDX-License-Identifier: Apache-2.0
// A simulated NPU with one planted fault: a device that changes what the simulator is told, runs it
// and puts everything back. Only tests can make one.
#ifndef TESTS_UNIT_SELFTEST_FAULTY_DEVICE_H_
#define TESTS_UNIT_SELFTEST_FAULTY_DEVICE_H_

#include <cstdint>
#include <memory>

#include "src/device/device.h"

namespace npu::selftest {

enum class Fault : uint8_t {
  kNone,
  kRoundsAway,     // OUT_CVT rounds ties away from zero instead of to even
  kWeightLane,     // one lane of every weight group reads as 0
  kSurfaceStride,  // output surfaces one atom too far apart
  kLastTask,       // the last task of a job of several is lost
  kNoLimit,        // BN ReLUx does not limit
  kPadZero,        // taps outside the plane read 0
  kNoMultiplier,   // the per-channel multiplier of BS is skipped
  kDropsJobs,      // jobs are reported done and never run
  kWritesBeyond,   // one byte behind the output
  kWritesInput,    // one byte of a buffer that is only read
  kDirtyBuffers,   // new buffers are not zeroed
  kLostWrites,     // what the CPU wrote last is gone after cache upkeep
  kOffsetByOne,    // OUT_CVT adds one too much
};

// Wraps `inner`, a simulated device that can chain.
std::shared_ptr<device::Device> PlantFault(std::shared_ptr<device::Device> inner, Fault fault);

}  // namespace npu::selftest

#endif  // TESTS_UNIT_SELFTEST_FAULTY_DEVICE_H_
