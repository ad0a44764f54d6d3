// SPDX-License-Identifier: Apache-2.0
#include "src/host/per_image.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace npu::host {
namespace {

// No operation on images has more operands.
constexpr size_t kMaxOperands = 8;

class PerImageKernel final : public Kernel {
 public:
  PerImageKernel(size_t images, std::vector<size_t> input_bytes, size_t output_bytes,
                 std::unique_ptr<Kernel> kernel)
      : images_(images),
        input_bytes_(std::move(input_bytes)),
        output_bytes_(output_bytes),
        kernel_(std::move(kernel)) {}

  size_t scratch_bytes() const override { return kernel_->scratch_bytes(); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    std::array<layout::TensorView, kMaxOperands> in;
    std::copy(inputs.begin(), inputs.end(), in.begin());
    layout::TensorView out = outputs[0];
    for (size_t image = 0; image < images_; ++image) {
      kernel_->Run({in.data(), inputs.size()}, {&out, 1}, scratch);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (in[i].data != nullptr) in[i].data += input_bytes_[i];
      }
      out.data += output_bytes_;
    }
  }

 private:
  size_t images_;
  std::vector<size_t> input_bytes_;  // of one image; 0: the same for all images
  size_t output_bytes_;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace

KernelResult PerImage(const ir::Graph& graph, const ir::Node& node,
                      std::unique_ptr<Kernel> kernel) {
  const ir::TensorType& output = graph.output(node).type;
  const auto images = static_cast<size_t>(output.shape[0]);
  if (images == 1) return KernelResult(std::move(kernel));
  if (node.inputs.size() > kMaxOperands) {
    return Status(ErrorCode::kInternal, "too many operands for a batch");
  }
  const auto image_bytes = [&](const ir::TensorType& type) {
    return static_cast<size_t>(type.shape.elements()) * ElementBytes(type.dtype) / images;
  };
  std::vector<size_t> input_bytes;
  for (const ir::ValueId id : node.inputs) {
    const bool shared = id == ir::kNoValue || graph.value(id).is_constant();
    input_bytes.push_back(shared ? 0 : image_bytes(graph.type(id)));
  }
  return KernelResult(std::make_unique<PerImageKernel>(images, std::move(input_bytes),
                                                       image_bytes(output), std::move(kernel)));
}

}  // namespace npu::host
