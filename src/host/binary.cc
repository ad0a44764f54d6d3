// SPDX-License-Identifier: Apache-2.0
// ADD, SUB and MUL with broadcasting, in both orders.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "src/arith/tflite.h"
#include "src/host/image.h"
#include "src/host/kernels.h"
#include "src/host/output_stage.h"
#include "src/host/simd.h"

namespace npu::host {
namespace {

using arith::MultiplyByQuantizedMultiplier;
using arith::QuantizedMultiplier;

// Elements of one step.
constexpr size_t kBlock = 64;

// The sum of two table entries, or the product of two differences, rescaled.
struct BinaryArithmetic {
  bool product = false;
  // ADD, SUB: an operand's byte -> its rescaled value (SUB negates b's). MUL: byte - zero point.
  std::array<int32_t, 256> a{}, b{};
  // The output multiplier, repeated for every element of a step.
  std::array<int32_t, kBlock> bias{}, multiplier{}, left{}, right{};
  int32_t output_zero = 0;
  arith::QuantizedRange clamp;

  void SetOutput(QuantizedMultiplier m) {
    multiplier.fill(m.multiplier);
    left.fill(std::max(m.exponent, 0));
    right.fill(std::max(-m.exponent, 0));
  }
  void Row(const uint8_t* pa, size_t step_a, const uint8_t* pb, size_t step_b, size_t count,
           int8_t* to) const {
    const RequantizeArrays arrays{.bias = bias.data(),
                                  .multiplier = multiplier.data(),
                                  .left = left.data(),
                                  .right = right.data()};
    std::array<int32_t, kBlock> values;
    for (size_t done = 0; done < count; done += kBlock) {
      const size_t n = std::min(kBlock, count - done);
      const uint8_t* from_a = pa + done * step_a;
      const uint8_t* from_b = pb + done * step_b;
      for (size_t i = 0; i < n; ++i) {
        const int32_t va = a[from_a[i * step_a]];
        const int32_t vb = b[from_b[i * step_b]];
        values[i] = product ? va * vb : va + vb;
      }
      RequantizeDouble(values.data(), arrays, n, output_zero, clamp.min, clamp.max, to + done);
    }
  }
};

std::array<int32_t, 256> Differences(int32_t zero_point) {
  std::array<int32_t, 256> table;
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<int8_t>(static_cast<uint8_t>(i)) - zero_point;
  }
  return table;
}

BinaryArithmetic MakeArithmetic(const ir::BinaryParams& params, const ir::Quantization& a,
                                const ir::Quantization& b, const ir::TensorType& output) {
  BinaryArithmetic arithmetic;
  arithmetic.a = Differences(a.zero_point());
  arithmetic.b = Differences(b.zero_point());
  arithmetic.output_zero = output.quant.zero_point();
  arithmetic.clamp = ActivationClamp(params.activation, output);
  const float output_scale = output.quant.scale();
  if (params.kind == ir::BinaryKind::kMul) {  // 4.6: all in float32
    arithmetic.product = true;
    const float real = a.scale() * b.scale() / output_scale;
    arithmetic.SetOutput(arith::QuantizeMultiplier(static_cast<double>(real)));
    return arithmetic;
  }
  // 4.5: 2^20 units of the larger input scale, doubled.
  const double twice_max = 2.0 * static_cast<double>(std::max(a.scale(), b.scale()));
  const float unit = static_cast<float>(1 << 20) * output_scale;
  arithmetic.SetOutput(arith::QuantizeMultiplier(twice_max / static_cast<double>(unit)));
  const QuantizedMultiplier ma =
      arith::QuantizeMultiplier(static_cast<double>(a.scale()) / twice_max);
  const QuantizedMultiplier mb =
      arith::QuantizeMultiplier(static_cast<double>(b.scale()) / twice_max);
  const int32_t sign = params.kind == ir::BinaryKind::kSub ? -1 : 1;
  for (size_t i = 0; i < 256; ++i) {
    arithmetic.a[i] = MultiplyByQuantizedMultiplier(arithmetic.a[i] * (1 << 20), ma);
    arithmetic.b[i] = sign * MultiplyByQuantizedMultiplier(arithmetic.b[i] * (1 << 20), mb);
  }
  return arithmetic;
}

// A loop nest over the output; strides in bytes, 0 where an operand is broadcast.
struct Loop {
  size_t count = 1;
  size_t a = 0, b = 0, out = 0;
};

constexpr size_t kMaxLoops = Shape::kMaxRank + 1;

struct Nest {
  std::array<Loop, kMaxLoops> loops{};  // outermost first
  size_t depth = 0;

