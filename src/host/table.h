// SPDX-License-Identifier: Apache-2.0
// Kernels that map every byte through a table of 256 entries: all 8-bit unary operations.
#ifndef SRC_HOST_TABLE_H_
#define SRC_HOST_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>

#include "src/host/kernel.h"
#include "src/ir/graph.h"

namespace npu::host {

// Indexed by the stored byte (int8 -1 is entry 255); entries are stored bytes.
using ByteTable = std::array<uint8_t, 256>;

// The entry a stored value has in a table: value as the type reads it.
constexpr int32_t StoredValue(DataType dtype, size_t entry) {
  return dtype == DataType::kUInt8 ? static_cast<int32_t>(entry)
                                   : static_cast<int8_t>(static_cast<uint8_t>(entry));
}

// Elementwise in both orders, for a node of one run-time input and one output of the same shape.
std::unique_ptr<Kernel> MakeTableKernel(const ByteTable& table, const ir::TensorType& type);

}  // namespace npu::host

#endif  // SRC_HOST_TABLE_H_
