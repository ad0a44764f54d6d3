// SPDX-License-Identifier: Apache-2.0
// Injected faults happen exactly where they were asked for; options are parsed whole or refused.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

#include "src/kmodel/fence.h"
#include "tests/unit/kmodel/client.h"

namespace npu::kmodel {
namespace {

class Faulty {
 public:
  explicit Faulty(const char* faults, const char* golden = kSmallCase)
      : npu_(Parsed(faults)), placed_(golden, file_.get()) {
    placed_.Load();
  }
  // Submits, waits, and tells whether the output is right.
  bool RunOnce() {
    placed_.Load();
    EXPECT_EQ(Submit(file_.get(), placed_.Job()), 0);
    EXPECT_EQ(Prep(file_.get(), placed_.output(), INT64_MAX), 0);
    return placed_.Mismatches() == 0;
  }
  TestNpu& npu() { return npu_; }
  File* file() { return file_.get(); }
  PlacedCase& placed() { return placed_; }

 private:
  static Options Parsed(const char* faults) {
    Options options = Quick();
    const auto parsed = ParseFaults(faults);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    if (parsed.ok()) options.faults = *parsed;
    return options;
  }
  TestNpu npu_;
  std::shared_ptr<File> file_ = npu_.Open();
  PlacedCase placed_;
};

TEST(Faults, DropTheSecondJob) {
  Faulty faulty("drop=2");
  EXPECT_TRUE(faulty.RunOnce());
  EXPECT_FALSE(faulty.RunOnce());
  EXPECT_TRUE(faulty.RunOnce());
  EXPECT_EQ(faulty.npu().npu().statistics().jobs, 2u);
}

TEST(Faults, TimeOutTheFirstJob) {
  Faulty faulty("timeout=1");
  const int64_t before = MonotonicNow();
  EXPECT_FALSE(faulty.RunOnce());
  EXPECT_GE(MonotonicNow() - before, 30 * kMillisecond);
  EXPECT_TRUE(faulty.RunOnce());
}

TEST(Faults, ALostWakeupComputesAndTakesTheWatchdogsTime) {
  Faulty faulty("lost=1");
  const int64_t before = MonotonicNow();
  EXPECT_TRUE(faulty.RunOnce());
  EXPECT_GE(MonotonicNow() - before, 30 * kMillisecond);
  EXPECT_NE(faulty.npu().log().find("NPU job timed out"), std::string::npos);
}

TEST(Faults, DelayEveryJob) {
  Faulty faulty("delay=*:20");
  const int64_t before = MonotonicNow();
  EXPECT_TRUE(faulty.RunOnce());
  EXPECT_TRUE(faulty.RunOnce());
  EXPECT_GE(MonotonicNow() - before, 40 * kMillisecond);
}

TEST(Faults, ResetInTheMiddleOfAJob) {
  Faulty faulty("reset=1", "chain3_i8_tasks_16x9x9_64_24");
  EXPECT_FALSE(faulty.RunOnce());
  const auto outcomes = faulty.npu().outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].kicks.size(), faulty.placed().Job().tasks.size() / 2);
  EXPECT_TRUE(outcomes[0].timed_out);
  EXPECT_TRUE(faulty.RunOnce());
}

TEST(Faults, CreatePrepAndMmap) {
  Faulty faulty("enomem=20,short=21,eintr=1,mmap=20");
  File* const file = faulty.file();
  Bo bo;
  int failed = 0;
  for (int i = 0; i < 30; ++i) failed += Create(file, 8192, &bo) == -ENOMEM ? 1 : 0;
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(Prep(file, bo.handle, INT64_MAX), -EINTR);
  EXPECT_EQ(Prep(file, bo.handle, INT64_MAX), 0);
  failed = 0;
  for (int i = 0; i < 30; ++i) {
    failed += file->Map(8192, PROT_READ, MAP_SHARED, bo.offset).error == -ENOMEM ? 1 : 0;
  }
  EXPECT_EQ(failed, 1);
}

TEST(Faults, AShortObjectCannotBeMappedWhole) {
  TestNpu npu([] {
    Options options = Quick();
    options.faults = {{FaultKind::kShortObject, 1, 0}};
    return options;
  }());
  const auto file = npu.Open();
  const Bo bo = Create(file.get(), 8192);
  EXPECT_EQ(file->Map(8192, PROT_READ, MAP_SHARED, bo.offset).error, -EINVAL);
  EXPECT_EQ(file->Map(4096, PROT_READ, MAP_SHARED, bo.offset).error, 0);
}

TEST(Faults, TheNodeGoesAfterThreeCalls) {
  TestNpu npu([] {
    Options options = Quick();
    options.faults = {{FaultKind::kNodeGone, 3, 0}};
    return options;
  }());
  const auto file = npu.Open();
  Bo bo;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Create(file.get(), 4096, &bo), 0);
  EXPECT_EQ(Create(file.get(), 4096, &bo), -ENODEV);
  EXPECT_EQ(Prep(file.get(), 1, 0), -ENODEV);
  EXPECT_EQ(file->Map(4096, PROT_READ, MAP_SHARED, bo.offset).error, -ENODEV);
}

TEST(Options, VersionsThatExist) {
  for (const char* text : {"0.0", "1.0", "1.1", "1.5", "1.6"}) EXPECT_TRUE(ParseVersion(text).ok());
  for (const char* text : {"", "1", "0.1", "1.7", "2.0", "1.-1", "1.1x", "stock"}) {
    EXPECT_FALSE(ParseVersion(text).ok()) << text;
  }
  EXPECT_EQ(ParseVersion("1.5")->minor, 5);
}

TEST(Options, StrictModesAndFaultsThatExist) {
  EXPECT_TRUE(ParseStrict("war,poison")->war);
  EXPECT_FALSE(ParseStrict("war")->poison);
  EXPECT_FALSE(ParseStrict("all")->shuffle);
  EXPECT_FALSE(ParseStrict("warm").ok());
  EXPECT_EQ(ParseFaults("drop=3,delay=*:100")->size(), 2u);
  EXPECT_TRUE(ParseFaults("")->empty());
  for (const char* text : {"drop", "drop=", "drop=0", "drop=x", "drop=1:5", "delay=1", "delay=1:x",
                           "burn=1", "drop=1;drop=2"}) {
    EXPECT_FALSE(ParseFaults(text).ok()) << text;
  }
}

TEST(Options, ChipsAndCoresThatExist) {
  Options options;
  options.chip = "rk9999";
  EXPECT_FALSE(Npu::Create(options).ok());
  options = {};
  options.cores = 4;
  EXPECT_FALSE(Npu::Create(options).ok());
}

}  // namespace
}  // namespace npu::kmodel
