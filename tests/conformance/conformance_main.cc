// SPDX-License-Identifier: Apache-2.0
// Random convolutions, encoded and simulated, bit for bit against the oracle of silicon arithmetic
// and within the proven bound of TFLite's. Options: --count N, --seed N, --problem "one line".
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "tests/conformance/runner.h"

namespace npu::conformance {
namespace {

struct Options {
  int count = 2500;
  uint32_t seed = 20261130;
  std::string problem;
};

constexpr int64_t kMaxMacs = 3'000'000;

// The smallest problem found that still fails, after at most kMaxSteps runs.
Problem Minimise(Problem failing) {
  constexpr int kMaxSteps = 500;
  int steps = 0;
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (const Problem& candidate : Smaller(failing)) {
      if (++steps > kMaxSteps) return failing;
      if (RunProblem(candidate).failure.empty()) continue;
      failing = candidate;
      smaller = true;
      break;
    }
  }
  return failing;
}

struct Totals {
  int run = 0, tiled = 0, failed = 0;
  int64_t tasks = 0, elements = 0, differences = 0;
  double worst_bound = 0.0;
  std::map<std::string, int> routes, declined;

  void Add(const Outcome& o) {
    ++run;
    tiled += o.tasks > 1 ? 1 : 0;
    tasks += o.tasks;
    elements += o.elements;
    differences += o.differences;
    worst_bound = std::max(worst_bound, o.worst_bound);
    ++(o.declined.empty() ? routes[o.route] : declined[o.declined]);
  }
  void Print(uint32_t seed) const {
    std::printf(
        "conformance: seed %u, %d shapes, %d failed, %lld tasks (%d shapes tiled), "
        "%lld elements, %lld differ from TFLite by one count, worst bound %.3f\n",
        seed, run, failed, static_cast<long long>(tasks), tiled, static_cast<long long>(elements),
        static_cast<long long>(differences), worst_bound);
    for (const auto& [route, n] : routes) std::printf("  route %s: %d\n", route.c_str(), n);
    for (const auto& [reason, n] : declined) std::printf("  declined %s: %d\n", reason.c_str(), n);
  }
};

void RunRandomProblems(const Options& options) {
  std::mt19937 random(options.seed);
  Totals totals;
  // Large enough that a few problems fill the whole buffer and are tiled with all its banks.
  constexpr int kLargeEvery = 100;
  for (int i = 0; totals.run - totals.declined["conv.requant_bound"] < options.count; ++i) {
    const Problem problem =
        Random(random, i % kLargeEvery == 0 ? 8 * kMaxMacs : kMaxMacs / (1 + i % 4));
    const Outcome outcome = RunProblem(problem);
    totals.Add(outcome);
    if (outcome.failure.empty()) continue;
    ++totals.failed;
    std::fprintf(stderr, "failed: %s\n  %s\n", ToString(problem).c_str(), outcome.failure.c_str());
    const Problem smallest = Minimise(problem);
    ADD_FAILURE() << ToString(problem) << "\n  " << outcome.failure << "\nsmallest:\n  --problem \""
                  << ToString(smallest) << "\"\n  " << RunProblem(smallest).failure;
    if (totals.failed >= 3) break;
  }
  totals.Print(options.seed);
  EXPECT_EQ(totals.failed, 0);
}

// Registered by main, which knows the options.
class RandomProblems : public testing::Test {
 public:
  explicit RandomProblems(const Options& options) : options_(options) {}
  void TestBody() override { RunRandomProblems(options_); }

 private:
  const Options& options_;
};

TEST(Problem, TextRoundTrip) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const Problem p = Random(random, kMaxMacs);
    EXPECT_EQ(Parse(ToString(p)), p) << ToString(p);
  }
  EXPECT_EQ(Parse("conv nonsense3"), std::nullopt);
  EXPECT_EQ(Parse("conv ic3x"), std::nullopt);
}

int RunOne(const std::string& line) {
  const std::optional<Problem> problem = Parse(line);
  if (!problem || !IsValid(*problem)) {
    std::fprintf(stderr, "not a problem: %s\n", line.c_str());
    return 2;
  }
  const Outcome o = RunProblem(*problem);
  std::printf("%s\n  %s, %d tasks, %lld elements, %lld differ, bound %.3f%s%s\n",
              ToString(*problem).c_str(),
              !o.failure.empty()   ? o.failure.c_str()
              : o.declined.empty() ? "passed"
                                   : "declined",
              o.tasks, static_cast<long long>(o.elements), static_cast<long long>(o.differences),
              o.worst_bound, o.declined.empty() ? "" : ", ", o.declined.c_str());
  return o.failure.empty() ? 0 : 1;
}

}  // namespace
}  // namespace npu::conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  npu::conformance::Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc || (name != "--count" && name != "--seed" && name != "--problem")) {
      std::fprintf(stderr, "usage: conformance [--count N] [--seed N] [--problem LINE]\n");
      return 2;
    }
    if (name == "--problem") options.problem = argv[i + 1];
    if (name == "--count") options.count = std::stoi(argv[i + 1]);
    if (name == "--seed") options.seed = static_cast<uint32_t>(std::stoul(argv[i + 1]));
  }
  if (!options.problem.empty()) return npu::conformance::RunOne(options.problem);
  testing::RegisterTest(
      "Conformance", "RandomProblems", nullptr, nullptr, __FILE__, __LINE__,
      [&options]() -> testing::Test* { return new npu::conformance::RandomProblems(options); });
  return RUN_ALL_TESTS();
}
