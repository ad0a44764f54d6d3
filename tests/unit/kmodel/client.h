// SPDX-License-Identifier: Apache-2.0
// An NPU of the kernel model whose log lines and job outcomes are kept.
#ifndef TESTS_UNIT_KMODEL_CLIENT_H_
#define TESTS_UNIT_KMODEL_CLIENT_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/kmodel/file.h"
#include "src/kmodel/npu.h"
#include "tests/kernel_client/client.h"

namespace npu::kmodel {

using kernel_client::Bo;
using kernel_client::Close;
using kernel_client::Create;
using kernel_client::Fini;
using kernel_client::kMillisecond;
using kernel_client::kSmallCase;
using kernel_client::PlacedCase;
using kernel_client::Prep;
using kernel_client::Submit;
using kernel_client::UserJob;

// An NPU whose log lines, oopses and job outcomes are kept.
class TestNpu {
 public:
  explicit TestNpu(Options options = {}, DescriptorTable* descriptors = nullptr);

  std::shared_ptr<File> Open() { return npu_->Open(); }
  Npu& npu() { return *npu_; }

  std::vector<JobOutcome> outcomes();
  std::string log();

 private:
  std::mutex mutex_;
  std::string log_;                   // under mutex_
  std::vector<JobOutcome> outcomes_;  // under mutex_
  std::shared_ptr<Npu> npu_;
};

// Options with a version and a short watchdog.
Options Quick(Version version = {});

}  // namespace npu::kmodel

#endif  // TESTS_UNIT_KMODEL_CLIENT_H_
