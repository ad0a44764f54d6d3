// SPDX-License-Identifier: Apache-2.0
// PAD with the output's zero point, up to rank 5, in both orders where the batch is not padded and
// channels only behind the last one.
#include <algorithm>
#include <array>
#include <cstring>

#include "src/host/image.h"
#include "src/host/kernels.h"

namespace npu::host {
namespace {

constexpr size_t kRank = 5;

// All right-aligned to kRank.
struct PadGeometry {
  std::array<size_t, kRank> in{1, 1, 1, 1, 1}, out{1, 1, 1, 1, 1};
  std::array<size_t, kRank> before{};
};

class PadKernel final : public Kernel {
 public:
  PadKernel(const PadGeometry& geometry, size_t rank, int8_t fill)
      : g_(geometry), fill_(static_cast<unsigned char>(fill)) {
    cubes_ = rank == 4 && g_.out[1] == 1 && g_.before[4] == 0;
  }

  OrderSupport order_support() const override {
    return cubes_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    if (outputs[0].order == layout::Order::kCube) {
      Cube(inputs[0], outputs[0]);
    } else {
      RowMajor(inputs[0].data, outputs[0].data);
    }
  }

 private:
  void RowMajor(const std::byte* from, std::byte* to) const {
    size_t total = 1;
    for (const size_t extent : g_.out) total *= extent;
    std::memset(to, fill_, total);
    for (size_t a = 0; a < g_.in[0]; ++a) {
      for (size_t b = 0; b < g_.in[1]; ++b) {
        for (size_t c = 0; c < g_.in[2]; ++c) {
          for (size_t d = 0; d < g_.in[3]; ++d) {
            const std::array<size_t, kRank> at{a, b, c, d, 0};
            size_t offset = 0;
            for (size_t i = 0; i < kRank; ++i) offset = offset * g_.out[i] + g_.before[i] + at[i];
            std::memcpy(to + offset, from, g_.in[4]);
            from += g_.in[4];
          }
        }
      }
    }
  }

  void Cube(const layout::TensorView& in, const layout::TensorView& out) const {
    const ImageView from = AsImage(in, {g_.in[2], g_.in[3], g_.in[4]});
    const ImageView to = AsImage(out, {g_.out[2], g_.out[3], g_.out[4]});
    for (size_t group = 0; group < to.groups; ++group) {
      std::memset(to.pixel(group, 0, 0), fill_, to.extents.h * to.row_pitch_bytes);
    }
    for (size_t group = 0; group < from.groups; ++group) {
      // Padding lanes of the operand hold anything: where the output has channels there, only the
      // real lanes are copied.
      const size_t lanes = from.lanes_in(group);
      const bool whole = lanes == from.lanes || g_.in[4] == g_.out[4];
      for (size_t y = 0; y < from.extents.h; ++y) {
        std::byte* row = to.pixel(group, y + g_.before[2], g_.before[3]);
        if (whole) {
          std::memcpy(row, from.pixel(group, y, 0), from.row_pitch_bytes);
          continue;
        }
        for (size_t x = 0; x < from.extents.w; ++x) {
          std::memcpy(row + x * to.pixel_pitch_bytes, from.pixel(group, y, x), lanes);
        }
      }
    }
  }

  PadGeometry g_;
  unsigned char fill_;
  bool cubes_;
};

}  // namespace

KernelResult MakePad(const ir::Graph& graph, const ir::Node& node) {
  const Shape& in = graph.input(node, 0).type.shape;
  const ir::TensorType& output = graph.output(node).type;
  const ir::Value& paddings = graph.input(node, 1);
  const size_t entry = ElementBytes(paddings.type.dtype);
  const size_t rank = in.rank();
  PadGeometry geometry;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = kRank - rank + i;
    geometry.in[axis] = static_cast<size_t>(in[i]);
    geometry.out[axis] = static_cast<size_t>(output.shape[i]);
    // int32 or int64, not negative: the low four bytes are the value.
    uint32_t before = 0;
    std::memcpy(&before, paddings.constant.data() + 2 * i * entry, sizeof(before));
    geometry.before[axis] = before;
  }
  return KernelResult(
      std::make_unique<PadKernel>(geometry, rank, static_cast<int8_t>(output.quant.zero_point())));
}

}  // namespace npu::host
