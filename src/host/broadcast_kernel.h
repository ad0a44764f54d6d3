// SPDX-License-Identifier: Apache-2.0
// The kernel of every operation on two broadcast operands: the walk of broadcast.h around an
// arithmetic of its own.
#ifndef SRC_HOST_BROADCAST_KERNEL_H_
#define SRC_HOST_BROADCAST_KERNEL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "src/host/broadcast.h"
#include "src/host/kernels.h"

namespace npu::host {

// `Arithmetic` computes one element, int8_t operator()(int8_t a, int8_t b) const, or, where it has
// a faster way, a whole row: void Row(const BroadcastRow&) const.
template <typename Arithmetic>
class BroadcastKernel final : public Kernel {
 public:
  BroadcastKernel(const Arithmetic& arithmetic, Broadcast broadcast)
      : arithmetic_(arithmetic), broadcast_(std::move(broadcast)) {}

  OrderSupport order_support() const override { return broadcast_.order_support(); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    broadcast_.ForEachRow(inputs, outputs[0], [&](const BroadcastRow& row) {
      if constexpr (requires { arithmetic_.Row(row); }) {
        arithmetic_.Row(row);
      } else {
        MapRow(row, arithmetic_);
      }
    });
  }

 private:
  Arithmetic arithmetic_;
  Broadcast broadcast_;
};

// The node's two inputs and its output are bytes; the support rule of broadcast.h holds.
template <typename Arithmetic>
KernelResult MakeBroadcastKernel(const ir::Graph& graph, const ir::Node& node,
                                 const Arithmetic& arithmetic) {
  return KernelResult(
      std::make_unique<BroadcastKernel<Arithmetic>>(arithmetic, Broadcast(graph, node)));
}

}  // namespace npu::host

#endif  // SRC_HOST_BROADCAST_KERNEL_H_
