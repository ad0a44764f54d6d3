// SPDX-License-Identifier: Apache-2.0
// Provider `record`: another device whose jobs are saved as files that `rocket-npu replay` runs.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "src/base/checked.h"
#include "src/device/job_file.h"
#include "src/device/providers.h"

namespace npu::device {
namespace {

constexpr uint64_t kPage = 4096;
// Zeros shorter than this are stored rather than skipped, and equal bytes between changed ones
// checked.
constexpr size_t kMergeGap = 64;
// Outputs whose changed range is longer than this get no check (the file still replays).
constexpr uint64_t kMaxCheckBytes = uint64_t{16} << 20;

// The wrapped buffers by the addresses the caller knows.
class Wrapped {
 public:
  void Add(const Buffer* outer, Buffer* inner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    inner_[outer] = inner;
  }
  void Remove(const Buffer* outer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    inner_.erase(outer);
  }
  // Null for a pointer this device did not hand out; the inner device reports it.
  Buffer* Find(const Buffer* outer) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = inner_.find(outer);
    return it == inner_.end() ? nullptr : it->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<const Buffer*, Buffer*> inner_;
};

class RecordBuffer : public Buffer {
 public:
  RecordBuffer(std::shared_ptr<Wrapped> wrapped, std::unique_ptr<Buffer> inner)
      : wrapped_(std::move(wrapped)), inner_(std::move(inner)) {
    wrapped_->Add(this, inner_.get());
  }
  ~RecordBuffer() override { wrapped_->Remove(this); }
  uint32_t iova() const override { return inner_->iova(); }
  std::span<std::byte> bytes() const override { return inner_->bytes(); }
  Status BeginCpuAccess() override { return inner_->BeginCpuAccess(); }
  Status EndCpuAccess() override { return inner_->EndCpuAccess(); }

 private:
  std::shared_ptr<Wrapped> wrapped_;
  std::unique_ptr<Buffer> inner_;
};

// Calls f(begin, end) for runs of positions where `interesting`, joined over short gaps.
template <typename P, typename F>
void EachRun(size_t size, P&& interesting, F&& f) {
  size_t begin = size, last = 0;
  for (size_t i = 0; i < size; ++i) {
    if (!interesting(i)) continue;
    if (begin != size && i - last > kMergeGap) {
      f(begin, last + 1);
      begin = i;
    }
    if (begin == size) begin = i;
    last = i;
  }
  if (begin != size) f(begin, last + 1);
}

uint64_t AppendData(std::span<const std::byte> bytes, JobFile* file) {
  const uint64_t offset = file->data.size();
  file->data.insert(file->data.end(), bytes.begin(), bytes.end());
  return offset;
}

void SaveContents(uint32_t id, std::span<const std::byte> bytes, SubmitRecord* submit,
                  JobFile* file) {
  MemoryRecord record{.buffer = id, .fill = 0, .segments = {}};
  EachRun(
      bytes.size(), [&](size_t i) { return bytes[i] != std::byte{0}; },
      [&](size_t begin, size_t end) {
        record.segments.push_back(
            {begin, end - begin, AppendData(bytes.subspan(begin, end - begin), file)});
      });
  submit->memory.push_back(std::move(record));
}

// One exact check over the range that a job changed, padding lanes included.
void SaveCheck(const Buffer& buffer, std::span<const std::byte> before, size_t index,
               SubmitRecord* submit, JobFile* file) {
  const std::span<const std::byte> after = buffer.bytes();
  size_t begin = 0, end = after.size();
  while (begin < end && after[begin] == before[begin]) ++begin;
  while (end > begin && after[end - 1] == before[end - 1]) --end;
  if (begin == end || end - begin > kMaxCheckBytes) return;
  Check check;
  check.name = fmt::format("output {}", index);
  check.dtype = "uint8";
  check.shape = {end - begin};
  check.offset = AppendData(after.subspan(begin, end - begin), file);
  check.length = end - begin;
  check.base = buffer.iova() + static_cast<uint32_t>(begin);
  check.element_bytes = 1;
  check.axes = {{{1, 0, 1}}};
  submit->checks.push_back(std::move(check));
}

std::string_view OutcomeOf(const Status& status, const JobReport& report) {
  if (status.ok()) return "result";
  if (report.failure.starts_with("hang")) return "hang";
  if (report.failure.starts_with("fault")) return "fault_timeout";
  return "wrong_result";
}

class RecordDevice : public Device {
 public:
  RecordDevice(std::shared_ptr<Device> inner, std::filesystem::path directory,
               const OpenOptions& options)
      : inner_(std::move(inner)),
        directory_(std::move(directory)),
        limit_(options.record_limit),
        logger_(options.logger),
        info_(inner_->info()) {
    info_.description += fmt::format(", jobs saved in {}", directory_.string());
    info_.provider = "record:" + info_.provider;
  }

