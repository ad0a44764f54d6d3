// SPDX-License-Identifier: Apache-2.0
// Job files on disk: case directories and saved jobs.
#include "src/device/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

namespace npu::device {
namespace {

constexpr size_t kHeaderBytes = 16;                    // magic, length of the JSON
constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;  // refuse before allocating

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Status IoError(const std::filesystem::path& path, std::string_view what) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIoError;
  return Status(code, fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

Status InFile(const std::filesystem::path& path, const Status& status) {
  return Status(status.code(), fmt::format("{}: {}", path.string(), status.message()),
                status.reason());
}

Result<std::vector<std::byte>> ReadAll(const std::filesystem::path& path) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) {
    errno = error.value();
    return IoError(path, "cannot read");
  }
  if (size > kMaxFileBytes) {
    return Status(ErrorCode::kCorruptData,
                  fmt::format("{}: {} bytes are too many for a job", path.string(), size));
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return IoError(path, "cannot open");
  std::vector<std::byte> bytes(size);
  if (std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
    return IoError(path, "cannot read all of it");
  }
  return bytes;
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool HasMagic(std::span<const std::byte> bytes) {
  return AsText(bytes).substr(0, kSavedJobMagic.size()) == kSavedJobMagic;
}

Result<JobFile> ReadCase(const std::filesystem::path& json_path) {
  NPU_ASSIGN_OR_RETURN(const std::vector<std::byte> json, ReadAll(json_path));
  NPU_ASSIGN_OR_RETURN(std::vector<std::byte> data, ReadAll(json_path.parent_path() / "data.bin"));
  Result<JobFile> file = ParseCase(AsText(json), std::move(data));
  if (!file.ok()) return InFile(json_path, file.status());
  return file;
}

}  // namespace

Result<JobFile> ParseSavedJob(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes || !HasMagic(bytes)) {
    return Status(ErrorCode::kCorruptData,
                  fmt::format("not a saved job (it begins with \"{}\")", kSavedJobMagic));
  }
  uint64_t length = 0;
  for (size_t i = kHeaderBytes; i-- > kSavedJobMagic.size();) {
    length = length << 8 | std::to_integer<uint64_t>(bytes[i]);
  }
  const std::span<const std::byte> rest = bytes.subspan(kHeaderBytes);
  if (length > rest.size()) {
    return Status(ErrorCode::kCorruptData,
                  fmt::format("the saved job ends early: {} bytes of JSON promised, {} left",
                              length, rest.size()));
  }
  const std::span<const std::byte> data = rest.subspan(length);
  return ParseCase(AsText(rest.first(length)), std::vector<std::byte>(data.begin(), data.end()));
}

Result<JobFile> ReadJobFile(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return ReadCase(path / "case.json");
  if (path.extension() == ".json") return ReadCase(path);
  NPU_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadAll(path));
  Result<JobFile> file = ParseSavedJob(bytes);
  if (!file.ok()) return InFile(path, file.status());
  return file;
}

bool LooksLikeJobFile(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return std::filesystem::exists(path / "case.json", error);
  }
  if (path.extension() == ".json") return true;
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return false;
  std::byte head[kSavedJobMagic.size()];
  return std::fread(head, 1, sizeof head, file.get()) == sizeof head && HasMagic(head);
}

Status WriteSavedJob(const JobFile& file, const std::filesystem::path& path) {
  NPU_ASSIGN_OR_RETURN(const std::string json, CaseJson(file));
  std::filesystem::path partial = path;
  partial += ".partial";
  {
    const File out(std::fopen(partial.c_str(), "wb"));
    if (out == nullptr) return IoError(partial, "cannot create");
    std::string header(kSavedJobMagic);
    for (size_t i = 0; i < 8; ++i) {
      header.push_back(static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * i) & 255));
    }
    const bool written =
        std::fwrite(header.data(), 1, header.size(), out.get()) == header.size() &&
        std::fwrite(json.data(), 1, json.size(), out.get()) == json.size() &&
        std::fwrite(file.data.data(), 1, file.data.size(), out.get()) == file.data.size() &&
        std::fflush(out.get()) == 0;
    if (!written) return IoError(partial, "cannot write");
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) return IoError(path, "cannot rename to");
  return OkStatus();
}

std::vector<uint64_t> TaskWords(const JobFile& file, const SubmitRecord& submit,
                                const TaskRecord& task) {
  if (!task.words.empty()) return task.words;
  const uint64_t length = uint64_t{task.count} * 8;
  const JobBuffer* buffer = file.FindRange(task.regcmd, length);
  if (buffer == nullptr) return {};
  std::vector<std::byte> bytes(length, std::byte{0});
  const uint64_t begin = task.regcmd - buffer->iova;
  for (const MemoryRecord& record : submit.memory) {
    if (record.buffer != buffer->id) continue;
    std::fill(bytes.begin(), bytes.end(), std::byte{record.fill});
    for (const MemorySegment& s : record.segments) {
      for (uint64_t i = 0; i < s.length; ++i) {
        const uint64_t at = s.offset + i;
        if (at >= begin && at - begin < length) bytes[at - begin] = file.data[s.data_offset + i];
      }
    }
  }
  std::vector<uint64_t> words(task.count, 0);
  for (uint64_t i = length; i-- > 0;) {
    words[i / 8] = words[i / 8] << 8 | std::to_integer<uint64_t>(bytes[i]);
  }
  return words;
}

}  // namespace npu::device
