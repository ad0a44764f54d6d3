// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device/golden_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace npu::device {

std::filesystem::path GoldenDir() {
  const char* shared = std::getenv("NPU_SHARED_DIR");
  const std::filesystem::path source(NPU_SOURCE_DIR);
  for (const std::filesystem::path& dir :
       {shared != nullptr && *shared != 0 ? std::filesystem::path(shared) / "golden"
                                          : source / "../shared/golden",
        source / "../shared/golden", source / "tests/golden"}) {
    if (std::filesystem::exists(dir / "rk3588")) return dir;
  }
  return {};
}

JobFile ReadGolden(const std::string& name) {
  Result<JobFile> file = ReadJobFile(GoldenDir() / "rk3588" / name);
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? *std::move(file) : JobFile();
}

PlacedJob::PlacedJob(const JobFile& file, Device* device) : file_(file) { Place(device); }

void PlacedJob::Place(Device* device) {
  std::vector<size_t> order(file_.buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return file_.buffers[a].iova < file_.buffers[b].iova; });
  buffers_.resize(file_.buffers.size());
  uint64_t next = 4096;  // behind the guard page
  for (const size_t i : order) {
    const JobBuffer& wanted = file_.buffers[i];
    if (next < wanted.iova) {
      Result<std::unique_ptr<Buffer>> filler = device->Allocate(wanted.iova - next);
      ASSERT_TRUE(filler.ok()) << filler.status().message();
      fillers_.push_back(*std::move(filler));
    }
    Result<std::unique_ptr<Buffer>> buffer = device->Allocate(wanted.size);
    ASSERT_TRUE(buffer.ok()) << buffer.status().message();
    ASSERT_EQ((*buffer)->iova(), wanted.iova);
    buffers_[i] = *std::move(buffer);
    next = wanted.iova + wanted.size;
  }
}

Buffer* PlacedJob::buffer(uint32_t id) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (file_.buffers[i].id == id) return buffers_[i].get();
  }
  return nullptr;
}

void PlacedJob::LoadMemory() {
  for (const MemoryRecord& record : file_.submits[0].memory) {
    const std::span<std::byte> bytes = buffer(record.buffer)->bytes();
    std::fill(bytes.begin(), bytes.end(), std::byte{record.fill});
    for (const MemorySegment& s : record.segments) {
      std::memcpy(bytes.data() + s.offset, file_.data.data() + s.data_offset, s.length);
    }
    const Status flushed = buffer(record.buffer)->EndCpuAccess();
    EXPECT_TRUE(flushed.ok()) << flushed.message();
  }
}

Job PlacedJob::MakeJob(size_t index) const {
  const JobRecord& record = file_.submits[0].jobs[index];
  Job job{.tasks = {}, .inputs = {}, .outputs = {}, .chained = record.batched()};
  for (const TaskRecord& task : record.tasks) job.tasks.push_back({task.regcmd, task.count});
  for (const uint32_t id : record.in) job.inputs.push_back(buffer(id));
  for (const uint32_t id : record.out) job.outputs.push_back(buffer(id));
  return job;
}

size_t PlacedJob::Mismatches() const {
  size_t count = 0;
  for (const std::unique_ptr<Buffer>& buffer : buffers_) {
    const Status readable = buffer->BeginCpuAccess();
    EXPECT_TRUE(readable.ok()) << readable.message();
  }
  for (const Check& check : file_.submits[0].checks) {
    const std::vector<uint64_t> offsets = ElementOffsets(file_, check);
    for (size_t i = 0; i < offsets.size(); ++i) {
      const uint64_t at = check.base + offsets[i];
      const JobBuffer* where = file_.FindRange(at, check.element_bytes);
      const std::byte* got = buffer(where->id)->bytes().data() + (at - where->iova);
      const std::byte* want = file_.data.data() + check.offset + i * check.element_bytes;
      if (std::memcmp(got, want, check.element_bytes) != 0) ++count;
    }
  }
  return count;
}

}  // namespace npu::device
