// SPDX-License-Identifier: Apache-2.0
// rocket-npu dis: command lists to text or JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/command.h"
#include "apps/words_file.h"
#include "src/regs/disassembler.h"

namespace npu::apps {
namespace {

struct DisOptions {
  std::string file;
  bool json = false;
  regs::DisassembleOptions text;
};

// Names of registers, fields and values need no escapes; titles carry a file name.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string JsonWord(uint64_t word, size_t index, bool all_fields) {
  const regs::DecodedWord decoded = regs::DecodeWord(word);
  std::string out = fmt::format(R"({{"index":{},"word":"{:016x}")", index, word);
  switch (decoded.kind) {
    case regs::WordKind::kNop:
      return out + R"(,"op":"NOP"})";
    case regs::WordKind::kSync:
      return out + R"(,"op":"SYNC"})";
    case regs::WordKind::kRaw:
      return out + R"(,"op":".word"})";
    case regs::WordKind::kEnable: {
      out += R"(,"op":"ENABLE","blocks":[)";
      for (size_t i = 0; i < decoded.blocks.size(); ++i) {
        out += fmt::format("{}\"{}\"", i == 0 ? "" : ",", decoded.blocks[i]);
      }
      return out + "]}";
    }
    case regs::WordKind::kRegister:
      break;
  }
  out += fmt::format(R"(,"op":"write","register":"{}","value":{},"fields":{{)",
                     decoded.reg->full_name, decoded.value);
  bool first = true;
  for (const regs::DecodedField& field : decoded.fields) {
    if (field.value == 0 && !field.named && !all_fields) continue;
    out += fmt::format("{}\"{}\":", first ? "" : ",", field.name);
    out += field.named ? Quoted(field.text) : fmt::format("{}", field.value);
    first = false;
  }
  return out + "}}";
}

void PrintJson(const std::vector<WordList>& lists, const DisOptions& options) {
  fmt::print("{{\"format\":1,\"lists\":[");
  for (size_t l = 0; l < lists.size(); ++l) {
    fmt::print("{}{{\"title\":{},\"words\":[", l == 0 ? "" : ",", Quoted(lists[l].title));
    for (size_t i = 0; i < lists[l].words.size(); ++i) {
      fmt::print("{}\n{}", i == 0 ? "" : ",",
                 JsonWord(lists[l].words[i], i, options.text.all_fields));
    }
    fmt::print("]}}");
  }
  fmt::print("]}}\n");
}

int RunDis(const DisOptions& options) {
  const Result<std::vector<WordList>> lists = ReadWordLists(options.file);
  if (!lists.ok()) return ReportError(lists.status());
  if (options.json) {
    PrintJson(*lists, options);
    return kExitOk;
  }
  for (const WordList& list : *lists) {
    fmt::print("# {}\n{}", list.title, regs::Disassemble(list.words, options.text));
  }
  return kExitOk;
}

}  // namespace

void AddDis(CLI::App& parent, int* exit_code) {
  auto options = std::make_shared<DisOptions>();
  CLI::App* app = parent.add_subcommand(
      "dis", "Disassemble a command stream: one register a line, every field and value by name");
  app->add_option("FILE", options->file,
                  "Golden case (directory or case.json), saved job, or raw words: binary "
                  "little-endian u64, or hexadecimal text; - is the standard input")
      ->required();
  app->add_flag("--all", options->text.all_fields, "Also show numbers and flags that are 0");
  app->add_flag("!--no-words", options->text.word_comments,
                "Leave out the index and the raw word behind each line");
  app->add_flag("--json", options->json, "Print JSON (format 1) instead of text");
  app->footer("The text is what `rocket-npu asm` reads; it gives the same words back.");
  app->callback([options, exit_code] { *exit_code = RunDis(*options); });
}

}  // namespace npu::apps
