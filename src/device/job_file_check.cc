// SPDX-License-Identifier: Apache-2.0
// Every size, offset, range and reference of a job file.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/checked.h"
#include "src/device/job_file.h"

namespace npu::device {
namespace {

constexpr uint64_t kAddressSpace = uint64_t{1} << 32;
constexpr uint64_t kPage = 4096;
// Eight times what the fetcher can be given; bounds what readers of lists allocate.
constexpr uint32_t kMaxWords = 1u << 20;

template <typename... Args>
Status Corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return Status(ErrorCode::kCorruptData, fmt::format(format, std::forward<Args>(args)...));
}

// offset + length <= size, without overflow.
bool Inside(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

std::optional<uint64_t> Product(const std::vector<uint64_t>& shape) {
  uint64_t n = 1;
  for (const uint64_t extent : shape) {
    const std::optional<uint64_t> next = CheckedMul(n, extent);
    if (!next) return std::nullopt;
    n = *next;
  }
  return n;
}

Status CheckShape(std::string_view what, std::string_view dtype, const std::vector<uint64_t>& shape,
                  uint64_t offset, uint64_t length, const JobFile& file) {
  const uint32_t bytes = DtypeBytes(dtype);
  if (bytes == 0) return Corrupt("{}: unknown dtype \"{}\"", what, dtype);
  if (std::find(shape.begin(), shape.end(), uint64_t{0}) != shape.end()) {
    return Corrupt("{}: a dimension is 0", what);
  }
  const std::optional<uint64_t> count = Product(shape);
  const std::optional<uint64_t> size = count ? CheckedMul<uint64_t>(*count, bytes) : std::nullopt;
  if (!size || *size != length) return Corrupt("{}: {} bytes do not fill its shape", what, length);
  if (!Inside(offset, length, file.data.size())) {
    return Corrupt("{}: bytes {}+{} are outside the data ({} bytes)", what, offset, length,
                   file.data.size());
  }
  return OkStatus();
}

Status CheckBuffers(const JobFile& file) {
  std::vector<JobBuffer> sorted = file.buffers;
  std::sort(sorted.begin(), sorted.end(),
            [](const JobBuffer& a, const JobBuffer& b) { return a.iova < b.iova; });
  std::set<uint32_t> ids;
  uint64_t end = 0, total = 0;
  for (const JobBuffer& b : sorted) {
    if (b.size == 0 || b.size % kPage != 0 || b.iova % kPage != 0 ||
        !Inside(b.iova, b.size, kAddressSpace)) {
      return Corrupt("buffer {}: address {:#x} or size {} is not of whole pages below 4 GiB", b.id,
                     b.iova, b.size);
    }
    if (b.iova < end) return Corrupt("buffer {} at {:#x} overlaps another", b.id, b.iova);
    if (!ids.insert(b.id).second) return Corrupt("buffer id {} appears twice", b.id);
    end = b.iova + b.size;
    total += b.size;
  }
  if (total > kMaxJobFileBufferBytes) {
    return Corrupt("the buffers together have {} bytes, more than {}", total,
                   kMaxJobFileBufferBytes);
  }
  return OkStatus();
}

Status CheckMemory(const JobFile& file, const MemoryRecord& record, size_t submit) {
  const JobBuffer* buffer = file.FindBuffer(record.buffer);
  if (buffer == nullptr) {
    return Corrupt("submit {}: memory record of unknown buffer {}", submit, record.buffer);
  }
  for (const MemorySegment& s : record.segments) {
    if (!Inside(s.offset, s.length, buffer->size)) {
      return Corrupt("submit {}: segment {}+{} is outside buffer {} ({} bytes)", submit, s.offset,
                     s.length, record.buffer, buffer->size);
    }
    if (!Inside(s.data_offset, s.length, file.data.size())) {
      return Corrupt("submit {}: segment bytes {}+{} are outside the data ({} bytes)", submit,
                     s.data_offset, s.length, file.data.size());
    }
  }
  return OkStatus();
}

Status CheckJobs(const SubmitRecord& submit, size_t index) {
  for (size_t j = 0; j < submit.jobs.size(); ++j) {
    const JobRecord& job = submit.jobs[j];
    if (job.tasks.empty()) return Corrupt("submit {} job {}: no task", index, j);
    for (size_t t = 0; t < job.tasks.size(); ++t) {
      const TaskRecord& task = job.tasks[t];
      if (task.count == 0) return Corrupt("submit {} job {} task {}: count 0", index, j, t);
      if (task.count > kMaxWords) {
        return Corrupt("submit {} job {} task {}: no list has {} words", index, j, t, task.count);
      }
      if (!task.words.empty() && task.words.size() != task.count) {
        return Corrupt("submit {} job {} task {}: {} words, count {}", index, j, t,
                       task.words.size(), task.count);
      }
    }
  }
  return OkStatus();
}

// Largest offset an axis of this extent can produce, which bounds the sum before any is computed.
std::optional<uint64_t> LargestAxisOffset(uint64_t extent, const std::vector<AxisTerm>& terms) {
  uint64_t sum = 0;
  for (const AxisTerm& t : terms) {
    if (t.div == 0) return std::nullopt;
    const uint64_t last = extent == 0 ? 0 : (extent - 1) / t.div;
    const uint64_t index = t.mod == 0 ? last : std::min(last, t.mod - 1);
    const std::optional<uint64_t> product = CheckedMul(index, t.stride);
    const std::optional<uint64_t> next = product ? CheckedAdd(sum, *product) : std::nullopt;
    if (!next || *next > kAddressSpace) return std::nullopt;
    sum = *next;
  }
  return sum;
}

Status CheckAddresses(const JobFile& file, const Check& check) {
  if (check.table) {
    if (check.table->length != 4 * check.elements() ||
        !Inside(check.table->offset, check.table->length, file.data.size())) {
      return Corrupt("check \"{}\": the offset table does not fit", check.name);
    }
  } else {
    if (check.axes.size() != check.shape.size()) {
      return Corrupt("check \"{}\": {} axes for {} dimensions", check.name, check.axes.size(),
                     check.shape.size());
    }
    uint64_t largest = 0;
    for (size_t i = 0; i < check.axes.size(); ++i) {
      const std::optional<uint64_t> axis = LargestAxisOffset(check.shape[i], check.axes[i]);
      if (!axis) return Corrupt("check \"{}\": axis {} leaves the address space", check.name, i);
      largest += *axis;  // <= dimensions * 4 GiB
    }
    if (largest > kAddressSpace)
      return Corrupt("check \"{}\" leaves the address space", check.name);
  }
  const JobBuffer* last = nullptr;  // elements of a check mostly lie in one buffer
  for (const uint64_t offset : ElementOffsets(file, check)) {
    const uint64_t at = check.base + offset;
    if (last != nullptr && at >= last->iova &&
        at + check.element_bytes <= last->iova + last->size) {
      continue;
    }
    last = file.FindRange(at, check.element_bytes);
    if (last == nullptr) {
      return Corrupt("check \"{}\": address {:#x} is in no buffer", check.name, at);
    }
  }
  return OkStatus();
}

Status CheckExpectation(const JobFile& file, const Check& check, size_t submit) {
  NPU_RETURN_IF_ERROR(CheckShape(fmt::format("submit {} check \"{}\"", submit, check.name),
                                 check.dtype, check.shape, check.offset, check.length, file));
  if (check.element_bytes != DtypeBytes(check.dtype)) {
    return Corrupt("check \"{}\": element_bytes {} is not the size of {}", check.name,
                   check.element_bytes, check.dtype);
  }
  return CheckAddresses(file, check);
}

Status CheckSubmit(const JobFile& file, const SubmitRecord& submit, size_t index) {
  for (const MemoryRecord& record : submit.memory) {
    NPU_RETURN_IF_ERROR(CheckMemory(file, record, index));
  }
  NPU_RETURN_IF_ERROR(CheckJobs(submit, index));
  for (const Check& check : submit.checks) {
    NPU_RETURN_IF_ERROR(CheckExpectation(file, check, index));
  }
  for (const UntouchedRange& range : submit.untouched) {
    if (file.FindRange(range.iova, range.length) == nullptr) {
      return Corrupt("submit {}: untouched range {:#x}+{} is in no buffer", index, range.iova,
                     range.length);
    }
  }
  return OkStatus();
}

}  // namespace

uint32_t DtypeBytes(std::string_view dtype) {
  if (dtype == "int8" || dtype == "uint8" || dtype == "int4_in_int8") return 1;
  if (dtype == "int16" || dtype == "fp16" || dtype == "bf16") return 2;
  if (dtype == "int32" || dtype == "fp32") return 4;
  return 0;
}

const JobBuffer* JobFile::FindBuffer(uint32_t id) const {
  const auto it =
      std::find_if(buffers.begin(), buffers.end(), [id](const JobBuffer& b) { return b.id == id; });
  return it == buffers.end() ? nullptr : &*it;
}

const JobBuffer* JobFile::FindRange(uint64_t iova, uint64_t length) const {
  const auto it = std::find_if(buffers.begin(), buffers.end(), [&](const JobBuffer& b) {
    return iova >= b.iova && Inside(iova - b.iova, length, b.size);
  });
  return it == buffers.end() ? nullptr : &*it;
}

Status ValidateJobFile(const JobFile& file) {
  if (file.submits.empty()) return Corrupt("the file has no submission");
  for (const JobOperand& operand : file.operands) {
    NPU_RETURN_IF_ERROR(CheckShape(fmt::format("operand \"{}\"", operand.name), operand.dtype,
                                   operand.shape, operand.offset, operand.length, file));
  }
  NPU_RETURN_IF_ERROR(CheckBuffers(file));
  for (size_t i = 0; i < file.submits.size(); ++i) {
    NPU_RETURN_IF_ERROR(CheckSubmit(file, file.submits[i], i));
  }
  return OkStatus();
}

std::vector<uint64_t> ElementOffsets(const JobFile& file, const Check& check) {
  std::vector<uint64_t> offsets;
  if (check.table) {
    const std::span<const std::byte> raw = file.Bytes(check.table->offset, check.table->length);
    for (size_t i = 0; i + 4 <= raw.size(); i += 4) {
      uint32_t v = 0;
      for (size_t k = 4; k-- > 0;) v = v << 8 | std::to_integer<uint32_t>(raw[i + k]);
      offsets.push_back(v);
    }
    return offsets;
  }
  offsets.push_back(0);
  for (size_t axis = 0; axis < check.axes.size(); ++axis) {
    std::vector<uint64_t> next;
    next.reserve(offsets.size() * check.shape[axis]);
    for (const uint64_t offset : offsets) {
      for (uint64_t i = 0; i < check.shape[axis]; ++i) {
        uint64_t at = offset;
        for (const AxisTerm& t : check.axes[axis]) {
          const uint64_t q = i / t.div;
          at += (t.mod == 0 ? q : q % t.mod) * t.stride;
        }
        next.push_back(at);
      }
    }
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace npu::device
