// SPDX-License-Identifier: Apache-2.0
// Work submitted through the preloaded node gives the golden outputs; every job takes 20 ms here.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "tests/kernel_client/client.h"
#include "tests/shim/node.h"

namespace npu::shim_test {
namespace {

using kernel_client::PlacedCase;
using kernel_client::Prep;
using kernel_client::Submit;

int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void RunGolden(const char* name, int fd) {
  PlacedCase placed(name, fd);
  placed.Load();
  ASSERT_EQ(Submit(fd, placed.Job()), 0);
  ASSERT_EQ(Prep(fd, placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u) << name;
}

TEST(Jobs, GoldenCasesGiveTheirOutputs) {
  for (const char* name : {"conv_i8_1x1_32x8x8_32", "conv_i8_3x3_s1_p1_32x8x8_32", "mm_i8_4x32x32",
                           "chain3_i8_tasks_16x9x9_64_24", "chain3_i8_kick_32x11x9_128_40"}) {
    const Node node;
    RunGolden(name, node.fd());
  }
}

TEST(Jobs, AHangLooksLikeSuccessAndTheNextJobIsRight) {
  const Node node;
  PlacedCase placed(kernel_client::kSmallCase, node.fd());
  placed.Load();
  kernel_client::UserJob cut = placed.Job();
  cut.tasks[0].regcmd_count -= 4;
  const int64_t before = Now();
  ASSERT_EQ(Submit(node.fd(), cut), 0);
  EXPECT_EQ(Prep(node.fd(), placed.output(), INT64_MAX), 0);
  EXPECT_GE(Now() - before, 50'000'000);
  EXPECT_NE(placed.Mismatches(), 0u);
  ASSERT_EQ(Submit(node.fd(), placed.Job()), 0);
  EXPECT_EQ(Prep(node.fd(), placed.output(), INT64_MAX), 0);
  EXPECT_EQ(placed.Mismatches(), 0u);
}

TEST(Jobs, FourThreadsOnFourFiles) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 3; ++i) {
        const Node node;
        RunGolden(kernel_client::kSmallCase, node.fd());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Jobs, OneFileFromFourThreads) {
  const Node node;
  PlacedCase placed(kernel_client::kSmallCase, node.fd());
  placed.Load();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      EXPECT_EQ(Submit(node.fd(), placed.Job()), 0);
      EXPECT_EQ(Prep(node.fd(), placed.output(), INT64_MAX), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(placed.Mismatches(), 0u);
}

void Ignore(int) {}

TEST(Signals, InterruptTheWaitAndNothingElse) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = Ignore;
  sigaction(SIGUSR1, &action, &old);
  const Node node;
  PlacedCase placed(kernel_client::kSmallCase, node.fd());
  placed.Load();
  const pthread_t waiter = pthread_self();
  int interrupted = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(Submit(node.fd(), placed.Job()), 0);
    std::thread sender([waiter] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      pthread_kill(waiter, SIGUSR1);
    });
    const int64_t deadline = Now() + 5'000'000'000;
    int result = 0;
    while ((result = Prep(node.fd(), placed.output(), deadline)) == -EINTR) ++interrupted;
    EXPECT_EQ(result, 0);
    sender.join();
  }
  EXPECT_EQ(placed.Mismatches(), 0u);
  EXPECT_GT(interrupted, 0);
  sigaction(SIGUSR1, &old, nullptr);
}

}  // namespace
}  // namespace npu::shim_test
