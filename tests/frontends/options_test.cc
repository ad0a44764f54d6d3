// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/common/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace npu::frontends {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char* NoEnvironment(const char*) { return nullptr; }

ParsedOptions Parse(std::vector<KeyValue> pairs) {
  Result<ParsedOptions> parsed = ParseOptions(pairs, NoEnvironment);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return std::move(parsed).value();
}

TEST(Options, DefaultsAreThoseOfTheSpecification) {
  const ParsedOptions parsed = Parse({});
  EXPECT_THAT(parsed.warnings, IsEmpty());
  std::map<std::string, std::string> all;
  for (const KeyValue& option : EffectiveOptions(parsed.options)) all[option.key] = option.value;
  const std::map<std::string, std::string> expected = {
      {"device", "auto"},  {"chip", "auto"},   {"on_no_device", "decline"},
      {"verify", "first"}, {"explain", ""},    {"numerics.requant", "chip"},
      {"profile", "0"},    {"threads", "0"},   {"claim", "auto"},
      {"chain", "auto"},   {"quiet", "0"},     {"strict", "0"},
      {"record", ""},      {"device.path", ""}};
  EXPECT_EQ(all, expected);
}

TEST(Options, EveryNamedValueIsAcceptedAndReadBack) {
  for (const OptionRow& row : OptionTable()) {
    if (row.values.find('|') == std::string::npos || row.values.find("FILE") != std::string::npos) {
      continue;
    }
    std::istringstream values(row.values);
    for (std::string value; std::getline(values, value, '|');) {
      const ParsedOptions parsed = Parse({{std::string(row.key), value}});
      EXPECT_THAT(parsed.warnings, IsEmpty()) << row.key << "=" << value;
      EXPECT_EQ(row.get(parsed.options), value) << row.key;
    }
  }
}

TEST(Options, BooleansHaveAllSpellingsInAnyCase) {
  for (const char* text : {"1", "true", "True", "YES", "on"}) {
    EXPECT_TRUE(Parse({{"quiet", text}}).options.quiet) << text;
  }
  for (const char* text : {"0", "False", "no", "OFF"}) {
    EXPECT_FALSE(Parse({{"quiet", "1"}, {"quiet", text}}).options.quiet) << text;
  }
  EXPECT_THAT(Parse({{"quiet", "maybe"}}).warnings,
              ElementsAre("option 'quiet': value 'maybe' is not allowed (allowed: 0|1); using 0"));
}

TEST(Options, AnUnknownKeyIsNamedWithItsValueAndTheNearestKey) {
  const ParsedOptions parsed = Parse({{"devise", "sim"}});
  ASSERT_EQ(parsed.warnings.size(), 1U);
  EXPECT_THAT(parsed.warnings[0], HasSubstr("unknown option 'devise' (value 'sim')"));
  EXPECT_THAT(parsed.warnings[0], HasSubstr("did you mean 'device'?"));
  EXPECT_EQ(parsed.options.device, DeviceChoice::kAuto);
}

TEST(Options, AnUnknownKeyFarFromAllOthersSuggestsNothing) {
  EXPECT_THAT(Parse({{"colour", "red"}}).warnings[0], testing::Not(HasSubstr("did you mean")));
}

TEST(Options, ABadValueNamesKeyValueAndAllowedOnes) {
  EXPECT_THAT(Parse({{"device", "gpu"}}).warnings,
              ElementsAre("option 'device': value 'gpu' is not allowed (allowed: "
                          "auto|rocket|rknpu|sim|null|none); using auto"));
  EXPECT_THAT(
      Parse({{"threads", "four"}}).warnings,
      ElementsAre("option 'threads': value 'four' is not allowed (allowed: 0..64); using 0"));
}

TEST(Options, ThreadsRejectsWhatIsNotAWholeNumberInRange) {
  for (const char* text : {"-1", "65", "4x", "", "4.0", "99999999999999999999"}) {
    EXPECT_EQ(Parse({{"threads", text}}).warnings.size(), 1U) << text;
  }
  EXPECT_EQ(Parse({{"threads", "64"}}).options.threads, 64);
}

