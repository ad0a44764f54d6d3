// SPDX-License-Identifier: Apache-2.0
#include "src/plan/memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace npu::plan {
namespace {

bool OverlapInTime(const Interval& a, const Interval& b) {
  return a.first <= b.last && b.first <= a.last;
}

TEST(PlanOffsets, NeverSharesBytesBetweenOverlappingLives) {
  std::mt19937 rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals(1 + rng() % 40);
    for (Interval& i : intervals) {
      i.bytes = 1 + rng() % 5000;
      i.first = static_cast<int32_t>(rng() % 20);
      i.last = i.first + static_cast<int32_t>(rng() % 6);
    }
    uint64_t total = 0;
    const std::vector<uint64_t> offsets = PlanOffsets(intervals, 64, &total);
    for (size_t a = 0; a < intervals.size(); ++a) {
      EXPECT_EQ(offsets[a] % 64, 0U);
      EXPECT_LE(offsets[a] + intervals[a].bytes, total);
      for (size_t b = 0; b < a; ++b) {
        if (!OverlapInTime(intervals[a], intervals[b])) continue;
        EXPECT_TRUE(offsets[a] + intervals[a].bytes <= offsets[b] ||
                    offsets[b] + intervals[b].bytes <= offsets[a])
            << "round " << round << ": " << a << " and " << b;
      }
    }
  }
}

TEST(PlanOffsets, ReusesBytesOfDeadTensors) {
  uint64_t total = 0;
  const auto offsets = PlanOffsets({{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}}, 64, &total);
  EXPECT_EQ(total, 2048U);
  EXPECT_EQ(offsets[0], offsets[2]);
}

}  // namespace
}  // namespace npu::plan
