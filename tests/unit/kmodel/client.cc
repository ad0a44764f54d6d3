// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kmodel/client.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

namespace npu::kmodel {
namespace {

template <typename T>
int Call(File* file, uint32_t request, T* argument) {
  return file->Ioctl(request, reinterpret_cast<uint64_t>(argument));
}

}  // namespace

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

int Create(File* file, uint32_t size, Bo* out) {
  uapi::RocketCreateBo create{.size = size};
  const int result = Call(file, uapi::kIoctlCreateBo, &create);
  *out = {create.handle, create.dma_address, create.offset};
  return result;
}

Bo Create(File* file, uint32_t size) {
  Bo bo;
  EXPECT_EQ(Create(file, size, &bo), 0);
  return bo;
}

int Close(File* file, uint32_t handle) {
  uapi::DrmGemClose close{.handle = handle};
  return Call(file, uapi::kIoctlGemClose, &close);
}

int Prep(File* file, uint32_t handle, int64_t deadline_ns, uint32_t reserved) {
  uapi::RocketPrepBo prep{.handle = handle, .reserved = reserved, .timeout_ns = deadline_ns};
  return Call(file, uapi::kIoctlPrepBo, &prep);
}

int Fini(File* file, uint32_t handle, uint32_t reserved) {
  uapi::RocketFiniBo fini{.handle = handle, .reserved = reserved};
  return Call(file, uapi::kIoctlFiniBo, &fini);
}

uapi::RocketJob UserJob::words() const {
  uapi::RocketJob job;
  job.tasks = reinterpret_cast<uint64_t>(tasks.data());
  job.in_bo_handles = reinterpret_cast<uint64_t>(in.data());
  job.out_bo_handles = reinterpret_cast<uint64_t>(out.data());
  job.task_count = static_cast<uint32_t>(tasks.size());
  job.task_struct_size = sizeof(uapi::RocketTask);
  job.in_bo_handle_count = static_cast<uint32_t>(in.size());
  job.out_bo_handle_count = static_cast<uint32_t>(out.size());
  job.flags = flags;
  return job;
}

int Submit(File* file, const UserJob& job) { return Submit(file, std::vector<UserJob>{job}); }

int Submit(File* file, const std::vector<UserJob>& jobs) {
  std::vector<uapi::RocketJob> words;
  for (const UserJob& job : jobs) words.push_back(job.words());
  uapi::RocketSubmit submit{.jobs = reinterpret_cast<uint64_t>(words.data()),
                            .job_count = static_cast<uint32_t>(words.size()),
                            .job_struct_size = sizeof(uapi::RocketJob)};
  return Call(file, uapi::kIoctlSubmit, &submit);
}

PlacedCase::PlacedCase(const std::string& name, File* file) : file_(file) {
  auto read = device::ReadJobFile(std::filesystem::path(NPU_GOLDEN_DIR) / name);
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return;
  case_ = std::move(read).value();
  std::vector<device::JobBuffer> sorted = case_.buffers;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.iova < b.iova; });
  uint64_t at = 0;
  std::vector<Bo> fillers;
  for (const device::JobBuffer& wanted : sorted) {
    if (wanted.iova > at) fillers.push_back(Create(file, static_cast<uint32_t>(wanted.iova - at)));
    Buffer& buffer = buffers_[wanted.id];
    buffer.bo = Create(file, static_cast<uint32_t>(wanted.size));
    buffer.size = wanted.size;
    EXPECT_EQ(buffer.bo.iova, wanted.iova);
    const File::Mapping mapping =
        file->Map(wanted.size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.bo.offset);
    EXPECT_EQ(mapping.error, 0);
    void* const address = mmap(nullptr, wanted.size, PROT_READ | PROT_WRITE, MAP_SHARED, mapping.fd,
                               static_cast<off_t>(mapping.offset));
    EXPECT_NE(address, MAP_FAILED);
    buffer.bytes = static_cast<std::byte*>(address);
    buffer.keep = mapping.keep;
    at = wanted.iova + wanted.size;
  }
  for (const Bo& filler : fillers) EXPECT_EQ(Close(file, filler.handle), 0);
}

PlacedCase::~PlacedCase() {
  for (auto& [id, buffer] : buffers_) munmap(buffer.bytes, buffer.size);
}

void PlacedCase::Load(bool flush) {
  for (const device::MemoryRecord& record : case_.submits[0].memory) {
    Buffer& buffer = buffers_.at(record.buffer);
    std::memset(buffer.bytes, record.fill, buffer.size);
    for (const device::MemorySegment& segment : record.segments) {
      const auto data = case_.Bytes(segment.data_offset, segment.length);
      std::memcpy(buffer.bytes + segment.offset, data.data(), data.size());
    }
    if (!flush) continue;
    EXPECT_EQ(Fini(file_, buffer.bo.handle), 0);
  }
}

UserJob PlacedCase::Job() const {
  const device::JobRecord& record = case_.submits[0].jobs[0];
  UserJob job;
  for (const device::TaskRecord& task : record.tasks)
    job.tasks.push_back({task.regcmd, task.count});
  for (const uint32_t id : record.in) job.in.push_back(handle(id));
  for (const uint32_t id : record.out) job.out.push_back(handle(id));
  job.flags = record.flags;
  return job;
}

size_t PlacedCase::Mismatches() const {
  size_t different = 0;
  for (const device::Check& check : case_.submits[0].checks) {
    const device::JobBuffer* const found = case_.FindRange(check.base, 1);
    const Buffer& buffer = buffers_.at(found->id);
    const auto offsets = device::ElementOffsets(case_, check);
    const auto expected = case_.Bytes(check.offset, check.length);
    for (size_t i = 0; i < offsets.size(); ++i) {
      const std::byte* const got = buffer.bytes + (check.base - found->iova) + offsets[i];
      const std::byte* const want = expected.data() + i * check.element_bytes;
      if (std::memcmp(got, want, check.element_bytes) != 0) ++different;
    }
  }
  return different;
}

}  // namespace npu::kmodel
