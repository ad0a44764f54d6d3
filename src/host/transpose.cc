// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE: output axis i is input axis perm[i].
#include <vector>

#include "src/host/kernels.h"
#include "src/host/strided_copy.h"
#include "src/ir/constants.h"

namespace npu::host {
namespace {

class TransposeKernel final : public Kernel {
 public:
  explicit TransposeKernel(const StridedCopy& copy) : copy_(copy) {}

  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    copy_.Run(inputs[0].data, outputs[0].data);
  }

 private:
  StridedCopy copy_;
};

}  // namespace

KernelResult MakeTranspose(const ir::Graph& graph, const ir::Node& node) {
  const Shape& input = graph.input(node, 0).type.shape;
  const std::vector<int64_t> permutation = ir::Integers(graph.input(node, 1));
  const size_t rank = input.rank();
  std::vector<ptrdiff_t> pitches(rank, 1);
  for (size_t i = rank; i-- > 1;) pitches[i - 1] = pitches[i] * input[i];
  std::vector<CopyAxis> axes(rank);
  ptrdiff_t to = 1;
  for (size_t i = rank; i-- > 0;) {
    const int64_t entry = permutation[i];
    const auto axis = static_cast<size_t>(entry < 0 ? entry + static_cast<int64_t>(rank) : entry);
    axes[i] = {.count = static_cast<size_t>(input[axis]), .from = pitches[axis], .to = to};
    to *= input[axis];
  }
  return KernelResult(std::make_unique<TransposeKernel>(StridedCopy(axes)));
}

}  // namespace npu::host
