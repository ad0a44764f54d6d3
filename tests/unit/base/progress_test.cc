// SPDX-License-Identifier: Apache-2.0
#include "src/base/progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace npu {
namespace {

// A clock that the test moves.
Progress::Clock::time_point g_now;
Progress::Clock::time_point FakeNow() { return g_now; }

TEST(Progress, SpeaksAtDoublingIntervalsAfterTheFirstSecond) {
  std::vector<std::string> lines;
  const Logger logger([&](LogLevel, std::string_view text) { lines.emplace_back(text); });
  g_now = {};
  Progress progress(logger, "compiling", &FakeNow);
  for (size_t tenth = 0; tenth < 100; ++tenth) {
    progress.Step(tenth, 100);
    g_now += std::chrono::milliseconds(100);
  }
  EXPECT_EQ(lines,
            (std::vector<std::string>{"compiling: 10 of 100 (1 s)", "compiling: 20 of 100 (2 s)",
                                      "compiling: 40 of 100 (4 s)", "compiling: 80 of 100 (8 s)"}));
}

TEST(Progress, OneLineForAStepOfManySeconds) {
  std::vector<std::string> lines;
  const Logger logger([&](LogLevel, std::string_view text) { lines.emplace_back(text); });
  g_now = {};
  Progress progress(logger, "running", &FakeNow);
  g_now += std::chrono::seconds(30);
  progress.Step(1, 3);
  progress.Step(2, 3);
  EXPECT_EQ(lines, std::vector<std::string>{"running: 1 of 3 (30 s)"});
}

}  // namespace
}  // namespace npu
