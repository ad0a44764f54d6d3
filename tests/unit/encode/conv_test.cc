// SPDX-License-Identifier: Apache-2.0
// The encoder's entry points: every reason to refuse, contradictory problems, and what an encoded
// operation carries. Results are compared in tests/conformance.
#include "src/encode/conv.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "src/chip/profile.h"
#include "src/encode/reason.h"

namespace npu::encode {
namespace {

const chip::Profile& Chip() { return *chip::FindChip("rk3588"); }

// Owns what a ConvProblem borrows; outputs follow from the extents (no bottom and right padding
// beside what `oh` and `ow` imply).
struct Fixture {
  explicit Fixture(ConvProblem problem) : p(problem) {
    if (p.oh == 0) p.oh = Out(p.ih, p.kh, p.sh, p.dh, p.pad_top);
    if (p.ow == 0) p.ow = Out(p.iw, p.kw, p.sw, p.dw, p.pad_left);
    weights.assign(size_t{p.oc} * p.kh * p.kw * (p.depthwise ? 1 : p.ic), 3);
    p.weights = weights;
    p.multipliers = multipliers;
  }
  static uint32_t Out(uint32_t in, uint32_t k, uint32_t s, uint32_t d, uint32_t pad) {
    return (in + pad - (k - 1) * d - 1) / s + 1;
  }
  Result<EncodedOp> Encode() const { return EncodeConv(Chip(), p); }

  std::vector<int8_t> weights;
  std::vector<double> multipliers = {0.001};
  ConvProblem p;
};

ConvProblem Small() { return {.ic = 16, .ih = 9, .iw = 9, .oc = 24, .kh = 3, .kw = 3}; }

void ExpectReason(const ConvProblem& p, std::string_view reason) {
  const Result<EncodedOp> op = Fixture(p).Encode();
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(op.status().reason(), reason) << op.status().message();
  EXPECT_FALSE(op.status().message().empty());
}

TEST(EncodeConv, CubesAndConstants) {
  const Result<EncodedOp> op = Fixture(Small()).Encode();
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(op->route, "npu-int8");
  EXPECT_EQ(op->input.allocated_channels, 32u);
  EXPECT_EQ(op->output.allocated_channels, 32u);
  EXPECT_EQ(op->output.height, 7u);
  EXPECT_EQ(op->weights.size(), 32u * 9 * 32);
  EXPECT_EQ(op->operands.size(), 32u * 4);
  EXPECT_EQ(op->tasks.size(), 1u);
  EXPECT_EQ(op->tasks[0].words.size(), 128u);
  EXPECT_EQ(op->macs, 24u * 49 * 9 * 16);
  EXPECT_EQ(op->bound.counts, 1);
}

TEST(EncodeConv, DepthwiseReads32ChannelsAndWrites64) {
  const Result<EncodedOp> op =
      Fixture({.depthwise = true, .ic = 70, .ih = 9, .iw = 9, .oc = 70, .kh = 3, .kw = 3}).Encode();
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->input.allocated_channels, 96u);
  EXPECT_EQ(op->output.allocated_channels, 128u);
  EXPECT_EQ(op->weights.size(), 96u * 9);
  EXPECT_EQ(op->operands.size(), 128u * 4);
}

TEST(EncodeConv, RawOutputIsInt32WithoutOperands) {
  ConvProblem p = Small();
  p.raw_int32 = true;
  const Result<EncodedOp> op = Fixture(p).Encode();
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->route, "npu-int32-host-requant");
  EXPECT_EQ(op->output.element_bytes, 4u);
  EXPECT_EQ(op->output.bytes(), 32u * 4 * 49);
  EXPECT_TRUE(op->operands.empty());
  EXPECT_EQ(op->bound.counts, 0);
  p.depthwise = true;
  p.oc = p.ic;
  ExpectReason(p, reason::kRawDepthwise);
}

TEST(EncodeConv, FirstLayerIsPaddedTo32Channels) {
  const Result<EncodedOp> op =
      Fixture({.ic = 3, .ih = 32, .iw = 32, .oc = 8, .kh = 3, .kw = 3, .sh = 2, .sw = 2}).Encode();
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->input.channels, 3u);
  EXPECT_EQ(op->input.allocated_channels, 32u);
}

