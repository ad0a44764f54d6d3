// SPDX-License-Identifier: Apache-2.0
// The self-test passes on the simulator and finds every planted fault.
#include "src/selftest/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/chip/profile.h"
#include "src/device/open.h"
#include "src/selftest/bench.h"
#include "tests/unit/selftest/faulty_device.h"

namespace npu::selftest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kGolden = NPU_SOURCE_DIR "/tests/golden/rk3588";

Result<std::shared_ptr<device::Device>> OpenSim(Mode mode, bool fast) {
  device::OpenOptions open;
  open.provider = "sim";
  open.strict = mode == Mode::kCases;
  open.can_chain = true;
  open.completes_ppu = mode != Mode::kStockKernel;
  open.sim_fast = fast;
  return device::Open(open);
}

Options With(Fault fault) {
  Options options;
  options.open = [fault](Mode mode) -> Result<std::shared_ptr<device::Device>> {
    NPU_ASSIGN_OR_RETURN(auto device, OpenSim(mode, true));
    return fault == Fault::kNone ? device : PlantFault(std::move(device), fault);
  };
  options.reference = [](Mode mode) { return OpenSim(mode, false); };
  options.micro_tests = false;
  options.runs = 5;
  return options;
}

Report MustRun(const Options& options) {
  auto report = Run(options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? *std::move(report) : Report{};
}

std::set<std::string> Failed(const Report& report) {
  std::set<std::string> names;
  for (const CaseResult& c : report.cases) {
    if (c.verdict == Verdict::kFail) names.insert(c.name);
  }
  for (const StepResult& step : report.steps) {
    if (step.verdict == Verdict::kFail) names.insert(step.id);
  }
  return names;
}

TEST(SelfTest, FindsTheSimulatorHealthyWithBuiltInCasesAlone) {
  const Report report = MustRun(With(Fault::kNone));
  EXPECT_THAT(Failed(report), IsEmpty()) << TextReport(report, true);
  EXPECT_TRUE(report.healthy());
  EXPECT_EQ(report.Count(Verdict::kPass), 11u);
  EXPECT_EQ(report.Count(Verdict::kSkip), 0u);
  EXPECT_EQ(report.steps.size(), 7u);
}

TEST(SelfTest, PassesEveryGoldenCaseThatReplayPasses) {
  Options options = With(Fault::kNone);
  options.golden = kGolden;
  const Report report = MustRun(options);
  EXPECT_THAT(Failed(report), IsEmpty()) << TextReport(report, false);
  // Positive int8 cases alone are 50; more pass as the simulator learns.
  EXPECT_GE(report.Count(Verdict::kPass), 61u);
  for (const CaseResult& c : report.cases) {
    EXPECT_EQ(c.unspecified, 0u) << c.name;
    EXPECT_EQ(c.reason.empty(), c.verdict == Verdict::kPass) << c.name;
  }
}

// Each planted fault, and cases or steps that must notice it.
struct Planted {
  const char* name;
  Fault fault;
  std::vector<const char*> caught;  // by at least these
};

const Planted kPlanted[] = {
    {"RoundsAway", Fault::kRoundsAway, {"conv_1x1_ties"}},
    {"WeightLane", Fault::kWeightLane, {"conv_1x1_32", "conv_raw_sums", "conv_3x3_64_48"}},
    {"SurfaceStride", Fault::kSurfaceStride, {"conv_1x1_32", "conv_3x3_per_channel"}},
    {"LastTask", Fault::kLastTask, {"tiles_3x3_64_48", "chain_2", "S6"}},
    {"NoLimit", Fault::kNoLimit, {"conv_1x1_limit"}},
    {"PadZero", Fault::kPadZero, {"conv_3x3_64_48", "depthwise_3x3_64"}},
    {"NoMultiplier", Fault::kNoMultiplier, {"conv_3x3_per_channel"}},
    {"OffsetByOne", Fault::kOffsetByOne, {"conv_1x1_32", "average_pool_2x2_64"}},
    {"DropsJobs", Fault::kDropsJobs, {"conv_1x1_32", "average_pool_2x2_64", "S6", "S7"}},
    {"WritesBeyond", Fault::kWritesBeyond, {"conv_1x1_32"}},
    {"WritesInput", Fault::kWritesInput, {"conv_1x1_32"}},
    {"DirtyBuffers", Fault::kDirtyBuffers, {"S1"}},
    {"LostWrites", Fault::kLostWrites, {"S2"}},
};

class SelfTestFault : public testing::TestWithParam<Planted> {};

TEST_P(SelfTestFault, IsFoundByTheBuiltInCases) {
  const Report report = MustRun(With(GetParam().fault));
  EXPECT_FALSE(report.healthy());
  const std::set<std::string> failed = Failed(report);
  for (const char* name : GetParam().caught) EXPECT_EQ(failed.count(name), 1u) << name;
  std::cout << "caught by:";
  for (const std::string& name : failed) std::cout << " " << name;
  std::cout << "\n";
}

INSTANTIATE_TEST_SUITE_P(All, SelfTestFault, testing::ValuesIn(kPlanted),
                         [](const auto& p) { return std::string(p.param.name); });

// With the golden set too, so that recorded expectations alone would notice.
TEST(SelfTest, FindsPlantedFaultsInGoldenCases) {
  for (const Fault fault : {Fault::kRoundsAway, Fault::kWeightLane, Fault::kSurfaceStride}) {
    Options options = With(fault);
    options.golden = kGolden;
    options.filters = {"i8"};
    EXPECT_GE(Failed(MustRun(options)).size(), fault == Fault::kRoundsAway ? 2u : 10u);
  }
}

TEST(MicroTests, AllShowTheirAssumptionOnTheSimulator) {
  Options options = With(Fault::kNone);
  options.golden = kGolden;
  options.micro_tests = true;
  options.filters = {"_"};
  const Report report = MustRun(options);
  EXPECT_EQ(report.answers.size(), MicroTests().size());
  for (const MicroResult& answer : report.answers) {
    EXPECT_EQ(answer.answer, Answer::kAsAssumed) << answer.id << ": " << answer.text;
  }
}

// A program that wrote nothing, or the unchanged golden case, would prove nothing.
TEST(MicroTests, ComputeSomethingAndSomethingNew) {
  const chip::Profile& profile = *chip::FindChip("rk3588");
  const MicroContext context{&profile, [](std::string_view name) -> std::optional<device::JobFile> {
                               auto file = device::ReadJobFile(kGolden + "/" + std::string(name));
                               if (!file.ok()) return std::nullopt;
                               return *std::move(file);
                             }};
  for (const MicroTest& test : MicroTests()) {
    const auto files = test.build(context);
    ASSERT_TRUE(files.ok()) << test.id << files.status().message();
    // The simulator writes nothing where nobody knows the bytes.
    if (test.hangs || test.id == "partial_wrong_bytes") continue;
    for (const device::JobFile& file : *files) {
      const auto device = OpenSim(Mode::kQuestions, true);
      const Execution run = Execute(**device, file);
      ASSERT_EQ(run.submissions.size(), file.submits.size()) << file.name << run.status.message();
      const Submission& last = run.submissions.back();
      EXPECT_NE(last.before, last.after) << file.name;
      const size_t comma = file.name.find(',');
      if (comma == std::string::npos) continue;
      const auto golden = context.golden(file.name.substr(0, comma));
      ASSERT_TRUE(golden.has_value()) << file.name;
      const auto fresh = OpenSim(Mode::kQuestions, true);
      const Execution original = Execute(**fresh, *golden);
      // DATA_ENTRIES of packed pixels is assumed to change nothing.
      if (test.id == "pixel_entries") continue;
      EXPECT_NE(original.submissions.back().after, last.after) << file.name;
    }
  }
}

TEST(MicroTests, NoticeADeviceThatDiffers) {
  Options options = With(Fault::kNoLimit);
  options.micro_tests = true;
  options.filters = {"bn_relux"};
  const Report report = MustRun(options);
  ASSERT_EQ(report.answers.size(), 1u);
  EXPECT_EQ(report.answers[0].answer, Answer::kDiffers);
  EXPECT_THAT(report.answers[0].text, HasSubstr("assumed"));
}

TEST(MicroTests, BelongToRowsOfTheOpenQuestions) {
  std::ifstream file(NPU_SOURCE_DIR "/docs/hardware/open-questions.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const MicroTest& test : MicroTests()) {
    EXPECT_THAT(text, HasSubstr("\n| " + std::string(test.id) + " |"));
  }
}

TEST(MicroTests, SayWhatIsMissingWithoutGoldenCases) {
  Options options = With(Fault::kNone);
  options.micro_tests = true;
  options.filters = {"pixel_entries"};
  const Report report = MustRun(options);
  ASSERT_EQ(report.answers.size(), 1u);
  EXPECT_EQ(report.answers[0].answer, Answer::kNotRun);
  EXPECT_THAT(report.answers[0].text, HasSubstr("--golden"));
}

// A device that starts one task a kick and retires no PPU tasks skips what it cannot run.
TEST(SelfTest, SkipsWhatTheDeviceCannotRun) {
  Options options = With(Fault::kNone);
  options.golden = kGolden;
  options.open = [](Mode) {
    device::OpenOptions open;
    open.provider = "sim";
    return device::Open(open);
  };
  const Report report = MustRun(options);
  EXPECT_TRUE(report.healthy()) << TextReport(report, false);
  std::set<std::string> skipped;
  for (const CaseResult& c : report.cases) {
    if (c.verdict == Verdict::kSkip) skipped.insert(c.name);
  }
  EXPECT_EQ(skipped.count("chain_2"), 1u);
  EXPECT_EQ(skipped.count("pool_max_2x2s2_8x4x4"), 1u);
}

TEST(SelfTest, IsNotHealthyOnADeviceThatComputesNothing) {
  Options options = With(Fault::kNone);
  options.open = [](Mode) {
    device::OpenOptions open;
    open.provider = "null";
    return device::Open(open);
  };
  const Report report = MustRun(options);
  EXPECT_FALSE(report.healthy());
  EXPECT_GE(report.Count(Verdict::kFail), 10u);
}

TEST(SelfTest, FailsWithoutADevice) {
  Options options = With(Fault::kNone);
  options.open = [](Mode) {
    device::OpenOptions open;
    open.provider = "none";
    return device::Open(open);
  };
  EXPECT_EQ(selftest::Run(options).status().code(), ErrorCode::kNoDevice);
}

TEST(SelfTest, ReportsInTextAndJson) {
  Options options = With(Fault::kNone);
  options.filters = {"conv_1x1_32", "S1", "bs_wide_sum"};
  options.micro_tests = true;
  const Report report = MustRun(options);
  EXPECT_EQ(report.cases.size(), 1u);
  const std::string json = JsonReport(report);
  EXPECT_THAT(json, HasSubstr("\"healthy\": true"));
  EXPECT_THAT(json, HasSubstr("\"question\": \"bs_wide_sum\""));
  const std::string text = TextReport(report, true);
  EXPECT_THAT(text, HasSubstr("open question bs_wide_sum: as assumed"));
  EXPECT_THAT(text, HasSubstr("built-in ones only"));
  EXPECT_THAT(text, HasSubstr("\nHealthy: 1 cases passed"));
  EXPECT_THAT(text, Not(HasSubstr("FAIL")));
}

TEST(SelfTest, FindsTheGoldenFolder) {
  EXPECT_EQ(FindGolden({"/nonexistent", NPU_SOURCE_DIR "/tests/golden"}, "rk3588"), kGolden);
  EXPECT_EQ(FindGolden({kGolden}, "rk3588"), kGolden);
  EXPECT_TRUE(FindGolden({"/nonexistent", ""}, "rk3588").empty());
}

TEST(SelfTest, ListsWhatCouldRun) {
  Options options = With(Fault::kNone);
  options.golden = kGolden;
  const auto list = List(options);
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(*list, HasSubstr("built-in  conv_1x1_32\n"));
  EXPECT_THAT(*list, HasSubstr("golden    add_i8_1x1_32x7x7_32\n"));
  EXPECT_THAT(*list, HasSubstr("question  cube_mismatch (may hang)\n"));
}

}  // namespace
}  // namespace npu::selftest
