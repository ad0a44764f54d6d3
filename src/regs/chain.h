// SPDX-License-Identifier: Apache-2.0
// Chained command lists: the tail of each list names the next one, so that one kick runs them all
// (registers-rk3588 3.5, kernel-interfaces B.2).
#ifndef SRC_REGS_CHAIN_H_
#define SRC_REGS_CHAIN_H_

#include <cstdint>
#include <span>

#include "npu/status.h"

namespace npu::regs {

// Makes `list` (a complete list, tail included, its link still open) continue at the list of
// `next_words` words at NPU address `next_address`. With one task a kick the link is ignored.
// kInvalidArgument: no tail, a link already there, an address off a 16-byte boundary, an odd or
// oversized length.
Status LinkToNext(std::span<uint64_t> list, uint32_t next_address, uint32_t next_words);

}  // namespace npu::regs

#endif  // SRC_REGS_CHAIN_H_