TEST(EncodeConvLimits, Width) {
  ExpectReason({.ic = 1, .ih = 1, .iw = 2048, .oc = 1, .ow = 1}, reason::kWidth);
}
TEST(EncodeConvLimits, OutputWidth) {
  ExpectReason({.ic = 1, .ih = 1, .iw = 2040, .oc = 1, .ow = 2050, .kw = 15, .pad_left = 14},
               reason::kOutput);
}
TEST(EncodeConvLimits, Kernel) {
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .kh = 32}, reason::kKernel);
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .kw = 32}, reason::kKernel);
}
TEST(EncodeConvLimits, Stride) {
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .sh = 8}, reason::kStride);
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .sw = 8}, reason::kStride);
}
TEST(EncodeConvLimits, Dilation) {
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .kh = 2, .dh = 33}, reason::kDilation);
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .kw = 2, .dw = 33}, reason::kDilation);
}
TEST(EncodeConvLimits, Padding) {
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .kh = 17, .pad_top = 16}, reason::kPadding);
  ExpectReason({.ic = 1, .ih = 40, .iw = 40, .oc = 1, .kw = 17, .pad_left = 16}, reason::kPadding);
}
TEST(EncodeConvLimits, KernelBytes) {
  ExpectReason({.ic = 3648, .ih = 3, .iw = 3, .oc = 1, .kh = 3, .kw = 3}, reason::kKernelBytes);
  ExpectReason({.depthwise = true, .ic = 64, .ih = 31, .iw = 31, .oc = 64, .kh = 31, .kw = 31},
               reason::kKernelBytes);
}
TEST(EncodeConvLimits, Channels) {
  ExpectReason({.ic = 16385, .ih = 1, .iw = 1, .oc = 1}, reason::kChannels);
}
TEST(EncodeConvLimits, Buffer) {
  ExpectReason({.ic = 512, .ih = 3, .iw = 1000, .oc = 1, .kh = 3, .kw = 3}, reason::kCbuf);
}
TEST(EncodeConvLimits, AddressSpace) {
  ExpectReason({.ic = 96, .ih = 1 << 20, .iw = 64, .oc = 1}, reason::kAddressSpace);
}
TEST(EncodeConvLimits, WindowBesideThePlane) {
  ExpectReason({.ic = 1, .ih = 2, .iw = 2, .oc = 1, .oh = 4, .kh = 2, .dh = 4, .pad_top = 1},
               reason::kGeometry);
}
TEST(EncodeConvLimits, Activation) {
  ConvProblem p = Small();
  p.clamp_lo = -10;
  ExpectReason(p, reason::kActivation);
}
TEST(EncodeConvLimits, RequantBound) {
  Fixture f({.ic = 1024, .ih = 1, .iw = 1, .oc = 2});
  f.multipliers = {0.9, 0.9 / 20000.0};
  f.p.multipliers = f.multipliers;
  const Result<EncodedOp> op = f.Encode();
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.status().reason(), reason::kRequantBound);
}

// What the limits allow, to the last value.
TEST(EncodeConvLimits, LargestValuesAreAccepted) {
  EXPECT_TRUE(Fixture({.ic = 1, .ih = 2, .iw = 2047, .oc = 1}).Encode().ok());
  EXPECT_TRUE(Fixture({.ic = 10240, .ih = 1, .iw = 1, .oc = 1}).Encode().ok());
  EXPECT_TRUE(Fixture({.ic = 1, .ih = 31, .iw = 31, .oc = 1, .kh = 31, .kw = 9}).Encode().ok());
  EXPECT_TRUE(Fixture({.ic = 1,
                       .ih = 70,
                       .iw = 70,
                       .oc = 1,
                       .kh = 3,
                       .kw = 3,
                       .sh = 7,
                       .sw = 7,
                       .dh = 32,
                       .dw = 32,
                       .pad_top = 15,
                       .pad_left = 15})
                  .Encode()
                  .ok());
  // Taller than one task: bands.
  const Result<EncodedOp> tall = Fixture({.ic = 1, .ih = 5000, .iw = 2, .oc = 1}).Encode();
  ASSERT_TRUE(tall.ok());
  EXPECT_GE(tall->tasks.size(), 5u);
  // More channels than one task writes.
  EXPECT_TRUE(Fixture({.ic = 8, .ih = 1, .iw = 1, .oc = 9000}).Encode().ok());
}