  const DeviceInfo& info() const override { return info_; }
  Status Ready() const override { return inner_->Ready(); }

  Result<std::unique_ptr<Buffer>> Allocate(uint64_t bytes) override {
    NPU_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> inner, inner_->Allocate(bytes));
    return std::unique_ptr<Buffer>(std::make_unique<RecordBuffer>(wrapped_, std::move(inner)));
  }

  Status Run(const Job& job, JobReport* report) override {
    JobReport local;
    JobReport& out = report == nullptr ? local : *report;
    const Job unwrapped = Unwrap(job);
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool known = std::none_of(unwrapped.inputs.begin(), unwrapped.inputs.end(), IsNull) &&
                       std::none_of(unwrapped.outputs.begin(), unwrapped.outputs.end(), IsNull);
    if (!known || saved_ >= limit_) return inner_->Run(unwrapped, &out);
    JobFile file = Before(unwrapped);
    std::vector<std::vector<std::byte>> before;
    std::vector<Buffer*> outputs;
    for (const Buffer* buffer : job.outputs) {
      outputs.push_back(wrapped_->Find(buffer));
      before.emplace_back(buffer->bytes().begin(), buffer->bytes().end());
    }
    Status status = inner_->Run(unwrapped, &out);
    // A refused job never reached the hardware: there is nothing to replay.
    if (status.code() == ErrorCode::kInvalidArgument || status.code() == ErrorCode::kUnsupported) {
      return status;
    }
    NPU_RETURN_IF_ERROR(After(outputs, before, status, out, &file));
    NoteSaved(Save(&file));
    return status;  // the job's own, also where it could not be saved
  }

  DeviceStatistics statistics() const override { return inner_->statistics(); }

 private:
  static bool IsNull(const Buffer* buffer) { return buffer == nullptr; }

  Job Unwrap(const Job& job) const {
    Job inner{.tasks = job.tasks, .inputs = {}, .outputs = {}, .chained = job.chained};
    for (const Buffer* buffer : job.inputs) inner.inputs.push_back(wrapped_->Find(buffer));
    for (const Buffer* buffer : job.outputs) inner.outputs.push_back(wrapped_->Find(buffer));
    if (job.canary.buffer != nullptr) {
      inner.canary = job.canary;
      inner.canary.buffer = wrapped_->Find(job.canary.buffer);
    }
    return inner;
  }

