// SPDX-License-Identifier: Apache-2.0
// What happens when the library is loaded and when the process ends.
#include "src/shim/process.h"
#include "src/shim/real.h"

namespace {

__attribute__((constructor)) void Load() {
  (void)npu::shim::Real();
  npu::shim::Process::Get().Configure();
}

__attribute__((destructor)) void Unload() { npu::shim::Process::Get().Shutdown(); }

}  // namespace
