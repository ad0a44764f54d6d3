// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/delegate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/frontends/fake_engine.h"
#include "tests/frontends/fake_host.h"
#include "tests/frontends/models.h"

namespace npu::tflite {
namespace {

using frontends::FakeEngine;
using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

const char* NoEnvironment(const char*) { return nullptr; }

struct Destroy {
  void operator()(abi::Delegate* delegate) const { DestroyDelegate(delegate); }
};
using DelegatePtr = std::unique_ptr<abi::Delegate, Destroy>;

// What report_error was called with; tests run one after the other.
std::string& Reported() {
  static std::string text;
  return text;
}

class DelegateTest : public testing::Test {
 protected:
  DelegateTest() { Reported().clear(); }
  ~DelegateTest() override { std::filesystem::remove(explain_path_); }

  DelegatePtr Create(std::vector<std::pair<std::string, std::string>> options, bool report = true) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    const CreateArguments arguments{
        .keys = keys.data(),
        .values = values.data(),
        .count = keys.size(),
        .report_error = report ? +[](const char* text) { Reported() += text; } : nullptr};
    return DelegatePtr(CreateDelegate(arguments, engine_, NoEnvironment));
  }
  DelegatePtr CreateExplaining(std::vector<std::pair<std::string, std::string>> options = {}) {
    options.emplace_back("explain", explain_path_);
    return Create(std::move(options));
  }
  Json Explain() const {
    std::ifstream file(explain_path_);
    return Json::parse(file, nullptr, false);
  }

  std::shared_ptr<FakeEngine> engine_ = std::make_shared<FakeEngine>();
  std::string explain_path_ = testing::TempDir() + "/npu_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name() +
                              ".json";
  FakeHost host_;
};

TEST_F(DelegateTest, ClaimsCompilesAndRuns) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({});
  ASSERT_NE(delegate, nullptr);
  EXPECT_EQ(delegate->flags, 0);
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk) << host_.errors();
  ASSERT_EQ(host_.kernel_count(), 1U);
  host_.Allocate();
  *static_cast<int8_t*>(host_.tensor(model.input).data) = 41;
  ASSERT_EQ(host_.Invoke(), abi::kOk) << host_.errors();
  EXPECT_EQ(static_cast<int8_t*>(host_.tensor(model.output).data)[47], 42);
  EXPECT_EQ(engine_->compiles, 1);
}

TEST_F(DelegateTest, PointersAreReadAgainAtEveryInvoke) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  for (const int8_t value : {int8_t{3}, int8_t{9}}) {
    host_.Allocate();  // other addresses each time
    EXPECT_EQ(host_.PrepareKernels(), abi::kOk);
    EXPECT_EQ(host_.PrepareKernels(), abi::kOk);
    *static_cast<int8_t*>(host_.tensor(model.input).data) = value;
    ASSERT_EQ(host_.Invoke(), abi::kOk);
    EXPECT_EQ(*static_cast<int8_t*>(host_.tensor(model.output).data), value + 1);
  }
  EXPECT_EQ(engine_->compiles, 1);
}

TEST_F(DelegateTest, InvokeBeforeAllocationIsAnError) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.Invoke(), abi::kError);
  EXPECT_THAT(host_.errors(), HasSubstr("has no memory"));
  EXPECT_EQ(host_.errors().back(), '\n');
}

TEST_F(DelegateTest, AChangedSizeIsNoticedBeforeTheRun) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  host_.Allocate();
  host_.tensor(model.input).bytes = 64;
  EXPECT_EQ(host_.PrepareKernels(), abi::kError);
  EXPECT_EQ(host_.Invoke(), abi::kError);
  EXPECT_THAT(host_.errors(), HasSubstr("has 64 bytes, its partition was compiled for 32"));
}

TEST_F(DelegateTest, KernelsOutliveTheDelegate) {
  const ConvModel model(&host_);
  DelegatePtr delegate = CreateExplaining();
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  host_.Allocate();
  delegate.reset();
  ASSERT_EQ(host_.Invoke(), abi::kOk);
  EXPECT_EQ(*engine_->live_sessions, 1);
  host_.FreeKernels();
  EXPECT_EQ(*engine_->live_sessions, 0);
  EXPECT_EQ(Explain()["run"]["runs"], 1);
  EXPECT_EQ(Explain()["run"]["submits"], 2);
}

