// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "src/host/kernels.h"

namespace npu::host {
namespace {

class ReshapeKernel final : public Kernel {
 public:
  explicit ReshapeKernel(size_t bytes) : bytes_(bytes) {}

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    std::memmove(outputs[0].data, inputs[0].data, bytes_);
  }

 private:
  size_t bytes_;
};

}  // namespace

KernelResult MakeReshape(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& type = graph.output(node).type;
  return KernelResult(std::make_unique<ReshapeKernel>(static_cast<size_t>(type.shape.elements()) *
                                                      ElementBytes(type.dtype)));
}

}  // namespace npu::host