  // Joins the new innermost loop with the one around it where both walk on without a jump.
  void Push(const Loop& inner) {
    if (inner.count == 1) return;
    if (depth > 0) {
      Loop& outer = loops[depth - 1];
      if (outer.a == inner.a * inner.count && outer.b == inner.b * inner.count &&
          outer.out == inner.out * inner.count) {
        outer = {outer.count * inner.count, inner.a, inner.b, inner.out};
        return;
      }
    }
    loops[depth++] = inner;
  }
};

// One operand: its extents right-aligned to the output's rank, and for constants its bytes. Those
// are stored with the channels of a pixel padded to whole cube groups, so that the same copy serves
// both orders.
struct Operand {
  Shape shape;
  std::vector<uint8_t> constant;
  size_t padded_channels = 0;  // constants: bytes between pixels
};

Operand MakeOperand(const ir::Value& value, size_t rank) {
  Operand operand;
  std::vector<int32_t> dims(rank, 1);
  const std::span<const int32_t> own = value.type.shape.dims();
  std::copy(own.begin(), own.end(), dims.end() - static_cast<ptrdiff_t>(own.size()));
  operand.shape = Shape::From(dims).value_or(Shape{});
  if (!value.is_constant()) return operand;
  const size_t channels = rank == 0 ? 1 : static_cast<size_t>(operand.shape.back(0));
  operand.padded_channels = channels == 1 ? 1 : RoundUp<size_t>(channels, layout::kAtomBytes);
  const size_t pixels = value.constant.size() / channels;
  operand.constant.assign(pixels * operand.padded_channels, 0);
  for (size_t i = 0; i < pixels; ++i) {
    std::memcpy(operand.constant.data() + i * operand.padded_channels,
                value.constant.data() + i * channels, channels);
  }
  return operand;
}

// Byte strides of one operand for every axis of the output in row-major order.
std::array<size_t, Shape::kMaxRank> RowMajorStrides(const Operand& operand) {
  std::array<size_t, Shape::kMaxRank> strides{};
  size_t stride = 1;
  for (size_t axis = operand.shape.rank(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(operand.shape[axis]);
    strides[axis] = extent == 1 ? 0 : stride;
    const bool innermost = axis + 1 == operand.shape.rank();
    stride *= innermost && operand.padded_channels > 0 ? operand.padded_channels : extent;
  }
  return strides;
}

// The same for the loops (group, row, column, lane) of a cube.
std::array<size_t, 4> CubeStrides(const Operand& operand, const layout::TensorView& view) {
  const auto extent = [&](size_t i) { return static_cast<size_t>(operand.shape.back(i)); };
  const bool constant = operand.padded_channels > 0;
  const size_t pixel = constant ? operand.padded_channels : layout::kAtomBytes;
  const size_t group = constant ? layout::kAtomBytes : static_cast<size_t>(view.surface_bytes);
  return {extent(0) == 1 ? 0 : group, extent(2) == 1 ? 0 : extent(1) * pixel,
          extent(1) == 1 ? 0 : pixel, extent(0) == 1 ? size_t{0} : size_t{1}};
}

class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(const BinaryArithmetic& arithmetic, Operand a, Operand b, const Shape& output)
      : arithmetic_(arithmetic), a_(std::move(a)), b_(std::move(b)), output_(output) {
    cubes_ = output.rank() == 4 && output[0] == 1;
  }

  OrderSupport order_support() const override {
    return cubes_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    const Nest nest = outputs[0].order == layout::Order::kCube
                          ? CubeNest(inputs[0], inputs[1], outputs[0])
                          : RowMajorNest();
    Walk(nest, Bytes(a_, inputs[0]), Bytes(b_, inputs[1]), outputs[0].as<int8_t>());
  }

 private:
  static const uint8_t* Bytes(const Operand& operand, const layout::TensorView& view) {
    return operand.padded_channels > 0 ? operand.constant.data() : view.as<const uint8_t>();
  }

  Nest RowMajorNest() const {
    const auto a = RowMajorStrides(a_);
    const auto b = RowMajorStrides(b_);
    Nest nest;
    auto stride = static_cast<size_t>(output_.elements());
    for (size_t axis = 0; axis < output_.rank(); ++axis) {
      const auto count = static_cast<size_t>(output_[axis]);
      stride /= count;
      nest.Push({count, a[axis], b[axis], stride});
    }
    return nest;
  }

  Nest CubeNest(const layout::TensorView& a, const layout::TensorView& b,
                const layout::TensorView& out) const {
    const auto sa = CubeStrides(a_, a);
    const auto sb = CubeStrides(b_, b);
    const auto h = static_cast<size_t>(output_[1]);
    const auto w = static_cast<size_t>(output_[2]);
    const size_t groups = CeilDiv(static_cast<size_t>(output_[3]), size_t{layout::kAtomBytes});
    Nest nest;
    nest.Push({groups, sa[0], sb[0], static_cast<size_t>(out.surface_bytes)});
    nest.Push({h, sa[1], sb[1], w * layout::kAtomBytes});
    nest.Push({w, sa[2], sb[2], layout::kAtomBytes});
    nest.Push({layout::kAtomBytes, sa[3], sb[3], 1});
    return nest;
  }

  void Walk(const Nest& nest, const uint8_t* a, const uint8_t* b, int8_t* out) const {
    if (nest.depth == 0) {
      arithmetic_.Row(a, 0, b, 0, 1, out);
      return;
    }
    const size_t outer = nest.depth - 1;
    const Loop& inner = nest.loops[outer];
    std::array<size_t, kMaxLoops> at{};
    while (true) {
      arithmetic_.Row(a, inner.a, b, inner.b, inner.count, out);
      size_t level = outer;
      while (level > 0) {
        const Loop& loop = nest.loops[level - 1];
        a += loop.a;
        b += loop.b;
        out += loop.out;
        if (++at[level - 1] < loop.count) break;
        a -= loop.a * loop.count;
        b -= loop.b * loop.count;
        out -= loop.out * loop.count;
        at[level - 1] = 0;
        --level;
      }
      if (level == 0) return;
    }
  }

  BinaryArithmetic arithmetic_;
  Operand a_, b_;
  Shape output_;
  bool cubes_ = false;
};

}  // namespace

KernelResult MakeBinary(const ir::Graph& graph, const ir::Node& node) {
  const auto& params = std::get<ir::BinaryParams>(node.params);
  const ir::Value& a = graph.input(node, 0);
  const ir::Value& b = graph.input(node, 1);
  const ir::TensorType& output = graph.output(node).type;
  return KernelResult(std::make_unique<BinaryKernel>(
      MakeArithmetic(params, a.type.quant, b.type.quant, output),
      MakeOperand(a, output.shape.rank()), MakeOperand(b, output.shape.rank()), output.shape));
}

}  // namespace npu::host
