// SPDX-License-Identifier: Apache-2.0
#include "src/host/silicon_conv.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/arith/silicon.h"
#include "src/host/conv_sums.h"

namespace npu::host {
namespace {

constexpr size_t kFinish = 64;

// BS and OUT_CVT of one operation.
class SiliconOutput {
 public:
  explicit SiliconOutput(const encode::SiliconConv& conv)
      : raw_(conv.raw_int32),
        addend_(conv.addend),
        multiplier_(conv.multiplier),
        shift_(static_cast<int>(conv.bs_shift)),
        relu_(conv.relu),
        relux_(conv.relux),
        limit_(conv.relux_limit),
        converter_{.scale = static_cast<int16_t>(conv.out_scale),
                   .shift = static_cast<uint8_t>(conv.out_shift),
                   .offset = conv.out_offset} {}

  size_t element_bytes() const { return raw_ ? sizeof(int32_t) : 1; }
  void Store(const ImageView& output, size_t y, size_t x, size_t c, size_t count,
             const int32_t* sums) const {
    if (raw_) {
      StoreChannels(output, y, x, c, sums, count);
      return;
    }
    std::array<int8_t, kFinish> bytes;
    for (size_t done = 0; done < count; done += kFinish) {
      const size_t n = std::min(kFinish, count - done);
      for (size_t i = 0; i < n; ++i) bytes[i] = Element(c + done + i, sums[done + i]);
      StoreChannels(output, y, x, c + done, bytes.data(), n);
    }
  }

 private:
  int8_t Element(size_t c, int32_t sum) const {
    const int64_t wide = int64_t{sum} + addend_[c];
    int32_t v = multiplier_.empty() ? arith::SaturateToInt32(wide)
                                    : arith::BsMultiply(wide, multiplier_[c], shift_, shift_);
    if (relux_) {
      v = arith::Relux(v, limit_);
    } else if (relu_) {
      v = arith::Relu(v);
    }
    return arith::OutConvert<int8_t>(v, converter_);
  }

  bool raw_;
  std::vector<int32_t> addend_;
  std::vector<int16_t> multiplier_;
  int shift_;
  bool relu_, relux_;
  int32_t limit_;
  arith::Converter converter_;
};

// Sums is ConvSums or DepthwiseSums.
template <typename Sums>
class SiliconKernel final : public Kernel {
 public:
  SiliconKernel(Sums sums, SiliconOutput output)
      : sums_(std::move(sums)), output_(std::move(output)) {}

  OrderSupport order_support() const override { return OrderSupport::kImage; }
  size_t scratch_bytes() const override { return sums_.scratch_bytes(); }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> scratch) const noexcept override {
    const ConvGeometry& g = sums_.geometry();
    const ImageView input = AsImage(inputs[0], g.input());
    const ImageView output = AsImage(outputs[0], g.output(), output_.element_bytes());
    const auto store = [&](size_t y, size_t x, size_t c, size_t count, const int32_t* sums) {
      output_.Store(output, y, x, c, count, sums);
    };
    sums_.Run(input, scratch, SumSink(store));
  }

 private:
  Sums sums_;
  SiliconOutput output_;
};

Status CheckSizes(const encode::SiliconConv& conv) {
  const auto extents =
      std::to_array<uint32_t>({conv.ic, conv.ih, conv.iw, conv.oc, conv.oh, conv.ow, conv.kh,
                               conv.kw, conv.sh, conv.sw, conv.dh, conv.dw});
  const bool positive =
      std::all_of(extents.begin(), extents.end(), [](uint32_t e) { return e > 0; });
  const uint64_t taps = uint64_t{conv.kh} * conv.kw;
  const uint64_t weights = conv.depthwise ? taps * conv.oc : taps * conv.ic * conv.oc;
  const bool channels = !conv.depthwise || conv.ic == conv.oc;
  const bool operands =
      conv.raw_int32 || (conv.addend.size() == conv.oc &&
                         (conv.multiplier.empty() || conv.multiplier.size() == conv.oc));
  const bool shifts = conv.bs_shift < 64 && conv.out_shift < 64 && FitsIn<int16_t>(conv.out_scale);
  if (positive && conv.weights.size() == weights && channels && operands && shifts) {
    return OkStatus();
  }
  return {ErrorCode::kInvalidArgument, "the description of an NPU convolution contradicts itself"};
}

ConvGeometry GeometryOf(const encode::SiliconConv& conv) {
  ConvGeometry g;
  g.ic = conv.ic;
  g.ih = conv.ih;
  g.iw = conv.iw;
  g.oc = conv.oc;
  g.oh = conv.oh;
  g.ow = conv.ow;
  g.kh = conv.kh;
  g.kw = conv.kw;
  g.sh = conv.sh;
  g.sw = conv.sw;
  g.dh = conv.dh;
  g.dw = conv.dw;
  g.pad_top = conv.pad_top;
  g.pad_left = conv.pad_left;
  g.pad_value = conv.pad_value;
  g.weight_zero = conv.weight_zero_point;
  return g;
}

}  // namespace

Result<std::unique_ptr<Kernel>> MakeSiliconConv(const encode::SiliconConv& conv) {
  NPU_RETURN_IF_ERROR(CheckSizes(conv));
  const ConvGeometry geometry = GeometryOf(conv);
  std::unique_ptr<Kernel> kernel;
  if (!conv.depthwise) {
    kernel = std::make_unique<SiliconKernel<ConvSums>>(ConvSums(geometry, conv.weights),
                                                       SiliconOutput(conv));
    return kernel;
  }
  // [c][kh][kw] to [kh][kw][c].
  const size_t taps = geometry.kh * geometry.kw;
  std::vector<int8_t> weights(conv.weights.size());
  for (size_t c = 0; c < geometry.oc; ++c) {
    for (size_t tap = 0; tap < taps; ++tap) {
      weights[tap * geometry.oc + c] = conv.weights[c * taps + tap];
    }
  }
  kernel = std::make_unique<SiliconKernel<DepthwiseSums>>(DepthwiseSums(geometry, weights),
                                                          SiliconOutput(conv));
  return kernel;
}

}  // namespace npu::host