TEST_F(DelegateTest, AnUnsupportedNodeSplitsTheGraph) {
  const ChainModel model(&host_);
  const DelegatePtr delegate = CreateExplaining();
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  ASSERT_EQ(host_.kernel_count(), 2U);
  EXPECT_THAT(host_.kernel_nodes(0), ElementsAre(model.first.node, model.relu));
  EXPECT_THAT(host_.kernel_nodes(1), ElementsAre(model.second));
  const Json json = Explain();
  EXPECT_EQ(json["summary"], Json::parse(R"({"nodes":4,"offered":4,"claimed":3,"partitions":2,
                                             "kicks":2,"submits":2})"));
  EXPECT_EQ(json["nodes"][1]["route"], "host");
  EXPECT_EQ(json["nodes"][1]["host_reason"], "no NPU form");
  EXPECT_EQ(json["nodes"][2]["reason"], "op.unsupported");
  EXPECT_EQ(json["nodes"][3]["partition"], 1);
  EXPECT_EQ(json["partitions"][0]["nodes"], Json::parse("[0,1]"));
}

TEST_F(DelegateTest, PartitionsWithoutNpuWorkAreLeftToTheHost) {
  const ChainModel model(&host_);
  engine_->refuse_node = [&](const ir::Node& node) { return node.source_index == 0; };
  const DelegatePtr delegate = CreateExplaining();
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  ASSERT_EQ(host_.kernel_count(), 1U);
  EXPECT_THAT(host_.kernel_nodes(0), ElementsAre(model.second));
  EXPECT_EQ(Explain()["nodes"][0]["reason"], "fake.no");
  EXPECT_EQ(Explain()["nodes"][1]["reason"], "partition.no_npu_work");
}

TEST_F(DelegateTest, ClaimAllKeepsThem) {
  const ChainModel model(&host_);
  engine_->refuse_node = [&](const ir::Node& node) { return node.source_index == 0; };
  const DelegatePtr delegate = Create({{"claim", "all"}});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  ASSERT_EQ(host_.kernel_count(), 2U);
  EXPECT_THAT(host_.kernel_nodes(0), ElementsAre(model.relu));
}

TEST_F(DelegateTest, WhatDoesNotCompileIsDeclinedAndTheRestIsKept) {
  const ChainModel model(&host_);
  engine_->refuse_compile = [&](const ir::Graph& graph) {
    return graph.nodes[0].source_index == model.second;
  };
  const DelegatePtr delegate = CreateExplaining();
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  ASSERT_EQ(host_.kernel_count(), 1U);
  EXPECT_EQ(engine_->compiles, 2) << "the first partition is compiled once";
  EXPECT_EQ(Explain()["nodes"][3]["reason"], "partition.compile");
  EXPECT_THAT(Explain()["nodes"][3]["text"].get<std::string>(), HasSubstr("4 GiB are not enough"));
}

TEST_F(DelegateTest, APartitionWhoseBuffersDoNotFitIsDeclined) {
  const ConvModel model(&host_);
  engine_->refuse_session = true;
  const DelegatePtr delegate = CreateExplaining();
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.kernel_count(), 0U);
  EXPECT_EQ(Explain()["nodes"][0]["reason"], "partition.session");
  EXPECT_THAT(Explain()["nodes"][0]["text"].get<std::string>(), HasSubstr("address space is full"));
}

TEST_F(DelegateTest, ADamagedNodeDoesNotTakeTheOthersWithIt) {
  const ChainModel model(&host_);
  host_.tensor(model.first.filter).bytes -= 1;
  const DelegatePtr delegate = CreateExplaining();
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  ASSERT_EQ(host_.kernel_count(), 1U);
  EXPECT_THAT(host_.kernel_nodes(0), ElementsAre(model.second));
  EXPECT_EQ(Explain()["nodes"][0]["reason"], "tensor.bytes");
}

