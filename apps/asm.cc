// SPDX-License-Identifier: Apache-2.0
// rocket-npu asm: the text of `rocket-npu dis` back to command words.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "apps/command.h"
#include "apps/words_file.h"
#include "src/regs/assembler.h"

namespace npu::apps {
namespace {

struct AsmOptions {
  std::string file;
  std::string output = "-";
  bool hex = false;
};

std::string Serialize(const std::vector<uint64_t>& words, bool hex) {
  std::string out;
  for (const uint64_t word : words) {
    if (hex) {
      out += fmt::format("{:016x}\n", word);
    } else {
      for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(word >> (8 * i) & 255));
    }
  }
  return out;
}

int RunAsm(const AsmOptions& options) {
  const Result<std::string> text = ReadText(options.file);
  if (!text.ok()) return ReportError(text.status());
  const Result<std::vector<uint64_t>> words = regs::Assemble(*text);
  if (!words.ok()) {
    ReportError(Status(words.status().code(),
                       fmt::format("{}: {}", options.file, words.status().message())));
    return kExitFailed;
  }
  const std::string bytes = Serialize(*words, options.hex);
  std::FILE* out = options.output == "-" ? stdout : std::fopen(options.output.c_str(), "wb");
  bool good = out != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size() &&
              std::fflush(out) == 0;
  if (out != nullptr && out != stdout) good = std::fclose(out) == 0 && good;
  if (good) return kExitOk;
  return ReportError(Status(ErrorCode::kIoError, fmt::format("{}: cannot write: {}", options.output,
                                                             std::strerror(errno))));
}

}  // namespace

void AddAsm(CLI::App& parent, int* exit_code) {
  auto options = std::make_shared<AsmOptions>();
  CLI::App* app = parent.add_subcommand(
      "asm",
      "Assemble the text of `dis` into command words; refuses unknown registers and fields and "
      "values wider than their field, naming the line");
  app->add_option("FILE", options->file, "Text; - is the standard input")->required();
  app->add_option("-o,--output", options->output, "Output file; - is the standard output")
      ->capture_default_str();
  app->add_flag("--hex", options->hex,
                "One word of 16 hexadecimal digits a line instead of binary little-endian u64");
  app->callback([options, exit_code] { *exit_code = RunAsm(*options); });
}

}  // namespace npu::apps