TEST(EncodeConvInvalid, Contradictions) {
  const auto expect_invalid = [](const Fixture& f) {
    const Result<EncodedOp> op = f.Encode();
    ASSERT_FALSE(op.ok());
    EXPECT_EQ(op.status().code(), ErrorCode::kInvalidArgument) << op.status().message();
  };
  Fixture f(Small());
  f.p.weights = std::span(f.weights).first(10);
  expect_invalid(f);
  f = Fixture(Small());
  const std::vector<int32_t> bias(5);
  f.p.weights = f.weights;
  f.p.multipliers = f.multipliers;
  f.p.bias = bias;
  expect_invalid(f);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Fixture g(Small());
    g.multipliers = {bad};
    g.p.multipliers = g.multipliers;
    expect_invalid(g);
  }
  Fixture zero(Small());
  zero.p.in_zero_point = 200;
  expect_invalid(zero);
  Fixture clamp(Small());
  clamp.p.clamp_lo = 50;
  clamp.p.clamp_hi = 40;
  expect_invalid(clamp);
  Fixture extent(Small());
  extent.p.oh = 0;
  expect_invalid(extent);
  Fixture huge(Small());
  huge.p.ih = 0xFFFFFFFF;
  expect_invalid(huge);
}

TEST(EncodeAveragePool, EqualToTfliteUpTo92Elements) {
  for (uint32_t n = 1; n <= 92; ++n) {
    for (uint32_t kh = 1; kh <= n; ++kh) {
      if (n % kh != 0 || kh > 31 || n / kh > 31) continue;
      const Result<EncodedOp> op = EncodeAveragePool(
          Chip(), {.c = 8, .ih = kh, .iw = n / kh, .oh = 1, .ow = 1, .kh = kh, .kw = n / kh});
      ASSERT_TRUE(op.ok()) << n << ": " << op.status().message();
      EXPECT_EQ(op->bound.counts, 0) << n;
    }
  }
}

TEST(EncodeAveragePool, LargerWindowsSayOneCountOrRefuse) {
  int inexact = 0;
  for (const uint32_t k : {11u, 13u, 17u, 22u}) {
    const Result<EncodedOp> op =
        EncodeAveragePool(Chip(), {.c = 8, .ih = k, .iw = k, .oh = 1, .ow = 1, .kh = k, .kw = k});
    ASSERT_TRUE(op.ok());
    EXPECT_LE(op->bound.counts, 1);
    inexact += op->bound.counts;
  }
  EXPECT_GT(inexact, 0);
}

TEST(EncodeAveragePool, Refusals) {
  AveragePoolProblem p{
      .c = 8, .ih = 4, .iw = 4, .oh = 2, .ow = 2, .kh = 2, .kw = 2, .sh = 2, .sw = 2};
  EXPECT_TRUE(EncodeAveragePool(Chip(), p).ok());
  p.clamp_lo = 0;
  EXPECT_EQ(EncodeAveragePool(Chip(), p).status().reason(), reason::kPoolActivation);
  p.clamp_lo = -128;
  p.oh = 3;  // a window would leave the plane
  EXPECT_EQ(EncodeAveragePool(Chip(), p).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(EncodeAveragePool(Chip(), {.c = 1, .ih = 1, .iw = 1, .oh = 1, .ow = 1, .kh = 1 << 20})
                .status()
                .reason(),
            reason::kPoolWindow);
}

TEST(EncodeMean, OneTaskForAPlane) {
  const Result<EncodedOp> op = EncodeMean(Chip(), {.c = 320,
                                                   .ih = 7,
                                                   .iw = 7,
                                                   .in_scale = 0.02F,
                                                   .out_scale = 0.015F,
                                                   .in_zero_point = -128,
                                                   .out_zero_point = -100});
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(op->tasks.size(), 1u);
  EXPECT_EQ(op->output.height, 1u);
  EXPECT_EQ(op->macs, 320u * 49);
  EXPECT_EQ(op->bound.counts, 1);
  EXPECT_EQ(EncodeMean(Chip(), {.c = 8, .ih = 32, .iw = 7}).status().reason(), reason::kKernel);
  EXPECT_EQ(EncodeMean(Chip(), {.c = 8, .ih = 3, .iw = 7, .out_scale = 0.0}).status().code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace npu::encode