TEST_F(DelegateTest, AGraphThatContradictsItselfIsDeclinedWhole) {
  const ConvModel model(&host_);
  engine_->refuse_graph = [](const ir::Graph&) { return true; };
  const DelegatePtr delegate = CreateExplaining();
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.kernel_count(), 0U);
  EXPECT_EQ(Explain()["nodes"][0]["reason"], "model.inconsistent");
}

TEST_F(DelegateTest, AHostThatGroupsOtherwiseThanAnnouncedIsServed) {
  const ChainModel model(&host_);
  host_.split_at_replace = true;
  engine_->refuse_node = [&](const ir::Node& n) { return n.source_index == model.second; };
  const DelegatePtr delegate = Create({});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk) << host_.errors();
  EXPECT_EQ(host_.kernel_count(), 2U);
  host_.Allocate();
  EXPECT_EQ(host_.Invoke(), abi::kOk);
}

TEST_F(DelegateTest, AKernelThatCannotBeMadeFailsInPrepareNotBefore) {
  const ChainModel model(&host_);
  host_.split_at_replace = true;
  engine_->refuse_node = [&](const ir::Node& n) { return n.source_index == model.second; };
  engine_->refuse_compile = [](const ir::Graph& graph) { return graph.nodes.size() == 1; };
  const DelegatePtr delegate = Create({});
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kError);
  EXPECT_THAT(host_.errors(), HasSubstr("4 GiB are not enough"));
  EXPECT_THAT(host_.errors(), HasSubstr("the partition was not set up"));
}

TEST_F(DelegateTest, ARunThatFailsIsAnErrorOfTheHost) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  host_.Allocate();
  *engine_->fail_runs = true;
  EXPECT_EQ(host_.Invoke(), abi::kError);
  EXPECT_THAT(host_.errors(), HasSubstr("the fake device caught fire"));
}

TEST_F(DelegateTest, NoExceptionLeavesTheLibrary) {
  const ConvModel model(&host_);
  engine_->throw_in_examine = true;
  const DelegatePtr delegate = Create({});
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kError);
  EXPECT_THAT(host_.errors(), HasSubstr("internal error"));
}

TEST_F(DelegateTest, AHostThatAnswersNothingClaimsNothing) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({});
  host_.context()->PreviewDelegatePartitioning = nullptr;
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  host_.context()->GetNodeAndRegistration = nullptr;
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  host_.context()->GetExecutionPlan = nullptr;
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.kernel_count(), 0U);
}

TEST_F(DelegateTest, NodesOfAnotherDelegateAreCountedNotTouched) {
  const ConvModel model(&host_);
  const int32_t node = host_.AddNode(kDelegate, {model.output}, {host_.AddInt8({1}, 1.0F, 0)});
  host_.registration(node).custom_name = "TfLiteXNNPackDelegate";
  const DelegatePtr delegate = CreateExplaining();
  testing::internal::CaptureStderr();
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("another delegate (TfLiteXNNPackDelegate) has taken 1 node before"));
  EXPECT_EQ(Explain()["summary"]["nodes"], 2);
  EXPECT_EQ(Explain()["summary"]["offered"], 1);
}

TEST_F(DelegateTest, OptionsReachTheCompilerAndTheSession) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({{"numerics.requant", "exact"}, {"verify", "off"}});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(engine_->last_options.requant, plan::Requant::kExact);
  EXPECT_EQ(engine_->last_options.chip, "rk3588");
  EXPECT_FALSE(engine_->last_verify_first);
}

TEST_F(DelegateTest, OneSummaryLineUnlessQuiet) {
  const ConvModel model(&host_);
  for (const bool quiet : {false, true}) {
    FakeHost host;
    const ConvModel again(&host);
    const DelegatePtr delegate = Create({{"quiet", quiet ? "1" : "0"}});
    testing::internal::CaptureStderr();
    ASSERT_EQ(host.Apply(delegate.get()), abi::kOk);
    const std::string text = testing::internal::GetCapturedStderr();
    if (quiet) {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_THAT(text, testing::StartsWith("[rocket] claimed 1 of 1 node in 1 partition on fake"));
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    }
  }
}

