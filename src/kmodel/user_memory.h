// SPDX-License-Identifier: Apache-2.0
// Copies between the model and the pointers a client passed, as the kernel's copy_from_user: a bad
// pointer is a false, never a crash.
#ifndef SRC_KMODEL_USER_MEMORY_H_
#define SRC_KMODEL_USER_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace npu::kmodel {

// True if all `bytes` were copied. A copy of nothing succeeds whatever the pointer.
bool CopyFromUser(void* to, uint64_t from, size_t bytes);
bool CopyToUser(uint64_t to, const void* from, size_t bytes);

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_USER_MEMORY_H_
