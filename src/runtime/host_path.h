// SPDX-License-Identifier: Apache-2.0
// The whole partition on the host: what a session falls back to when the device cannot be trusted,
// and the reference interpreter of the tests.
#ifndef SRC_RUNTIME_HOST_PATH_H_
#define SRC_RUNTIME_HOST_PATH_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "npu/status.h"
#include "src/host/kernel.h"
#include "src/ir/graph.h"

namespace npu::runtime {

// Every node by its host kernel on row-major tensors: equal to BUILTIN_REF. One thread at a time.
class HostPath {
 public:
  // `graph` must outlive the object.
  static Result<std::unique_ptr<HostPath>> Create(const ir::Graph& graph);

  // Tensors of rebased values are uint8 here, as the host has them.
  void Run(std::span<const std::span<const std::byte>> inputs,
           std::span<const std::span<std::byte>> outputs);
  // The tensor a value had in the last Run (graph inputs and outputs: the caller's memory, but a
  // rebased input's is its int8 form; a rebased output holds the caller's uint8 bytes again).
  const layout::TensorView& view(ir::ValueId value) const {
    return views_[static_cast<size_t>(value)];
  }

 private:
  explicit HostPath(const ir::Graph& graph) : graph_(&graph) {}
  Status Prepare();
  size_t BytesOf(ir::ValueId value) const;
  bool IsUint8(ir::ValueId value) const { return graph_->type(value).rebased_uint8; }

  const ir::Graph* graph_;
  std::vector<std::unique_ptr<host::Kernel>> kernels_;  // one for each node
  std::vector<layout::TensorView> views_;               // one for each value
  std::vector<std::vector<std::byte>> storage_;
  std::vector<std::byte> scratch_;
  std::vector<layout::TensorView> in_, out_;
};

}  // namespace npu::runtime

#endif  // SRC_RUNTIME_HOST_PATH_H_
