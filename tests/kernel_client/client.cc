// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel_client/client.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace npu::kernel_client {
namespace {

template <typename T>
int Call(const Endpoint& node, uint32_t request, T* argument) {
  return node.Ioctl(request, argument);
}

}  // namespace

Endpoint::Endpoint(int fd)
    : ioctl_([fd](uint32_t request, void* argument) {
        return ioctl(fd, request, argument) == 0 ? 0 : -errno;
      }),
      map_([fd](uint64_t length, uint64_t offset, Keep*) { return MapPages(length, fd, offset); }) {
}

std::byte* Endpoint::MapPages(uint64_t length, int fd, uint64_t offset) {
  void* const at =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

int Create(const Endpoint& node, uint32_t size, Bo* out) {
  uapi::RocketCreateBo create{.size = size};
  const int result = Call(node, uapi::kIoctlCreateBo, &create);
  *out = {create.handle, create.dma_address, create.offset};
  return result;
}

Bo Create(const Endpoint& node, uint32_t size) {
  Bo bo;
  EXPECT_EQ(Create(node, size, &bo), 0);
  return bo;
}

int Close(const Endpoint& node, uint32_t handle) {
  uapi::DrmGemClose close{.handle = handle};
  return Call(node, uapi::kIoctlGemClose, &close);
}

int Prep(const Endpoint& node, uint32_t handle, int64_t deadline_ns, uint32_t reserved) {
  uapi::RocketPrepBo prep{.handle = handle, .reserved = reserved, .timeout_ns = deadline_ns};
  return Call(node, uapi::kIoctlPrepBo, &prep);
}

int Fini(const Endpoint& node, uint32_t handle, uint32_t reserved) {
  uapi::RocketFiniBo fini{.handle = handle, .reserved = reserved};
  return Call(node, uapi::kIoctlFiniBo, &fini);
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

int Submit(const Endpoint& node, const UserJob& job) {
  return Submit(node, std::vector<UserJob>{job});
}

int Submit(const Endpoint& node, const std::vector<UserJob>& jobs) {
  std::vector<uapi::RocketJob> words;
  for (const UserJob& job : jobs) words.push_back(job.words());
  uapi::RocketSubmit submit{.jobs = reinterpret_cast<uint64_t>(words.data()),
                            .job_count = static_cast<uint32_t>(words.size()),
                            .job_struct_size = sizeof(uapi::RocketJob)};
  return Call(node, uapi::kIoctlSubmit, &submit);
}

PlacedCase::PlacedCase(const std::string& name, Endpoint node) : node_(std::move(node)) {
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
    if (wanted.iova > at) fillers.push_back(Create(node_, static_cast<uint32_t>(wanted.iova - at)));
    Buffer& buffer = buffers_[wanted.id];
    buffer.bo = Create(node_, static_cast<uint32_t>(wanted.size));
    buffer.size = wanted.size;
    EXPECT_EQ(buffer.bo.iova, wanted.iova);
    buffer.bytes = node_.Map(wanted.size, buffer.bo.offset, &buffer.keep);
    EXPECT_NE(buffer.bytes, nullptr);
    at = wanted.iova + wanted.size;
  }
  for (const Bo& filler : fillers) EXPECT_EQ(Close(node_, filler.handle), 0);
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
    EXPECT_EQ(Fini(node_, buffer.bo.handle), 0);
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

}  // namespace npu::kernel_client
