// SPDX-License-Identifier: Apache-2.0
// Command lists read from any of the files that may hold them.
#ifndef APPS_WORDS_FILE_H_
#define APPS_WORDS_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "npu/status.h"

namespace npu::apps {

struct WordList {
  std::string title;  // "submit 0 job 0 task 1: 126 words at 0x0A0003F0", or the file's name
  std::vector<uint64_t> words;
};

// A golden case, a saved job, or raw words: binary (little-endian u64) or hexadecimal text (16
// digits a word, an optional 0x, '#' comments). Tasks whose list is not in memory have no words.
Result<std::vector<WordList>> ReadWordLists(const std::filesystem::path& path);

// A whole file as text; "-" is the standard input.
Result<std::string> ReadText(const std::filesystem::path& path);

}  // namespace npu::apps

#endif  // APPS_WORDS_FILE_H_