  // The file of a job before it runs. Ids are the positions of the buffers in the job, from 1.
  JobFile Before(const Job& job) const {
    JobFile file;
    file.chip = info_.chip;
    file.family = kRecordedFamily;
    file.title = fmt::format("job {} of {}", saved_ + 1, info_.description);
    file.evidence = info_.simulated ? "simulated" : "recorded_on_board";
    file.op_json = R"({"type":"recorded"})";
    SubmitRecord submit;
    JobRecord record;
    record.flags = job.chained ? 1 : 0;
    const auto add = [&](const Buffer* buffer, std::vector<uint32_t>* ids) {
      const auto id = static_cast<uint32_t>(file.buffers.size() + 1);
      file.buffers.push_back(
          {id, buffer->iova(), RoundUp<uint64_t>(buffer->bytes().size(), kPage)});
      ids->push_back(id);
      SaveContents(id, buffer->bytes(), &submit, &file);
    };
    for (const Buffer* buffer : job.inputs) add(buffer, &record.in);
    for (const Buffer* buffer : job.outputs) add(buffer, &record.out);
    for (const Task& task : job.tasks) record.tasks.push_back({task.regcmd, task.count, {}});
    submit.jobs.push_back(std::move(record));
    for (TaskRecord& task : submit.jobs[0].tasks) task.words = TaskWords(file, submit, task);
    file.submits.push_back(std::move(submit));
    return file;
  }

  Status After(std::span<Buffer* const> outputs, const std::vector<std::vector<std::byte>>& before,
               const Status& status, const JobReport& report, JobFile* file) const {
    file->outcome = OutcomeOf(status, report);
    if (!status.ok()) {
      file->detail = report.failure;
      return OkStatus();
    }
    file->oracle = fmt::format("what {} wrote", info_.description);
    for (size_t i = 0; i < outputs.size(); ++i) {
      NPU_RETURN_IF_ERROR(outputs[i]->BeginCpuAccess());
      SaveCheck(*outputs[i], before[i], i, &file->submits[0], file);
    }
    return OkStatus();
  }

  std::filesystem::path PathOf(const std::string& name) const {
    return directory_ / (name + ".npujob");
  }

  // Takes the next free name with an empty file: other devices, also those of other processes, may
  // save into the same directory, and what an earlier run saved stays.
  Status TakeName(JobFile* file) {
    for (;;) {
      file->name = fmt::format("job-{:06}", ++number_);
      const std::filesystem::path path = PathOf(file->name);
      if (std::FILE* taken = std::fopen(path.c_str(), "wbx")) {
        std::fclose(taken);
        return OkStatus();
      }
      if (errno != EEXIST) {
        return Status(ErrorCode::kIoError,
                      fmt::format("{}: cannot create: {}", path.string(), std::strerror(errno)));
      }
    }
  }

  Status Save(JobFile* file) {
    NPU_RETURN_IF_ERROR(TakeName(file));
    Status status = WriteSavedJob(*file, PathOf(file->name));
    std::error_code ignored;
    if (!status.ok()) std::filesystem::remove(PathOf(file->name), ignored);
    return status;
  }

  // A full disk is told once, and no failure of the device.
  void NoteSaved(const Status& status) {
    ++saved_;
    if (!status.ok()) {
      logger_.Warning(fmt::format("{}; no further job is saved", status.message()));
      saved_ = limit_;
    } else if (saved_ == limit_) {
      logger_.Warning(
          fmt::format("{} jobs saved in {}; later ones are not", saved_, directory_.string()));
    }
  }

  const std::shared_ptr<Device> inner_;
  const std::filesystem::path directory_;
  const uint32_t limit_;
  const Logger logger_;
  DeviceInfo info_;
  const std::shared_ptr<Wrapped> wrapped_ = std::make_shared<Wrapped>();
  std::mutex mutex_;     // one job at a time, so that what changed is its doing
  uint32_t saved_ = 0;   // under mutex_
  uint32_t number_ = 0;  // of the last name taken; under mutex_
};

}  // namespace

Result<std::shared_ptr<Device>> OpenRecord(std::shared_ptr<Device> inner,
                                           const std::filesystem::path& directory,
                                           const OpenOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return Status(ErrorCode::kIoError,
                  fmt::format("{}: cannot create the directory for saved jobs: {}",
                              directory.string(), error.message()));
  }
  return std::shared_ptr<Device>(
      std::make_shared<RecordDevice>(std::move(inner), directory, options));
}

}  // namespace npu::device
