// SPDX-License-Identifier: Apache-2.0
// The SIMD loops against their formulas, on every target this machine runs.
#include "src/host/simd.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "src/arith/tflite.h"

namespace npu::host {
namespace {

void OnEveryTarget(const std::function<void()>& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

std::vector<int16_t> Random(std::mt19937& random, size_t count, int low, int high) {
  std::uniform_int_distribution<int> distribution(low, high);
  std::vector<int16_t> values(count);
  for (int16_t& v : values) v = static_cast<int16_t>(distribution(random));
  return values;
}

TEST(DotTile, EqualsItsFormula) {
  OnEveryTarget([] {
    std::mt19937 random(1);
    for (const size_t depth : {32U, 64U, 160U}) {
      const size_t channels = 6;
      const auto patches = Random(random, kDotPixels * depth, -255, 255);
      const auto weights = Random(random, channels * depth, -255, 255);
      std::vector<int32_t> sums(kDotPixels * channels, 77);
      DotTile(patches.data(), weights.data(), depth, channels, sums.data());
      for (size_t p = 0; p < kDotPixels; ++p) {
        for (size_t o = 0; o < channels; ++o) {
          int32_t expected = 0;
          for (size_t k = 0; k < depth; ++k) {
            expected += patches[p * depth + k] * weights[o * depth + k];
          }
          ASSERT_EQ(sums[p * channels + o], expected);
        }
      }
    }
  });
}

// Weights from `low` to `high`, the extremes among them.
void ExpectDepthwiseFormula(decltype(DepthwiseSpan)* span, int16_t low, int16_t high) {
  OnEveryTarget([&] {
    std::mt19937 random(2);
    for (const size_t channels : {1U, 15U, 16U, 37U}) {
      for (const int16_t zero : {int16_t{-128}, int16_t{0}, int16_t{127}}) {
        std::vector<std::vector<int8_t>> inputs;
        std::vector<std::vector<int16_t>> weights;
        for (size_t t = 0; t < 5; ++t) {
          inputs.emplace_back();
          for (const int16_t v : Random(random, channels, -128, 127)) {
            inputs.back().push_back(t == 0 ? int8_t{-128} : static_cast<int8_t>(v));
          }
          weights.push_back(Random(random, channels, t < 2 ? low : high, t < 2 ? low : high));
        }
        std::vector<DepthwiseTap> taps;
        for (size_t t = 0; t < 5; ++t) taps.push_back({inputs[t].data(), weights[t].data()});
        std::vector<int32_t> sums(channels, 77);
        span(taps.data(), taps.size(), zero, channels, sums.data());
        for (size_t c = 0; c < channels; ++c) {
          int32_t expected = 0;
          for (size_t t = 0; t < 5; ++t) expected += (inputs[t][c] - zero) * weights[t][c];
          ASSERT_EQ(sums[c], expected);
        }
      }
    }
  });
}

TEST(DepthwiseSpan, EqualsItsFormulaAtTheExtremes) {
  ExpectDepthwiseFormula(DepthwiseSpan, -128, 127);
  ExpectDepthwiseFormula(DepthwiseSpanWide, -255, 255);
}

TEST(RequantizeDouble, EqualsTheScalarRule) {
  OnEveryTarget([] {
    std::mt19937 random(3);
    constexpr size_t kCount = 4099;
    constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
    constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
    std::vector<int32_t> values, bias, multiplier, left, right;
    for (size_t i = 0; i < kCount; ++i) {
      const int bits = static_cast<int>(random() % 32);
      const auto small = static_cast<int32_t>(random()) >> bits;
      values.push_back(i % 50 == 0 ? kMin : i % 50 == 1 ? kMax : small);
      bias.push_back(i % 7 == 0 ? static_cast<int32_t>(random()) >> 8 : 0);
      // Powers of two give ties.
      multiplier.push_back(i % 9 == 0   ? 0
                           : i % 3 == 0 ? 1 << 30
                                        : (1 << 30) + static_cast<int32_t>(random() >> 3));
      const auto exponent = static_cast<int32_t>(random() % 62) - 31;
      left.push_back(exponent > 0 ? exponent : 0);
      right.push_back(exponent > 0 ? 0 : -exponent);
    }
    const RequantizeArrays arrays{bias.data(), multiplier.data(), left.data(), right.data()};
    std::vector<int8_t> out(kCount);
    for (const int32_t zero_point : {-128, 3, 127}) {
      RequantizeDouble(values.data(), arrays, kCount, zero_point, -100, 120, out.data());
      for (size_t i = 0; i < kCount; ++i) {
        const auto sum =
            static_cast<int32_t>(static_cast<uint32_t>(values[i]) + static_cast<uint32_t>(bias[i]));
        const int64_t y = int64_t{arith::MultiplyByQuantizedMultiplier(
                              sum, {multiplier[i], left[i] - right[i]})} +
                          zero_point;
        ASSERT_EQ(out[i], std::clamp<int64_t>(y, -100, 120)) << "value " << values[i];
      }
    }
  });
}

}  // namespace
}  // namespace npu::host
