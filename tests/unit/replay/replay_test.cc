// SPDX-License-Identifier: Apache-2.0
// The judgement of replay: it must fail what is wrong, not only pass what is right.
#include "apps/replay/replay.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "apps/replay/compare.h"
#include "apps/replay/expectation.h"

namespace npu::replay {
namespace {

device::JobFile Golden(const std::string& name) {
  auto file = device::ReadJobFile(std::filesystem::path(NPU_GOLDEN_DIR) / name);
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : device::JobFile{};
}

std::array<std::byte, 4> Bytes(uint32_t bits) {
  return {static_cast<std::byte>(bits), static_cast<std::byte>(bits >> 8),
          static_cast<std::byte>(bits >> 16), static_cast<std::byte>(bits >> 24)};
}

double Value(std::string_view dtype, uint32_t bits) {
  const auto bytes = Bytes(bits);
  const auto value = ElementValue(dtype, std::span(bytes).first(device::DtypeBytes(dtype)));
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

TEST(ElementValue, ReadsEveryType) {
  EXPECT_EQ(Value("int8", 0x80), -128);
  EXPECT_EQ(Value("int16", 0xFFFE), -2);
  EXPECT_EQ(Value("int32", 0x80000000u), -2147483648.0);
  EXPECT_EQ(Value("fp16", 0x3C00), 1.0);
  EXPECT_EQ(Value("fp16", 0xC100), -2.5);
  EXPECT_EQ(Value("fp16", 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(Value("fp16", 0xFC00), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Value("fp32", 0x3FC00000), 1.5);
  EXPECT_FALSE(ElementValue("complex", std::array{std::byte{0}}));
}

TEST(Acceptable, Tolerances) {
  using device::ToleranceKind;
  EXPECT_TRUE(Acceptable({}, 3, 3));
  EXPECT_FALSE(Acceptable({}, 3, 4));
  EXPECT_TRUE(Acceptable({}, 0.0, -0.0));
  EXPECT_TRUE(Acceptable({ToleranceKind::kAbs, 0.5, 0}, 3, 3.5));
  EXPECT_FALSE(Acceptable({ToleranceKind::kAbs, 0.5, 0}, 3, 3.6));
  EXPECT_TRUE(Acceptable({ToleranceKind::kRel, 0, 0.1}, -10, -11));
  EXPECT_FALSE(Acceptable({ToleranceKind::kRel, 0, 0.1}, -10, -11.5));
  EXPECT_TRUE(Acceptable({ToleranceKind::kAbsRel, 0.5, 0.1}, -10, -11.5));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Acceptable({}, nan, nan));
  EXPECT_FALSE(Acceptable({ToleranceKind::kAbs, 100, 0}, nan, 1));
}

TEST(RunCase, PassesAWorkingCase) {
  const CaseResult result = RunCase(Golden("mm_i8_4x32x32"), {});
  EXPECT_EQ(result.status, CaseStatus::kPassed) << result.reason;
  EXPECT_EQ(result.kicks, 1u);
  EXPECT_GT(result.modelled_us, 0.0);
}

TEST(RunCase, FailsWhenOneExpectedByteDiffers) {
  device::JobFile file = Golden("mm_i8_4x32x32");
  const device::Check& check = file.submits[0].checks[0];
  file.data[check.offset + 8] ^= std::byte{1};
  const CaseResult result = RunCase(file, {});
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_NE(result.reason.find("1 of 128 differ; element (0, 2)"), std::string::npos)
      << result.reason;
}

TEST(RunCase, FailsWhenAnUntouchedRangeIsWritten) {
  device::JobFile file = Golden("mm_i8_4x32x32");
  file.submits[0].untouched.push_back({file.submits[0].checks[0].base, 16});
  const CaseResult result = RunCase(file, {});
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_NE(result.reason.find("untouched range 0"), std::string::npos) << result.reason;
}

TEST(RunCase, FailsWhenAPositiveCaseHangs) {
  device::JobFile file = Golden("mm_i8_4x32x32");
  file.submits[0].checks.clear();
  file.submits[0].jobs[0].tasks[0].count -= 4;
  const CaseResult result = RunCase(file, {});
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_NE(result.reason.find("hang"), std::string::npos) << result.reason;
}

TEST(RunCase, SkipsOtherChipsAndMissingFeaturesByName) {
  device::JobFile file = Golden("mm_i8_4x32x32");
  file.chip = "rk3576";
  const CaseResult other = RunCase(file, {});
  EXPECT_EQ(other.status, CaseStatus::kSkipped);
  EXPECT_EQ(other.reason, "chip rk3576");
  const CaseResult bf16 = RunCase(Golden("mm_bf16_16x64x32"), {});
  EXPECT_EQ(bf16.status, CaseStatus::kSkipped);
  EXPECT_EQ(bf16.reason, "bf16");
}

TEST(RunCase, NegativeCaseNeedsItsDiagnosticForItsTask) {
  device::JobFile file = Golden("neg_chain_int8");
  EXPECT_EQ(RunCase(file, {}).status, CaseStatus::kPassed);
  ASSERT_NE(FindExpectation(file), nullptr);
  EXPECT_EQ(FindExpectation(file)->task, 1u);
  // The same two tasks as single kicks run cleanly, so the expected diagnostic is missing.
  file.submits[0].jobs[0].flags = 0;
  const CaseResult clean = RunCase(file, {});
  EXPECT_EQ(clean.status, CaseStatus::kFailed);
  EXPECT_NE(clean.reason.find("was not raised"), std::string::npos) << clean.reason;
}

TEST(RunCase, ARecordedFailureMustFailTheSameWay) {
  device::JobFile file = Golden("neg_mrdma_enabled_unfed");
  file.name = "job-000001";
  file.family = device::kRecordedFamily;
  file.detail = "hang: as recorded";
  EXPECT_EQ(RunCase(file, {}).status, CaseStatus::kPassed);
  file.outcome = "fault_timeout";
  const CaseResult other = RunCase(file, {});
  EXPECT_EQ(other.status, CaseStatus::kFailed);
  EXPECT_NE(other.reason.find("the outcome is hang, it was fault"), std::string::npos)
      << other.reason;
  device::JobFile clean = Golden("mm_i8_4x32x32");
  clean.family = device::kRecordedFamily;
  clean.outcome = "wrong_result";
  EXPECT_NE(RunCase(clean, {}).reason.find("no diagnostic was raised"), std::string::npos);
}

TEST(RunCase, NegativeCaseNeedsItsOutcome) {
  device::JobFile file = Golden("neg_mrdma_enabled_unfed");
  EXPECT_EQ(RunCase(file, {}).status, CaseStatus::kPassed);
  file.name = "neg_dst_unmapped";  // would have to fault instead
  EXPECT_EQ(RunCase(file, {}).status, CaseStatus::kFailed);
  file.name = "neg_that_nobody_knows";
  EXPECT_EQ(RunCase(file, {}).status, CaseStatus::kFailed);
}

TEST(RunCase, TellsTheVerdictOfTheKernel) {
  EXPECT_EQ(RunCase(Golden("mm_i8_4x32x32"), {}).kernel, "completed");
  EXPECT_EQ(RunCase(Golden("neg_dst_unmapped"), {}).kernel, "timed out");
  EXPECT_EQ(RunCase(Golden("neg_matmul_height_1"), {}).kernel, "completed");  // with wrong data
  EXPECT_EQ(RunCase(Golden("neg_bo_in_both_lists"), {}).kernel, "rejected");
}

TEST(RunCase, NegativeCaseNeedsItsVerdict) {
  device::JobFile file = Golden("neg_bo_in_both_lists");
  EXPECT_EQ(RunCase(file, {}).status, CaseStatus::kPassed);
  for (device::JobRecord& job : file.submits[0].jobs) job.in.clear();  // nothing is listed twice
  const CaseResult accepted = RunCase(file, {});
  EXPECT_EQ(accepted.status, CaseStatus::kFailed);
  EXPECT_FALSE(accepted.reason.empty());
}

// A buffer in both lists is dropped by the stock kernel as well, which says nothing.
TEST(RunCase, APositiveCaseMustNotBeRejected) {
  device::JobFile file = Golden("mm_i8_4x32x32");
  device::JobRecord& job = file.submits[0].jobs[0];
  job.in.push_back(job.out[0]);
  file.submits[0].checks.clear();
  const CaseResult result = RunCase(file, {});
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_NE(result.reason.find("rejected"), std::string::npos) << result.reason;
}

TEST(RunCase, AJobLongerThanTheWatchdogTimesOut) {
  device::JobFile file = Golden("mm_i8_4x32x32");
  device::JobRecord& job = file.submits[0].jobs[0];
  job.tasks.resize(40000, job.tasks[0]);  // each a few microseconds, together over half a second
  const CaseResult result = RunCase(file, {});
  EXPECT_EQ(result.kernel, "timed out");
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_LT(result.kicks, 40000u);
}

TEST(FindCases, NamesWhatItCannotFind) {
  const auto missing = FindCases({"/nonexistent/cases"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), ErrorCode::kNotFound);
  const auto all = FindCases({NPU_GOLDEN_DIR});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 131u);
  const auto one = FindCases({std::string(NPU_GOLDEN_DIR) + "/mm_i8_4x32x32"});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->size(), 1u);
}

TEST(RunCases, ReplaysSavedJobsAndFailsUnreadableFiles) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "npu_replay_test";
  std::filesystem::create_directories(folder);
  const std::filesystem::path good = folder / "good.npujob";
  const std::filesystem::path bad = folder / "bad.npujob";
  ASSERT_TRUE(device::WriteSavedJob(Golden("mm_i8_4x32x32"), good).ok());
  std::ofstream(bad, std::ios::binary) << device::kSavedJobMagic << "garbage";
  const auto cases = FindCases({folder.string()});
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const std::vector<CaseResult> results = RunCases(*cases, {});
  EXPECT_EQ(ToString(Count(results)), "1 passed, 1 failed, 0 skipped");
  EXPECT_NE(JsonReport(results, {}).find("\"failed\": 1"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace npu::replay
