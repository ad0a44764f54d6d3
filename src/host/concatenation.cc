// SPDX-License-Identifier: Apache-2.0
// CONCATENATION of operands with the output's quantization: a copy, in both orders.
#include <algorithm>
#include <cstring>
#include <vector>

#include "src/host/image.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

struct Part {
  size_t extent = 0;                // along the axis
  std::vector<std::byte> constant;  // row-major, for constant operands
};

class ConcatenationKernel final : public Kernel {
 public:
  ConcatenationKernel(const Shape& output, size_t axis, std::vector<Part> parts)
      : output_(output), axis_(axis), parts_(std::move(parts)) {
    for (size_t i = 0; i < axis; ++i) outer_ *= static_cast<size_t>(output[i]);
    for (size_t i = axis + 1; i < output.rank(); ++i) inner_ *= static_cast<size_t>(output[i]);
    cubes_ = output.rank() == 4 && output[0] == 1 && axis > 0;
    for (const Part& part : parts_) cubes_ = cubes_ && part.constant.empty();
  }

  OrderSupport order_support() const override {
    return cubes_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    if (outputs[0].order == layout::Order::kRowMajor) {
      RowMajor(inputs, outputs[0].data);
      return;
    }
    const ImageView to =
        AsImage(outputs[0], PartExtents(static_cast<size_t>(output_.dims()[axis_])));
    size_t offset = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const ImageView from = AsImage(inputs[i], PartExtents(parts_[i].extent));
      if (axis_ == 3) {
        CopyChannels(from, offset, to);
      } else {
        CopyPlane(from, axis_ == 1 ? offset : 0, axis_ == 2 ? offset : 0, to);
      }
      offset += parts_[i].extent;
    }
  }

 private:
  Extents PartExtents(size_t extent) const {
    Extents extents{static_cast<size_t>(output_[1]), static_cast<size_t>(output_[2]),
                    static_cast<size_t>(output_[3])};
    if (axis_ == 1) extents.h = extent;
    if (axis_ == 2) extents.w = extent;
    if (axis_ == 3) extents.c = extent;
    return extents;
  }

  void RowMajor(std::span<const layout::TensorView> inputs, std::byte* to) const {
    for (size_t outer = 0; outer < outer_; ++outer) {
      for (size_t i = 0; i < parts_.size(); ++i) {
        const size_t bytes = parts_[i].extent * inner_;
        const std::byte* from =
            parts_[i].constant.empty() ? inputs[i].data : parts_[i].constant.data();
        std::memcpy(to, from + outer * bytes, bytes);
        to += bytes;
      }
    }
  }

  // Channel `offset` of the output starts with channel 0 of the operand.
  static void CopyChannels(const ImageView& from, size_t offset, const ImageView& to) {
    const size_t pixels = from.extents.h * from.extents.w;
    for (size_t group = 0; group < from.groups; ++group) {
      const size_t lanes = from.lanes_in(group);
      const size_t channel = offset + group * from.lanes;
      if (channel % to.lanes == 0 && lanes == to.lanes) {
        std::memcpy(to.pixel(channel / to.lanes, 0, 0), from.pixel(group, 0, 0),
                    pixels * to.pixel_pitch_bytes);
        continue;
      }
      for (size_t y = 0; y < from.extents.h; ++y) {
        for (size_t x = 0; x < from.extents.w; ++x) {
          StoreChannels(to, y, x, channel, from.pixel(group, y, x), lanes);
        }
      }
    }
  }

  static void CopyPlane(const ImageView& from, size_t top, size_t left, const ImageView& to) {
    for (size_t group = 0; group < from.groups; ++group) {
      for (size_t y = 0; y < from.extents.h; ++y) {
        std::memcpy(to.pixel(group, top + y, left), from.pixel(group, y, 0), from.row_pitch_bytes);
      }
    }
  }

  Shape output_;
  size_t axis_;
  std::vector<Part> parts_;
  size_t outer_ = 1, inner_ = 1;
  bool cubes_ = false;
};

}  // namespace

KernelResult MakeConcatenation(const ir::Graph& graph, const ir::Node& node) {
  const Shape& output = graph.output(node).type.shape;
  const int32_t given = std::get<ir::ConcatenationParams>(node.params).axis;
  const auto axis =
      static_cast<size_t>(given < 0 ? given + static_cast<int32_t>(output.rank()) : given);
  std::vector<Part> parts;
  for (const ir::ValueId id : node.inputs) {
    const ir::Value& value = graph.value(id);
    parts.push_back({.extent = static_cast<size_t>(value.type.shape[axis]),
                     .constant = {value.constant.begin(), value.constant.end()}});
  }
  return KernelResult(std::make_unique<ConcatenationKernel>(output, axis, std::move(parts)));
}

}  // namespace npu::host