TEST(Options, StrictTurnsEveryWarningIntoAnErrorWhereverItStands) {
  const std::vector<KeyValue> pairs = {{"devise", "sim"}, {"verify", "last"}, {"strict", "1"}};
  const Result<ParsedOptions> parsed = ParseOptions(pairs, NoEnvironment);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(parsed.status().message(), HasSubstr("'devise'"));
  EXPECT_THAT(parsed.status().message(), HasSubstr("option 'verify': value 'last'"));
}

TEST(Options, AnUnknownChipIsRefused) {
  EXPECT_EQ(Parse({{"chip", "rk9999"}}).warnings.size(), 1U);
  EXPECT_EQ(Parse({{"chip", "rk3588"}}).options.chip, "rk3588");
}

TEST(Options, PythonsNoneKeepsTheDefault) {
  const ParsedOptions parsed = Parse({{"device", "sim"}, {"device", "None"}, {"explain", "None"}});
  EXPECT_THAT(parsed.warnings, IsEmpty());
  EXPECT_EQ(parsed.options.device, DeviceChoice::kSim);
  EXPECT_EQ(parsed.options.explain, "");
  EXPECT_EQ(Parse({{"device", "none"}}).options.device, DeviceChoice::kNone);
}

TEST(Options, TheLastOfEqualKeysWins) {
  EXPECT_EQ(Parse({{"claim", "all"}, {"claim", "auto"}}).options.claim, Claim::kAuto);
}

TEST(Options, PathsKeepTheirCase) {
  EXPECT_EQ(Parse({{"explain", "/tmp/A b.JSON"}}).options.explain, "/tmp/A b.JSON");
  EXPECT_EQ(Parse({{"profile", "Times.jsonl"}}).options.profile, "Times.jsonl");
  EXPECT_EQ(Parse({{"profile", "True"}}).options.profile, "1");
  EXPECT_EQ(Parse({{"profile", "x"}, {"profile", "0"}}).options.profile, "");
}

TEST(Options, OlderNamesAreMappedOrAnswered) {
  EXPECT_EQ(Parse({{"nthreads", "3"}}).options.threads, 3);
  EXPECT_THAT(Parse({{"nthreads", "3"}}).warnings, IsEmpty());
  const ParsedOptions parsed = Parse({{"native_int8", "True"}});
  EXPECT_THAT(parsed.warnings,
              ElementsAre(HasSubstr("option 'native_int8' is of an earlier delegate and has no "
                                    "effect: integer routes are always used")));
  for (const OldOption& old : OldOptions()) {
    EXPECT_NE(old.replacement.empty(), old.answer.empty()) << old.key;
  }
}

TEST(Options, TheEnvironmentMirrorsEveryKeyAndGivesWayToThePairs) {
  const EnvironmentReader environment = [](const char* name) -> const char* {
    const std::map<std::string, const char*> values = {
        {"ROCKET_DEVICE", "sim"}, {"ROCKET_NUMERICS_REQUANT", "exact"}, {"ROCKET_VERIFY", "nope"}};
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second;
  };
  const std::vector<KeyValue> pairs = {{"device", "null"}};
  const Result<ParsedOptions> parsed = ParseOptions(pairs, environment);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().options.device, DeviceChoice::kNull);
  EXPECT_EQ(parsed.value().options.requant, plan::Requant::kExact);
  EXPECT_THAT(parsed.value().warnings, ElementsAre(HasSubstr("option 'ROCKET_VERIFY'")));
}

TEST(Options, NamesOfTheEnvironmentAreDistinct) {
  std::set<std::string> names;
  for (const OptionRow& row : OptionTable()) names.insert(EnvironmentName(row.key));
  EXPECT_EQ(names.size(), OptionTable().size());
  EXPECT_EQ(EnvironmentName("numerics.requant"), "ROCKET_NUMERICS_REQUANT");
}

TEST(Options, HelpNamesEveryKey) {
  for (const OptionRow& row : OptionTable()) {
    EXPECT_THAT(OptionsHelp(), HasSubstr("  " + std::string(row.key) + "=" + row.values));
  }
}

// docs/options.md holds this text between two marks.
TEST(Options, TheDocumentationIsCurrent) {
  std::ifstream file(NPU_SOURCE_DIR "/docs/options.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(OptionsMarkdown()))
      << "docs/options.md must contain this table:\n"
      << OptionsMarkdown();
}

}  // namespace
}  // namespace npu::frontends
