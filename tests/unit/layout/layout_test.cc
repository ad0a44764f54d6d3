// SPDX-License-Identifier: Apache-2.0
// Worked offsets of rk3588-conv-matmul section 3, and packers against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "src/layout/operand_records.h"
#include "src/layout/pack.h"
#include "src/layout/weight_cube.h"

namespace npu::layout {
namespace {

std::vector<std::byte> RandomBytes(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(n);
  for (std::byte& b : out) b = static_cast<std::byte>(random() & 0xFF);
  return out;
}

TEST(CubeOffset, WorkedExamples) {
  const CubeShape fp16{
      .channels = 16, .allocated_channels = 16, .height = 28, .width = 28, .element_bytes = 2};
  EXPECT_EQ(CubeOffset(fp16, 13, 5, 7), 14906u);
  const CubeShape int8{.channels = 64, .allocated_channels = 64, .height = 8, .width = 8};
  EXPECT_EQ(CubeOffset(int8, 37, 2, 3), 2357u);
  const CubeShape raw{
      .channels = 64, .allocated_channels = 64, .height = 28, .width = 28, .element_bytes = 4};
  EXPECT_EQ(CubeOffset(raw, 45, 2, 3), 138932u);
}

struct PackCase {
  uint32_t c, h, w;
  bool flip;
};

class Pack : public ::testing::TestWithParam<PackCase> {};

// Every byte of the written groups is as the index formula says, padding lanes are 0, and nothing
// outside those groups is touched.
TEST_P(Pack, EqualsIndexFormula) {
  const PackCase p = GetParam();
  const CubeShape cube{
      .channels = p.c, .allocated_channels = RoundUp(p.c, 32u) + 32, .height = p.h, .width = p.w};
  const std::vector<std::byte> nhwc = RandomBytes(size_t{p.c} * p.h * p.w, p.c + 100 * p.h);
  std::vector<std::byte> packed(cube.bytes(), std::byte{0x5A});
  PackInt8(nhwc.data(), cube, p.flip, packed.data());

  std::vector<std::byte> expected(cube.bytes(), std::byte{0x5A});
  std::fill_n(expected.begin(), CeilDiv(p.c, 16u) * cube.surface_bytes(), std::byte{0});
  for (uint32_t h = 0; h < p.h; ++h) {
    for (uint32_t w = 0; w < p.w; ++w) {
      for (uint32_t c = 0; c < p.c; ++c) {
        const std::byte b = nhwc[(size_t{h} * p.w + w) * p.c + c];
        expected[(c / 16) * 16 * p.h * p.w + (h * p.w + w) * 16 + c % 16] =
            p.flip ? b ^ std::byte{0x80} : b;
      }
    }
  }
  EXPECT_EQ(packed, expected);

  std::vector<std::byte> back(nhwc.size() + 16, std::byte{0x33});
  UnpackInt8(packed.data(), cube, p.flip, back.data());
  EXPECT_TRUE(std::equal(nhwc.begin(), nhwc.end(), back.begin()));
  EXPECT_EQ(std::vector<std::byte>(16, std::byte{0x33}),
            std::vector<std::byte>(back.end() - 16, back.end()));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Pack,
                         ::testing::Values(PackCase{1, 1, 1, false}, PackCase{3, 5, 7, false},
                                           PackCase{3, 5, 7, true}, PackCase{16, 3, 2, true},
                                           PackCase{17, 1, 1, true}, PackCase{31, 9, 5, false},
                                           PackCase{40, 7, 11, true}, PackCase{64, 2, 33, false},
                                           PackCase{15, 1, 2, true}, PackCase{130, 6, 6, false}));

TEST(Unpack, RawInt32) {
  const CubeShape cube{
      .channels = 21, .allocated_channels = 32, .height = 3, .width = 5, .element_bytes = 4};
  const std::vector<std::byte> bytes = RandomBytes(cube.bytes(), 9);
  std::vector<int32_t> out(21 * 15);
  UnpackInt32(bytes.data(), cube, out.data());
  for (uint32_t c = 0; c < 21; ++c) {
    for (uint32_t p = 0; p < 15; ++p) {
      int32_t expected = 0;
      std::memcpy(&expected, bytes.data() + (c / 4) * 240 + p * 16 + (c % 4) * 4, 4);
      EXPECT_EQ(out[p * 21 + c], expected);
    }
  }
}

TEST(DirectWeights, WorkedExample) {
  const DirectWeightShape s{
      .oc = 64, .ic = 64, .kh = 3, .kw = 3, .oc_programmed = 64, .ic_programmed = 64};
  EXPECT_EQ(DirectWeightOffset(s, 21, 40, 1, 2), 15016u);
}

// 48 programmed channels: the second input group holds 16 lanes.
TEST(DirectWeights, ShortLastInputGroup) {
  const DirectWeightShape s{
      .oc = 32, .ic = 48, .kh = 1, .kw = 2, .oc_programmed = 32, .ic_programmed = 48};
  EXPECT_EQ(DirectWeightOffset(s, 0, 32, 0, 0), 2u * 32 * 32);
  EXPECT_EQ(DirectWeightOffset(s, 1, 33, 0, 1), 2u * 32 * 32 + 32 * 16 + 16 + 1);
}

TEST(DirectWeights, OffsetsCoverTheCubeOnce) {
  const DirectWeightShape s{
      .oc = 64, .ic = 80, .kh = 2, .kw = 3, .oc_programmed = 64, .ic_programmed = 80};
  std::set<uint64_t> seen;
  for (uint32_t oc = 0; oc < s.oc; ++oc) {
    for (uint32_t ic = 0; ic < s.ic; ++ic) {
      for (uint32_t tap = 0; tap < 6; ++tap) {
        seen.insert(DirectWeightOffset(s, oc, ic, tap / 3, tap % 3));
      }
    }
  }
  EXPECT_EQ(seen.size(), s.bytes());
  EXPECT_EQ(*seen.rbegin(), s.bytes() - 1);
}

TEST(DirectWeights, PaddingLanesCarryTheZeroPoint) {
  const DirectWeightShape s{
      .oc = 3, .ic = 5, .kh = 2, .kw = 1, .oc_programmed = 32, .ic_programmed = 32};
  std::vector<int8_t> weights(30);
  std::iota(weights.begin(), weights.end(), int8_t{1});
  const std::vector<std::byte> cube = PackDirectWeights(s, weights, 7);
  ASSERT_EQ(cube.size(), 2u * 32 * 32);
  for (uint32_t oc = 0; oc < 32; ++oc) {
    for (uint32_t ic = 0; ic < 32; ++ic) {
      for (uint32_t y = 0; y < 2; ++y) {
        const int expected = oc >= 3 ? 0 : ic >= 5 ? 7 : weights[(oc * 2 + y) * 5 + ic];
        EXPECT_EQ(static_cast<int8_t>(cube[y * 1024 + oc * 32 + ic]), expected);
      }
    }
  }
}

TEST(DepthwiseWeights, WorkedExamples) {
  EXPECT_EQ(DepthwiseWeightOffset({.c = 64, .kh = 3, .kw = 3, .c_programmed = 64}, 50, 1, 2), 370u);
  EXPECT_EQ(DepthwiseWeightOffset({.c = 96, .kh = 3, .kw = 3, .c_programmed = 96}, 70, 1, 2), 742u);
}

TEST(DepthwiseWeights, ShortLastGroupIsPacked) {
  const DepthwiseWeightShape s{.c = 70, .kh = 1, .kw = 2, .c_programmed = 96};
  std::vector<int8_t> weights(140);
  std::iota(weights.begin(), weights.end(), int8_t{-100});
  const std::vector<std::byte> cube = PackDepthwiseWeights(s, weights, -3);
  ASSERT_EQ(cube.size(), 192u);
  EXPECT_EQ(static_cast<int8_t>(cube[64 + 5]), weights[5 * 2 + 1]);
  EXPECT_EQ(static_cast<int8_t>(cube[128 + 32 + 4]), weights[68 * 2 + 1]);
  EXPECT_EQ(static_cast<int8_t>(cube[128 + 32 + 6]), -3);  // channel 70 does not exist
}

TEST(OperandRecords, WorkedOffsets) {
  EXPECT_EQ(RecordAddendOffset(13), 84u);
  EXPECT_EQ(RecordMultiplierOffset(13), 122u);
}

TEST(OperandRecords, Bytes) {
  std::vector<int32_t> a(13);
  std::vector<int16_t> m(13);
  for (int i = 0; i < 13; ++i) {
    a[static_cast<size_t>(i)] = -1000 * i;
    m[static_cast<size_t>(i)] = static_cast<int16_t>(2048 + i);
  }
  const std::vector<std::byte> records = PackRecords(a, m, 16);
  ASSERT_EQ(records.size(), 128u);
  int32_t addend = 0;
  int16_t multiplier = 0;
  std::memcpy(&addend, records.data() + 64 + 16, 4);
  std::memcpy(&multiplier, records.data() + 64 + 48 + 8, 2);
  EXPECT_EQ(addend, -12000);
  EXPECT_EQ(multiplier, 2060);
  std::memcpy(&multiplier, records.data() + 64 + 48 + 10, 2);  // padding channel 13
  EXPECT_EQ(multiplier, 1);
  const std::vector<std::byte> dense = PackAddends(a, 32);
  ASSERT_EQ(dense.size(), 128u);
  std::memcpy(&addend, dense.data() + 20, 4);
  EXPECT_EQ(addend, -5000);
  std::memcpy(&addend, dense.data() + 52, 4);
  EXPECT_EQ(addend, 0);
}

}  // namespace
}  // namespace npu::layout
