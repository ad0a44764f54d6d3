// SPDX-License-Identifier: Apache-2.0
#include "apps/words_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "src/device/job_file.h"

namespace npu::apps {
namespace {

std::optional<uint64_t> HexWord(std::string_view token) {
  if (token.starts_with("0x") || token.starts_with("0X")) token.remove_prefix(2);
  uint64_t word = 0;
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, word, 16);
  if (token.empty() || token.size() > 16 || stop != end || error != std::errc())
    return std::nullopt;
  return word;
}

// The words of a hexadecimal text; nullopt when it is something else.
std::optional<std::vector<uint64_t>> ParseHexText(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n,";
  std::vector<uint64_t> words;
  while (!text.empty()) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, line_end);
    text.remove_prefix(std::min(line_end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;
         at = line.find_first_not_of(kBlanks, at)) {
      const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      const std::optional<uint64_t> word = HexWord(line.substr(at, end - at));
      if (!word) return std::nullopt;
      words.push_back(*word);
      at = end;
    }
  }
  return words;
}

Result<std::vector<uint64_t>> ParseRaw(const std::string& content) {
  if (content.empty()) return Status(ErrorCode::kCorruptData, "the file is empty");
  if (std::optional<std::vector<uint64_t>> words = ParseHexText(content)) return *std::move(words);
  if (content.size() % 8 != 0) {
    return Status(
        ErrorCode::kCorruptData,
        fmt::format("neither hexadecimal words nor whole 64-bit words ({} bytes)", content.size()));
  }
  std::vector<uint64_t> words(content.size() / 8, 0);
  for (size_t i = content.size(); i-- > 0;) {
    words[i / 8] = words[i / 8] << 8 | static_cast<unsigned char>(content[i]);
  }
  return words;
}

std::vector<WordList> ListsOf(const device::JobFile& file) {
  std::vector<WordList> lists;
  for (size_t s = 0; s < file.submits.size(); ++s) {
    const device::SubmitRecord& submit = file.submits[s];
    for (size_t j = 0; j < submit.jobs.size(); ++j) {
      for (size_t t = 0; t < submit.jobs[j].tasks.size(); ++t) {
        const device::TaskRecord& task = submit.jobs[j].tasks[t];
        WordList list{.title = {}, .words = device::TaskWords(file, submit, task)};
        list.title =
            fmt::format("submit {} job {} task {}: {} words at 0x{:08X}{}", s, j, t, task.count,
                        task.regcmd, list.words.empty() ? ", not in memory" : "");
        lists.push_back(std::move(list));
      }
    }
  }
  return lists;
}

}  // namespace

Result<std::string> ReadText(const std::filesystem::path& path) {
  const auto close = [](std::FILE* f) {
    if (f != stdin) std::fclose(f);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  std::string text;
  if (file != nullptr) {
    char chunk[65536];
    for (size_t n; (n = std::fread(chunk, 1, sizeof chunk, file.get())) > 0;) text.append(chunk, n);
    if (std::ferror(file.get()) == 0) return text;
  }
  return Status(ErrorCode::kIoError,
                fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
}

Result<std::vector<WordList>> ReadWordLists(const std::filesystem::path& path) {
  if (path != "-" && device::LooksLikeJobFile(path)) {
    NPU_ASSIGN_OR_RETURN(const device::JobFile file, device::ReadJobFile(path));
    return ListsOf(file);
  }
  NPU_ASSIGN_OR_RETURN(const std::string content, ReadText(path));
  const Result<std::vector<uint64_t>> words = ParseRaw(content);
  if (!words.ok()) {
    return Status(words.status().code(),
                  fmt::format("{}: {}", path.string(), words.status().message()));
  }
  std::vector<WordList> lists;
  lists.push_back({fmt::format("{}: {} words", path.filename().string(), words->size()), *words});
  return lists;
}

}  // namespace npu::apps
