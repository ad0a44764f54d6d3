// SPDX-License-Identifier: Apache-2.0
// Every golden case of the RK3588, with the exact counts of what passes and what is skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/replay/replay.h"
#include "src/base/worker_pool.h"

namespace npu::replay {
namespace {

// Cases that must pass, by family. Raise these numbers with the feature that makes more pass.
const std::map<std::string, int> kPassing = {
    {"avg_pool_int8", 1},
    {"chained_kick_fp16", 3},
    {"chained_layers_int8", 3},
    {"conv2d_fp16", 9},
    {"conv2d_int8", 11},
    {"conv2d_int8_add", 3},
    {"conv2d_int8_int32", 17},
    {"conv2d_int8_per_channel", 4},
    {"conv_transpose_fp16", 2},
    {"crossop_fp16", 1},
    {"depthwise_fp16", 4},
    {"depthwise_int8", 5},
    {"depthwise_int8_per_channel", 1},
    {"elementwise_fp16", 6},
    {"elementwise_int8", 1},
    {"global_pool_fp16", 3},
    {"matmul_fp16_fp16", 4},
    {"matmul_fp16_fp32", 2},
    {"matmul_int8_int32", 4},
    {"matmul_kacc_fp16", 1},
    {"negative", 11},
    {"pool_fp16", 8},
    {"resize_fp16", 2},
    {"scale_fp16", 2},
};
// What the simulator does not model, by the feature it names.
const std::map<std::string, int> kMissing = {
    {"bf16", 2}, {"int16", 2}, {"int4", 3}, {"lookup table (LUT)", 14}, {"tf32", 2},
};
constexpr uint32_t kPassed = 108, kSkipped = 23;

class Golden : public testing::TestWithParam<sim::Path> {
 protected:
  static std::vector<CaseResult> Run(sim::Path path) {
    WorkerPool pool(2);
    Options options;
    options.path = path;
    options.pool = &pool;
    const auto cases = FindCases({NPU_GOLDEN_DIR});
    EXPECT_TRUE(cases.ok());
    return cases.ok() ? RunCases(*cases, options) : std::vector<CaseResult>{};
  }
};

TEST_P(Golden, PassesAndSkipsExactlyTheKnownCases) {
  const std::vector<CaseResult> results = Run(GetParam());
  std::map<std::string, int> passing;
  for (const CaseResult& result : results) {
    EXPECT_NE(result.status, CaseStatus::kFailed) << result.name << ": " << result.reason;
    if (result.status == CaseStatus::kPassed) ++passing[result.family];
  }
  EXPECT_EQ(passing, kPassing);
  const Summary summary = Count(results);
  EXPECT_EQ(summary.passed, kPassed);
  EXPECT_EQ(summary.failed, 0u);
  EXPECT_EQ(summary.skipped, kSkipped);
}

TEST_P(Golden, NamesTheMissingFeatureOfEverySkippedCase) {
  std::map<std::string, int> missing;
  for (const CaseResult& result : Run(GetParam())) {
    if (result.status == CaseStatus::kSkipped) ++missing[result.reason];
  }
  EXPECT_EQ(missing, kMissing);
}

// Positive cases are known to work on silicon, so the strict checks must stay silent on them.
TEST_P(Golden, RaisesOnlyTheKnownWarningsOnWorkingPrograms) {
  std::map<std::string, std::string> found;
  for (const CaseResult& result : Run(GetParam())) {
    if (result.status != CaseStatus::kPassed || result.outcome != "result") continue;
    for (const std::string& text : result.diagnostics) found[result.name] = text;
  }
  EXPECT_EQ(found.size(), 2u);
  EXPECT_THAT(found["conv_i8perc_split_3x3_p1_32x9x9_160"], testing::HasSubstr("dpu.split_shift"));
  EXPECT_THAT(found["dw_i8_teflon_capture_64x8x8"], testing::HasSubstr("cna.pad_bytes"));
}

INSTANTIATE_TEST_SUITE_P(Paths, Golden, testing::Values(sim::Path::kClear, sim::Path::kFast),
                         [](const auto& path) {
                           return path.param == sim::Path::kFast ? "Fast" : "Clear";
                         });

}  // namespace
}  // namespace npu::replay
