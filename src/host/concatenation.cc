// SPDX-License-Identifier: Apache-2.0
// CONCATENATION of operands with the output's quantization: a copy, in both orders. uint8 operands
// of another quantization are rescaled by table, row-major (tflite-delegate 4.9).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/table.h"

namespace npu::host {
namespace {

struct Part {
  size_t extent = 0;                // along the axis
  std::vector<std::byte> constant;  // row-major, for constant operands
  std::optional<ByteTable> rescale;
};

// float32 throughout, each operation rounded; among the host's integers, 128 above ours.
std::optional<ByteTable> RescaleTable(const ir::TensorType& from, const ir::TensorType& to) {
  if (from.quant.scale() == to.quant.scale() && from.quant.zero_point() == to.quant.zero_point()) {
    return std::nullopt;
  }
  constexpr int32_t kRebase = 128;
  const float inverse_scale = 1.0F / to.quant.scale();
  const float scale = from.quant.scale() * inverse_scale;
  const float bias = static_cast<float>(-(from.quant.zero_point() + kRebase)) * scale;
  ByteTable table;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto q = static_cast<float>(StoredValue(DataType::kInt8, i) + kRebase);
    const float value =
        std::round(q * scale + bias) + static_cast<float>(to.quant.zero_point() + kRebase);
    table[i] =
        static_cast<uint8_t>(static_cast<int32_t>(std::clamp(value, 0.0F, 255.0F)) - kRebase);
  }
  return table;
}

void Rescale(const ByteTable& table, std::byte* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(table[std::to_integer<size_t>(bytes[i])]);
  }
}

class ConcatenationKernel final : public Kernel {
 public:
  ConcatenationKernel(const Shape& output, size_t axis, std::vector<Part> parts)
      : output_(output), axis_(axis), parts_(std::move(parts)) {
    for (size_t i = 0; i < axis; ++i) outer_ *= static_cast<size_t>(output[i]);
    for (size_t i = axis + 1; i < output.rank(); ++i) inner_ *= static_cast<size_t>(output[i]);
    cubes_ = output.rank() == 4 && output[0] == 1 && axis > 0;
    for (const Part& part : parts_) {
      cubes_ = cubes_ && part.constant.empty() && !part.rescale;
    }
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
        if (parts_[i].rescale) Rescale(*parts_[i].rescale, to, bytes);
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
  const ir::TensorType& type = graph.output(node).type;
  const Shape& output = type.shape;
  const int32_t given = std::get<ir::ConcatenationParams>(node.params).axis;
  const auto axis =
      static_cast<size_t>(given < 0 ? given + static_cast<int32_t>(output.rank()) : given);
  std::vector<Part> parts;
  for (const ir::ValueId id : node.inputs) {
    const ir::Value& value = graph.value(id);
    Part part;
    part.extent = static_cast<size_t>(value.type.shape[axis]);
    part.constant.assign(value.constant.begin(), value.constant.end());
    if (type.rebased_uint8) part.rescale = RescaleTable(value.type, type);
    parts.push_back(std::move(part));
  }
  return KernelResult(std::make_unique<ConcatenationKernel>(output, axis, std::move(parts)));
}

}  // namespace npu::host
