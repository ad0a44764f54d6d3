// SPDX-License-Identifier: Apache-2.0
// MAXIMUM and MINIMUM of stored integers: no rescale, the quantizations agree.
#include <algorithm>
#include <utility>

#include "src/host/broadcast.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

struct Larger {
  int8_t operator()(int8_t a, int8_t b) const { return std::max(a, b); }
};
struct Smaller {
  int8_t operator()(int8_t a, int8_t b) const { return std::min(a, b); }
};

template <typename Choice>
class ChoiceKernel final : public Kernel {
 public:
  explicit ChoiceKernel(Broadcast broadcast) : broadcast_(std::move(broadcast)) {}

  OrderSupport order_support() const override { return broadcast_.order_support(); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    broadcast_.ForEachRow(inputs, outputs[0],
                          [](const BroadcastRow& row) { MapRow(row, Choice{}); });
  }

 private:
  Broadcast broadcast_;
};

}  // namespace

KernelResult MakeMaximumMinimum(const ir::Graph& graph, const ir::Node& node) {
  Broadcast broadcast(graph, node);
  if (std::get<ir::BinaryParams>(node.params).kind == ir::BinaryKind::kMaximum) {
    return KernelResult(std::make_unique<ChoiceKernel<Larger>>(std::move(broadcast)));
  }
  return KernelResult(std::make_unique<ChoiceKernel<Smaller>>(std::move(broadcast)));
}

}  // namespace npu::host
