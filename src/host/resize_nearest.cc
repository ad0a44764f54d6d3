// SPDX-License-Identifier: Apache-2.0
// RESIZE_NEAREST_NEIGHBOR (tflite-delegate 4.18), in both orders: whole pixels by index tables.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/per_image.h"

namespace npu::host {
namespace {

// The source row or column of each output one. float32, as the reference computes it.
std::vector<size_t> MakeIndices(int32_t in, int32_t out, const ir::ResizeNearestParams& params) {
  const bool aligned = params.align_corners && out > 1;
  const float scale = aligned ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                              : static_cast<float>(in) / static_cast<float>(out);
  const float offset = params.half_pixel_centers ? 0.5F : 0.0F;
  std::vector<size_t> indices;
  for (int32_t v = 0; v < out; ++v) {
    const float position = (static_cast<float>(v) + offset) * scale;
    const float whole = params.align_corners ? std::round(position) : std::floor(position);
    indices.push_back(static_cast<size_t>(std::clamp(static_cast<int32_t>(whole), 0, in - 1)));
  }
  return indices;
}

class ResizeNearestKernel final : public Kernel {
 public:
  ResizeNearestKernel(const Extents& input, std::vector<size_t> rows, std::vector<size_t> columns)
      : input_(input), rows_(std::move(rows)), columns_(std::move(columns)) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const ImageView from = AsImage(inputs[0], input_);
    const ImageView to = AsImage(outputs[0], {rows_.size(), columns_.size(), input_.c});
    for (size_t group = 0; group < to.groups; ++group) {
      for (size_t y = 0; y < rows_.size(); ++y) {
        // An enlarged picture repeats rows: copying the finished one is one memcpy.
        if (y > 0 && rows_[y] == rows_[y - 1]) {
          std::memcpy(to.pixel(group, y, 0), to.pixel(group, y - 1, 0), to.row_pitch_bytes);
        } else {
          Row(from.pixel(group, rows_[y], 0), to.pixel_pitch_bytes, to.pixel(group, y, 0));
        }
      }
    }
  }

 private:
  void Row(const std::byte* from, size_t pixel_bytes, std::byte* to) const {
    for (const size_t column : columns_) {
      std::memcpy(to, from + column * pixel_bytes, pixel_bytes);
      to += pixel_bytes;
    }
  }

  Extents input_;
  std::vector<size_t> rows_, columns_;
};

}  // namespace

KernelResult MakeResizeNearest(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::ResizeNearestParams>(node.params);
  const Shape& in = graph.input(node, 0).type.shape;
  const Shape& out = graph.output(node).type.shape;
  const Extents input{static_cast<size_t>(in[1]), static_cast<size_t>(in[2]),
                      static_cast<size_t>(in[3])};
  return PerImage(graph, node,
                  std::make_unique<ResizeNearestKernel>(input, MakeIndices(in[1], out[1], params),
                                                        MakeIndices(in[2], out[2], params)));
}

}  // namespace npu::host
