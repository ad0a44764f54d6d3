// SPDX-License-Identifier: Apache-2.0
// SUBMIT: the validation of kernel-interfaces A.9, step by step, and the contract of B.1.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/base/checked.h"
#include "src/kmodel/file.h"
#include "src/kmodel/user_memory.h"

namespace npu::kmodel {
namespace {

using uapi::kRocketJobV1Bytes;
using uapi::kRocketTaskV1Bytes;

// What one submission may make the kernel allocate at most; larger arrays fail as memory would.
constexpr uint64_t kMaxArrayBytes = uint64_t{256} << 20;

bool Extended(const Options& options) { return options.version.AtLeast(1, 0); }

uint32_t KnownJobBytes(const Options& options) {
  return options.version.AtLeast(1, 1) ? sizeof(uapi::RocketJob) : kRocketJobV1Bytes;
}

uint32_t KnownFlags(const Options& options) {
  uint32_t flags = 0;
  if (options.version.AtLeast(1, 1)) flags |= uapi::kRocketJobBatched;
  if (options.version.AtLeast(1, 2)) flags |= uapi::kRocketJobNoDpuDone;
  if (options.version.AtLeast(1, 3)) flags |= uapi::kRocketJobPpuDone;
  return flags;
}

// Copies the known part of an array element; `stride` is its size as the client declares it.
// -E2BIG if the rest is not zero, which only extended kernels look at.
int CopyElement(void* to, uint64_t from, uint32_t stride, uint32_t known, bool extended) {
  if (!CopyFromUser(to, from, std::min(stride, known))) return -EFAULT;
  if (!extended || stride <= known) return 0;
  std::vector<std::byte> tail(stride - known);
  if (!CopyFromUser(tail.data(), from + known, tail.size())) return -EFAULT;
  const bool zero =
      std::all_of(tail.begin(), tail.end(), [](std::byte b) { return b == std::byte{0}; });
  return zero ? 0 : -E2BIG;
}

// True if the array's bytes can be read without wrapping around the address space.
bool ArrayFits(uint64_t pointer, uint32_t count, uint32_t stride) {
  const uint64_t bytes = uint64_t{count} * stride;
  return bytes <= kMaxArrayBytes && CheckedAdd(pointer, bytes).has_value();
}

}  // namespace

int File::Submit(void* argument) {
  const auto& submit = *static_cast<const uapi::RocketSubmit*>(argument);
  if (submit.job_count == 0) return 0;
  if (submit.job_struct_size < kRocketJobV1Bytes) return -EINVAL;
  if (submit.reserved != 0) return -EINVAL;
  if (!ArrayFits(submit.jobs, submit.job_count, submit.job_struct_size)) return -EFAULT;
  // The whole array is copied before any job starts.
  std::vector<std::byte> probe(uint64_t{submit.job_count} * submit.job_struct_size);
  if (!CopyFromUser(probe.data(), submit.jobs, probe.size())) return -EFAULT;
  for (uint32_t index = 0; index < submit.job_count; ++index) {
    const int result = SubmitJob(submit, index);
    if (result == 0) continue;
    ++npu_->dropped_;
    // Stock kernels throw the result away and go on with the next job.
    if (Extended(npu_->options())) return result;
  }
  return 0;
}

int File::SubmitJob(const uapi::RocketSubmit& submit, uint32_t index) {
  const Options& options = npu_->options();
  uapi::RocketJob words;
  const int copied = CopyElement(&words, submit.jobs + uint64_t{index} * submit.job_struct_size,
                                 submit.job_struct_size, KnownJobBytes(options), Extended(options));
  if (copied != 0) return copied;
  if ((words.flags & ~KnownFlags(options)) != 0 || words.reserved != 0) return -EINVAL;
  auto job = std::make_shared<Job>();
  job->domain = domain_;
  if (const int result = CheckJob(words, job.get()); result != 0) return result;
  job->faults = npu_->faults().NextJob();
  if (job->faults.drop) return Extended(options) ? 0 : -EALREADY;
  // Counts the hardware cannot take fall back to one kick a task without a word (B.2).
  job->batched = (words.flags & uapi::kRocketJobBatched) != 0 && options.batch_submit &&
                 job->tasks.size() > 1 &&
                 job->tasks.size() <= npu_->profile().memory.tasks_per_kick_max;
  npu_->scheduler().Push(entity_, std::move(job));
  return 0;
}

int File::CheckJob(const uapi::RocketJob& words, Job* job) {
  if (words.task_count == 0) return -EINVAL;
  // From here on a failure sends a stock kernel down a path that uses a null pointer (A.17).
  int result = ReadTasks(words, job);
  if (result == 0) result = ResolveHandles(words.in_bo_handles, words.in_bo_handle_count, &job->in);
  if (result == 0) {
    result = ResolveHandles(words.out_bo_handles, words.out_bo_handle_count, &job->out);
  }
  if (result != 0) {
    if (!Extended(npu_->options())) {
      npu_->reporter().Oops(fmt::format("malformed job in SUBMIT (error {})", -result));
    }
    return result;
  }
  std::vector<const BufferObject*> all;
  for (const auto* list : {&job->in, &job->out}) {
    for (const auto& object : *list) all.push_back(object.get());
  }
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end() ? 0 : -EALREADY;
}

int File::ReadTasks(const uapi::RocketJob& words, Job* job) {
  if (words.task_struct_size < kRocketTaskV1Bytes) return -EINVAL;
  if (!ArrayFits(words.tasks, words.task_count, words.task_struct_size)) return -EFAULT;
  job->tasks.resize(words.task_count);
  for (uint32_t t = 0; t < words.task_count; ++t) {
    uapi::RocketTask& task = job->tasks[t];
    const int copied =
        CopyElement(&task, words.tasks + uint64_t{t} * words.task_struct_size,
                    words.task_struct_size, kRocketTaskV1Bytes, Extended(npu_->options()));
    if (copied != 0) return copied;
    if (task.regcmd_count == 0) return -EINVAL;
  }
  return 0;
}

int File::ResolveHandles(uint64_t pointer, uint32_t count,
                         std::vector<std::shared_ptr<BufferObject>>* out) {
  if (!ArrayFits(pointer, count, sizeof(uint32_t))) return -EFAULT;
  std::vector<uint32_t> handles(count);
  if (!CopyFromUser(handles.data(), pointer, count * sizeof(uint32_t))) return -EFAULT;
  for (const uint32_t handle : handles) {
    out->push_back(Lookup(handle));
    if (out->back() == nullptr) return -ENOENT;
  }
  return 0;
}

}  // namespace npu::kmodel
