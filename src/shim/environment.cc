// SPDX-License-Identifier: Apache-2.0
#include "src/shim/environment.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace npu::shim {
namespace {

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Stores a decimal number in *out if the variable is set.
template <typename T>
void ReadNumber(const char* name, T* out, std::string* error) {
  const std::string_view text = Variable(name);
  if (text.empty()) return;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (code != std::errc() || end != text.data() + text.size()) {
    *error = fmt::format("{}={} is not a number in range", name, text);
  }
}

template <typename T>
void ReadParsed(const char* name, Result<T> (*parse)(std::string_view), T* out,
                std::string* error) {
  if (Variable(name).empty()) return;
  Result<T> parsed = parse(Variable(name));
  if (parsed.ok()) {
    *out = std::move(parsed).value();
  } else {
    *error = fmt::format("{}={}: {}", name, Variable(name), parsed.status().message());
  }
}

void ReadAbort(Config* config) {
  std::string_view text = Variable("ROCKET_NODE_ABORT");
  if (text.empty()) return;
  config->abort_on_oops = text == "oops" || text == "all";
  config->abort_on_finding = text == "findings" || text == "all";
  if (text != "oops" && text != "findings" && text != "all" && text != "none") {
    config->error = fmt::format("ROCKET_NODE_ABORT={} is none of oops, findings, all, none", text);
  }
}

void ReadPath(Config* config) {
  const std::string_view text = Variable("ROCKET_NODE_SIM");
  if (text == "clear") config->npu.path = sim::Path::kClear;
  if (text != "clear" && text != "fast" && !text.empty()) {
    config->error = fmt::format("ROCKET_NODE_SIM={} is neither fast nor clear", text);
  }
}

}  // namespace

Config ReadEnvironment() {
  Config config;
  kmodel::Options& npu = config.npu;
  npu.threads = 0;  // all of the machine's
  if (!Variable("ROCKET_NODE_CHIP").empty()) npu.chip = Variable("ROCKET_NODE_CHIP");
  if (!Variable("ROCKET_NODE_PATH").empty()) config.node = Variable("ROCKET_NODE_PATH");
  config.log_path = Variable("ROCKET_NODE_LOG");
  config.quiet = config.log_path == "none";
  std::string* const error = &config.error;
  ReadParsed("ROCKET_NODE_VERSION", kmodel::ParseVersion, &npu.version, error);
  ReadParsed("ROCKET_NODE_STRICT", kmodel::ParseStrict, &npu.strict, error);
  ReadParsed("ROCKET_NODE_FAULT", kmodel::ParseFaults, &npu.faults, error);
  ReadNumber("ROCKET_NODE_CORES", &npu.cores, error);
  ReadNumber("ROCKET_NODE_TIMEOUT_MS", &npu.timeout_ms, error);
  ReadNumber("ROCKET_NODE_HANG_MS", &npu.hang_ms, error);
  ReadNumber("ROCKET_NODE_AUTOSUSPEND_MS", &npu.autosuspend_ms, error);
  ReadNumber("ROCKET_NODE_THREADS", &npu.threads, error);
  ReadNumber("ROCKET_NODE_SEED", &npu.seed, error);
  int batch = 1, ppu = 0;
  ReadNumber("ROCKET_NODE_BATCH", &batch, error);
  npu.batch_submit = batch != 0;
  ReadNumber("ROCKET_NODE_PPU", &ppu, error);
  npu.assume.ppu_raises_dpu_interrupt = ppu != 0;
  ReadPath(&config);
  ReadAbort(&config);
  return config;
}

}  // namespace npu::shim
