// SPDX-License-Identifier: Apache-2.0
// Tiles cover the output once, fit the on-chip buffer, and are as few as they can be.
#include "src/encode/rk3588/tiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "src/encode/reason.h"
#include "src/encode/rk3588/conv_task.h"

namespace npu::encode::rk3588 {
namespace {

const chip::Profile& Chip() { return *chip::FindChip("rk3588"); }

TEST(LineEntries, WorkedExamples) {
  EXPECT_EQ(LineEntries(64, 28), 28u);    // program E
  EXPECT_EQ(LineEntries(32, 225), 113u);  // program G
  EXPECT_EQ(LineEntries(672, 1), 11u);
  EXPECT_EQ(LineEntries(48, 7), 7u);  // three atoms cost a whole entry
  EXPECT_EQ(LineEntries(40, 40), 40u);
}

// rk3588-conv-matmul 5.1: K = 672, M = 144 needs 4 banks although the bytes fill 3.
TEST(DataBanks, SaferOfBothRules) {
  EXPECT_EQ(DataBanks(Chip(), 672, 1, 144), 4u);
  EXPECT_EQ(DataBanks(Chip(), 64, 28, 28), 3u);   // program E
  EXPECT_EQ(DataBanks(Chip(), 32, 225, 29), 8u);  // G
  EXPECT_EQ(DataBanks(Chip(), 32, 112, 56), 8u);  // H
  EXPECT_EQ(DataBanks(Chip(), 64, 56, 56), 8u);   // J
  EXPECT_EQ(DataBanks(Chip(), 1024, 1, 4), 2u);   // K
}

TileProblem Square(uint32_t ic, uint32_t oc, uint32_t size, uint32_t k = 1) {
  TileProblem p{.ic = ic, .ih = size, .iw = size, .oc = oc, .oh = size, .ow = size};
  p.kh = p.kw = k;
  p.pad_top = k / 2;
  return p;
}

size_t Count(const TileProblem& p) {
  const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), p);
  EXPECT_TRUE(tiles.ok());
  return tiles.ok() ? tiles->size() : 0;
}

TEST(Tiling, SmallLayersAreOneTask) { EXPECT_EQ(Count(Square(64, 64, 28, 3)), 1u); }

// Section 9.3: two bands of 56 rows.
TEST(Tiling, PointwiseInTwoBands) {
  const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), Square(32, 64, 112));
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 2u);
  EXPECT_EQ((*tiles)[0].rows, 56u);
  EXPECT_EQ((*tiles)[1].row, 56u);
  EXPECT_EQ((*tiles)[1].in_row, 56u);
  EXPECT_EQ((*tiles)[1].in_rows, 56u);
  EXPECT_EQ((*tiles)[0].data_banks, 8u);
  EXPECT_EQ((*tiles)[0].weight_banks, 4u);
}

// Bands in place: only the first has padding above, halo rows are read again.
TEST(Tiling, BandsShareHaloRows) {
  TileProblem p{.ic = 32, .ih = 224, .iw = 224, .oc = 32, .oh = 112, .ow = 112};
  p.kh = p.kw = 3;
  p.sh = 2;
  const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), p);
  ASSERT_TRUE(tiles.ok());
  ASSERT_GT(tiles->size(), 1u);
  EXPECT_EQ((*tiles)[1].in_row, 2 * (*tiles)[1].row);
  EXPECT_EQ((*tiles)[0].in_rows, 2 * ((*tiles)[0].rows - 1) + 3);
  p.pad_top = 1;
  const Result<std::vector<Tile>> padded = PlanTiles(Chip(), p);
  ASSERT_TRUE(padded.ok());
  EXPECT_EQ((*padded)[0].pad_top, 1u);
  EXPECT_EQ((*padded)[0].in_row, 0u);
  EXPECT_EQ((*padded)[1].pad_top, 0u);
  EXPECT_EQ((*padded)[1].in_row, 2 * (*padded)[1].row - 1);
  EXPECT_EQ(padded->back().in_row + padded->back().in_rows, 224u);
}

