// SPDX-License-Identifier: Apache-2.0
// Jobs as files: golden cases (a directory with case.json and data.bin) and saved jobs (one file).
// Both hold the same things: buffers at device addresses, submissions with their memory contents,
// jobs of command lists, and what must be found in memory afterwards. Everything read is checked:
// ranges inside the data and the buffers, sizes, counts. Source: golden/README.md section 1.
//
// A saved job is: 8 bytes kSavedJobMagic, u64 little-endian length of the JSON, the JSON of a
// golden case, its data bytes.
#ifndef SRC_DEVICE_JOB_FILE_H_
#define SRC_DEVICE_JOB_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/status.h"

namespace npu::device {

inline constexpr std::string_view kSavedJobMagic = "NPUJOB01";
// Family of the jobs that the provider `record` saves.
inline constexpr std::string_view kRecordedFamily = "recorded";
// A file whose buffers together are larger is refused (nobody has to allocate what it names).
inline constexpr uint64_t kMaxJobFileBufferBytes = uint64_t{2} << 30;

// A logical operand, row-major in `data`; for tests of encoders, not needed to run the job.
struct JobOperand {
  std::string name, dtype;
  std::vector<uint64_t> shape;
  uint64_t offset = 0, length = 0;  // bytes of JobFile::data
};

struct JobBuffer {
  uint32_t id = 0;
  uint32_t iova = 0;  // multiple of 4096
  uint64_t size = 0;  // multiple of 4096; iova + size <= 4 GiB; buffers do not overlap
};

// Bytes [data_offset, +length) of JobFile::data go to [offset, +length) of the buffer.
struct MemorySegment {
  uint64_t offset = 0, length = 0, data_offset = 0;
};

// The whole contents of one buffer before a submission: `fill` everywhere, then the segments.
struct MemoryRecord {
  uint32_t buffer = 0;  // id
  uint8_t fill = 0;
  std::vector<MemorySegment> segments;
};

struct TaskRecord {
  uint32_t regcmd = 0;          // bus address; may be unmapped in negative cases
  uint32_t count = 0;           // 64-bit words given to the kernel, >= 1
  std::vector<uint64_t> words;  // the same words, or empty
};

struct JobRecord {
  uint32_t flags = 0;             // bit 0: one kick for all tasks, linked by their trailers
  std::vector<uint32_t> in, out;  // buffer ids; not all need to be listed in `buffers`
  std::vector<TaskRecord> tasks;  // at least one
  bool batched() const { return (flags & 1u) != 0; }
};

enum class ToleranceKind : uint8_t { kExact, kAbs, kRel, kAbsRel };
struct Tolerance {
  ToleranceKind kind = ToleranceKind::kExact;
  double abs = 0, rel = 0;
};

// Part of an element's address: ((index / div) % mod) * stride, no modulo where mod is 0.
struct AxisTerm {
  uint64_t div = 1, mod = 0, stride = 0;
};

struct Check {
  std::string name, dtype;
  std::vector<uint64_t> shape;
  uint64_t offset = 0, length = 0;  // expected elements, row-major, in JobFile::data
  Tolerance tolerance;
  uint32_t base = 0;
  uint32_t element_bytes = 0;
  std::vector<std::vector<AxisTerm>> axes;  // one list a dimension; empty when `table` is used
  struct Table {
    uint64_t offset = 0, length = 0;  // u32 per element in JobFile::data
  };
  std::optional<Table> table;
  uint64_t elements() const { return element_bytes == 0 ? 0 : length / element_bytes; }
};

struct UntouchedRange {
  uint32_t iova = 0;
  uint64_t length = 0;
};

struct SubmitRecord {
  std::vector<MemoryRecord> memory;
  std::vector<JobRecord> jobs;
  std::vector<Check> checks;
  std::vector<UntouchedRange> untouched;
};

struct JobFile {
  std::string name, chip, family, title;
  std::string outcome = "result";  // or a negative outcome of golden/README.md section 6
  std::string evidence, oracle, detail;
  std::string op_json = R"({"type":"unknown"})";  // the "op" object as JSON text
  std::vector<JobOperand> operands;
  std::vector<JobBuffer> buffers;
  std::vector<SubmitRecord> submits;
  std::vector<std::byte> data;

  bool negative() const { return outcome != "result"; }
  const JobBuffer* FindBuffer(uint32_t id) const;
  // The buffer that holds all of [iova, iova + length); null if none.
  const JobBuffer* FindRange(uint64_t iova, uint64_t length) const;
  // Bytes of `data`; the range must have been validated.
  std::span<const std::byte> Bytes(uint64_t offset, uint64_t length) const {
    return std::span<const std::byte>(data).subspan(offset, length);
  }
};

// Size of an element of a check or operand ("int8", "fp16" ...); 0 for an unknown name.
uint32_t DtypeBytes(std::string_view dtype);

// Reads `path`: a case directory, its case.json, or a saved job. kNotFound, kIoError, kCorruptData
// with a message that names the file and the place in the JSON.
Result<JobFile> ReadJobFile(const std::filesystem::path& path);
// True if the path looks like one of the three (directory with case.json, *.json, the magic).
bool LooksLikeJobFile(const std::filesystem::path& path);

// From the parts: the JSON text of a case and its data, or the bytes of a saved job.
Result<JobFile> ParseCase(std::string_view json, std::vector<std::byte> data);
Result<JobFile> ParseSavedJob(std::span<const std::byte> bytes);

// The JSON text of a case. Fails (kCorruptData) exactly where ParseCase would.
Result<std::string> CaseJson(const JobFile& file);
// Writes a saved job (the file appears whole or not at all).
Status WriteSavedJob(const JobFile& file, const std::filesystem::path& path);

// Every size, offset, range and reference of the file; called by all readers and writers.
Status ValidateJobFile(const JobFile& file);

// Byte offset of every element of a validated check, relative to check.base, row-major.
std::vector<uint64_t> ElementOffsets(const JobFile& file, const Check& check);

// The words of a task: task.words, else what the submission's memory records put at regcmd. Empty
// if the list is not in memory.
std::vector<uint64_t> TaskWords(const JobFile& file, const SubmitRecord& submit,
                                const TaskRecord& task);

}  // namespace npu::device

#endif  // SRC_DEVICE_JOB_FILE_H_
