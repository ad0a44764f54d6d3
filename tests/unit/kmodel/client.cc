// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kmodel/client.h"

#include <gtest/gtest.h>

namespace npu::kmodel {

TestNpu::TestNpu(Options options, DescriptorTable* descriptors) {
  options.logger = Logger([this](LogLevel, std::string_view line) {
    const std::lock_guard<std::mutex> lock(mutex_);
    log_ += std::string(line) + "\n";
  });
  const auto observe = [this](const Job&, const JobOutcome& outcome) {
    const std::lock_guard<std::mutex> lock(mutex_);
    outcomes_.push_back(outcome);
  };
  auto npu = Npu::Create(options, observe, descriptors);
  EXPECT_TRUE(npu.ok()) << npu.status().message();
  if (npu.ok()) npu_ = *npu;
}

std::vector<JobOutcome> TestNpu::outcomes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return outcomes_;
}

std::string TestNpu::log() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return log_;
}

Options Quick(Version version) {
  Options options;
  options.version = version;
  options.hang_ms = 30;
  return options;
}

}  // namespace npu::kmodel