// 1024 -> 1001 on one pixel: 10 banks hold 320 kernels.
TEST(Tiling, ClassifierInFourChannelTiles) {
  const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), Square(1024, 1024, 1));
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 4u);
  for (const Tile& t : *tiles) EXPECT_EQ(t.channels, 256u);
}

// The weights of a depthwise task count as one kernel of at most one bank.
TEST(Tiling, DepthwisePlaneMeanIsCutByChannels) {
  TileProblem p{.depthwise = true, .ic = 1280, .ih = 7, .iw = 7, .oc = 1280, .oh = 1, .ow = 1};
  p.kh = p.kw = 7;
  const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), p);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 2u);
  EXPECT_EQ((*tiles)[1].channel, 640u);
}

TEST(Tiling, RefusesPlanesTooWide) {
  const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), Square(512, 32, 1000, 3));
  ASSERT_FALSE(tiles.ok());
  EXPECT_EQ(tiles.status().reason(), reason::kCbuf);
}

TEST(Tiling, RandomProblemsAreCoveredOnceAndFit) {
  std::mt19937 random(5);
  const auto uniform = [&](uint32_t lo, uint32_t hi) {
    return std::uniform_int_distribution<uint32_t>(lo, hi)(random);
  };
  int cut = 0;
  for (int i = 0; i < 3000; ++i) {
    TileProblem p{.depthwise = uniform(0, 2) == 0};
    p.ic = 32 * uniform(1, 24);
    p.oc = p.depthwise ? RoundUp(p.ic, 64u) : 32 * uniform(1, 40);
    p.kh = p.kw = uniform(1, 7);
    p.sh = uniform(1, 3);
    p.dh = uniform(1, 2);
    p.pad_top = uniform(0, (p.kh - 1) * p.dh);
    p.iw = p.ow = uniform(1, 200);
    const uint32_t window = (p.kh - 1) * p.dh + 1;
    p.ih = window + uniform(0, 200);
    p.oh = (p.ih + p.pad_top - window) / p.sh + 1;
    const Result<std::vector<Tile>> tiles = PlanTiles(Chip(), p);
    if (!tiles.ok()) {
      EXPECT_EQ(tiles.status().reason(), reason::kCbuf);
      continue;
    }
    cut += tiles->size() > 1 ? 1 : 0;
    uint64_t area = 0;
    for (const Tile& t : *tiles) {
      area += uint64_t{t.rows} * t.channels;
      ASSERT_EQ(t.channel % (p.depthwise ? 64 : 32), 0u);
      ASSERT_EQ(t.data_banks + t.weight_banks, 12u);
      const uint32_t ic = p.depthwise ? std::min(t.channels, p.ic - t.channel) : p.ic;
      const uint64_t weights = uint64_t{p.kh} * p.kw * ic * (p.depthwise ? 1 : t.channels);
      ASSERT_LE(weights, uint64_t{t.weight_banks} * 32768);
      ASSERT_LE(uint64_t{t.in_rows} * LineEntries(ic, p.iw), uint64_t{t.data_banks} * 512);
      // The rows it reads are those its windows cover.
      const int64_t first = int64_t{t.row} * p.sh - p.pad_top;
      const int64_t last = first + int64_t{t.rows - 1} * p.sh + window - 1;
      ASSERT_EQ(int64_t{t.in_row} - t.pad_top, first);
      ASSERT_GE(int64_t{t.in_row} + t.in_rows - 1, std::min<int64_t>(last, p.ih - 1));
      ASSERT_LE(t.in_row + t.in_rows, p.ih);
    }
    ASSERT_EQ(area, uint64_t{p.oh} * p.oc);
  }
  EXPECT_GT(cut, 300);
}

}  // namespace
}  // namespace npu::encode::rk3588