TEST_F(DelegateTest, WithoutADeviceNothingIsClaimedAndTheRemedyIsSaidOnce) {
  const ConvModel model(&host_);
  engine_->has_device = false;
  const DelegatePtr delegate = CreateExplaining();
  testing::internal::CaptureStderr();
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[rocket] warning: claimed 0 of 1 node: no NPU here; buy a board\n");
  EXPECT_EQ(host_.kernel_count(), 0U);
  EXPECT_EQ(Explain()["nodes"][0]["reason"], "device.none");
}

TEST_F(DelegateTest, DeviceNoneClaimsNothing) {
  const ConvModel model(&host_);
  const DelegatePtr delegate = Create({{"device", "none"}});
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.kernel_count(), 0U);
}

TEST_F(DelegateTest, OnNoDeviceFailRefusesToLoad) {
  engine_->has_device = false;
  EXPECT_EQ(Create({{"on_no_device", "fail"}}), nullptr);
  EXPECT_EQ(Reported(), "no NPU here; buy a board");
}

TEST_F(DelegateTest, WithoutReportErrorARefusalIsADelegateThatClaimsNothing) {
  const ConvModel model(&host_);
  engine_->has_device = false;
  const DelegatePtr delegate = Create({{"on_no_device", "fail"}}, /*report=*/false);
  ASSERT_NE(delegate, nullptr);
  EXPECT_EQ(host_.Apply(delegate.get()), abi::kOk);
  EXPECT_EQ(host_.kernel_count(), 0U);
  const DelegatePtr strict = Create({{"devise", "sim"}, {"strict", "1"}}, /*report=*/false);
  ASSERT_NE(strict, nullptr);
  EXPECT_EQ(host_.Apply(strict.get()), abi::kOk);
}

TEST_F(DelegateTest, UnknownOptionsWarnAndStrictRefuses) {
  testing::internal::CaptureStderr();
  EXPECT_NE(Create({{"devise", "sim"}}), nullptr);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("[rocket] warning: unknown option 'devise'"));
  EXPECT_EQ(Create({{"devise", "sim"}, {"strict", "True"}}), nullptr);
  EXPECT_THAT(Reported(), HasSubstr("unknown option 'devise'"));
}

TEST_F(DelegateTest, TheCountIsReadAs32Bits) {
  const CreateArguments arguments{.keys = nullptr,
                                  .values = nullptr,
                                  .count = static_cast<size_t>(-1) << 32U,
                                  .report_error = nullptr};
  const DelegatePtr delegate(CreateDelegate(arguments, engine_, NoEnvironment));
  EXPECT_NE(delegate, nullptr);
  DestroyDelegate(nullptr);
}

TEST_F(DelegateTest, OneDelegateServesManyInterpretersAtOnce) {
  const DelegatePtr delegate = Create({{"quiet", "1"}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        FakeHost host;
        const ConvModel model(&host);
        ASSERT_EQ(host.Apply(delegate.get()), abi::kOk);
        host.Allocate();
        *static_cast<int8_t*>(host.tensor(model.input).data) = 5;
        ASSERT_EQ(host.Invoke(), abi::kOk);
        ASSERT_EQ(*static_cast<int8_t*>(host.tensor(model.output).data), 6);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*engine_->live_sessions, 0);
}

TEST_F(DelegateTest, ProfilesAreAppended) {
  const ConvModel model(&host_);
  const std::string path = explain_path_ + ".profile";
  const DelegatePtr delegate = Create({{"profile", path}});
  ASSERT_EQ(host_.Apply(delegate.get()), abi::kOk);
  host_.Allocate();
  ASSERT_EQ(host_.Invoke(), abi::kOk);
  ASSERT_EQ(host_.Invoke(), abi::kOk);
  host_.FreeKernels();
  std::ifstream file(path);
  const Json json = Json::parse(file);
  EXPECT_EQ(json["runs"], 2);
  EXPECT_LE(json["min_ms"], json["mean_ms"]);
  EXPECT_LE(json["mean_ms"], json["max_ms"]);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace npu::tflite
