// SPDX-License-Identifier: Apache-2.0
#include "src/base/log.h"

#include <cstdio>
#include <string>
#include <utility>

namespace npu {
namespace {

void WriteToStderr(LogLevel level, std::string_view message) {
  std::string line = "[rocket] ";
  if (level == LogLevel::kWarning) line += "warning: ";
  if (level == LogLevel::kError) line += "error: ";
  line += message;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

Logger::Logger() : sink_(WriteToStderr) {}
Logger::Logger(Sink sink, LogLevel max_level) : sink_(std::move(sink)), max_level_(max_level) {}

void Logger::Log(LogLevel level, std::string_view message) const {
  if (level <= max_level_ && sink_) sink_(level, message);
}

}  // namespace npu
