// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/common/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace npu::frontends {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

NodeEntry Declined(int32_t index, std::string op, std::string reason, std::string text) {
  NodeEntry node;
  node.index = index;
  node.op = std::move(op);
  node.reason = std::move(reason);
  node.text = std::move(text);
  return node;
}

ClaimReport Example() {
  ClaimReport report;
  report.device = {.provider = "sim", .chip = "rk3588", .description = "d", .simulated = true};
  NodeEntry conv;
  conv.op = "CONV_2D";
  conv.input_shapes = {{1, 8, 8, 3}, {4, 3, 3, 3}, {}};
  conv.output_shapes = {{1, 8, 8, 4}};
  conv.claimed = true;
  conv.partition = 0;
  conv.route = "npu-int8";
  conv.tasks = 2;
  conv.macs = 6912;
  conv.bound_counts = 1;
  conv.modelled_us = 4.5;
  report.nodes = {conv, Declined(1, "FLOOR", "op.unsupported", "FLOOR cannot"),
                  Declined(2, "ABS", "op.unsupported", "ABS cannot"),
                  Declined(3, "FLOOR", "op.unsupported", "FLOOR cannot")};
  report.partitions = {{.id = 0,
                        .nodes = {0},
                        .arena_bytes = 4096,
                        .weight_bytes = 512,
                        .modelled_us = 9.0,
                        .modelled_chained_us = 7.5,
                        .kicks = 2,
                        .chained_kicks = 1,
                        .submits = 1,
                        .host_steps = 2,
                        .layout_steps = 3,
                        .splits = {{"LEAKY_RELU", 1}}}};
  return report;
}

TEST(Report, TheSummaryCountsNamesAndExplains) {
  EXPECT_EQ(
      SummaryLine(Example()),
      "claimed 1 of 4 nodes in 1 partition on sim rk3588 (rocket-npu " +
          std::string(LibraryVersion()) +
          ", numerics.requant=chip); 1 submit an inference, split by 1 LEAKY_RELU on the host; "
          "declined: 2 FLOOR [op.unsupported]: FLOOR cannot; "
          "1 ABS [op.unsupported]: ABS cannot");
}

TEST(Report, TheSummaryStopsAfterTheFirstReasons) {
  EXPECT_THAT(SummaryLine(Example(), 1),
              HasSubstr("; and 1 other reason (explain=FILE lists all)"));
}

TEST(Report, TheExplainFileHasFormatOne) {
  const Json json = Json::parse(ExplainJson(Example(), nullptr));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["library"], "rocket-npu " + std::string(LibraryVersion()));
  EXPECT_EQ(json["device"]["provider"], "sim");
  EXPECT_EQ(json["options"]["numerics.requant"], "chip");
  EXPECT_EQ(json["summary"], Json::parse(R"({"nodes":4,"offered":4,"claimed":1,"partitions":1,
                                             "kicks":2,"submits":1})"));
  EXPECT_EQ(json["partitions"][0], Json::parse(R"({"id":0,"nodes":[0],"arena_bytes":4096,
      "weight_bytes":512,"modelled_us":9.0,"modelled_chained_us":7.5,"kicks":2,"chained_kicks":1,
      "submits":1,"host_steps":2,"layout_steps":3,"splits":{"LEAKY_RELU":1}})"));
  EXPECT_EQ(json["nodes"][0], Json::parse(R"({"index":0,"op":"CONV_2D","claimed":true,
      "shapes":{"inputs":[[1,8,8,3],[4,3,3,3],[]],"outputs":[[1,8,8,4]]},"partition":0,
      "route":"npu-int8","tasks":2,"macs":6912,"bound_counts":1,"modelled_us":4.5})"));
  EXPECT_EQ(json["nodes"][1], Json::parse(R"({"index":1,"op":"FLOOR","claimed":false,
      "shapes":{"inputs":[],"outputs":[]},"reason":"op.unsupported","text":"FLOOR cannot"})"));
  EXPECT_FALSE(json.contains("run"));
}

TEST(Report, StatisticsOfTheRunAreAdded) {
  const runtime::SessionStatistics run{.runs = 3, .verify_mismatches = 17};
  const Json json = Json::parse(ExplainJson(Example(), &run));
  EXPECT_EQ(json["run"]["runs"], 3);
  EXPECT_EQ(json["run"]["verify_mismatches"], 17);
}

TEST(Report, NamesThatAreNotTextDoNotBreakTheFile) {
  ClaimReport report = Example();
  report.nodes[1].op = "bad \xff\xfe name";
  EXPECT_TRUE(Json::accept(ExplainJson(report, nullptr)));
}

TEST(Report, FilesAreReplacedWhole) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "npu_report_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "explain.json";
  ASSERT_TRUE(WriteFileAtomically(path, "first").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "second").ok());
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "second");
  const auto entries = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  std::filesystem::remove_all(folder);
}

TEST(Report, DevicesAndLinksAreWrittenToAndStay) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "npu_report_test_links";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("/dev/null", folder / "null.json");
  std::filesystem::create_symlink("/dev/full", folder / "full.json");
  EXPECT_TRUE(WriteFileAtomically(folder / "null.json", "text").ok());
  const Status status = WriteFileAtomically(folder / "full.json", "text");
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_THAT(status.message(), HasSubstr("full.json"));
  EXPECT_EQ(AppendProfile(folder / "full.json", {}).code(), ErrorCode::kIoError);
  for (const char* name : {"null.json", "full.json"}) {
    EXPECT_TRUE(std::filesystem::is_symlink(folder / name)) << name;
  }
  std::filesystem::remove_all(folder);
}

TEST(Report, AFolderThatIsNotThereIsNamed) {
  const Status status = WriteFileAtomically("/no/such/folder/x.json", "text");
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_THAT(status.message(), HasSubstr("/no/such/folder/x.json"));
}

}  // namespace
}  // namespace npu::frontends
