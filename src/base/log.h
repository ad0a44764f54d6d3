// SPDX-License-Identifier: Apache-2.0
// One log sink per context. Nothing is printed at info level per inference, and nothing on stdout:
// the host application owns the terminal.
#ifndef SRC_BASE_LOG_H_
#define SRC_BASE_LOG_H_

#include <functional>
#include <string_view>

namespace npu {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// Thread-safe if the sink is. The default sink writes "[rocket] <message>\n" to stderr.
class Logger {
 public:
  using Sink = std::function<void(LogLevel, std::string_view)>;

  Logger();
  explicit Logger(Sink sink, LogLevel max_level = LogLevel::kInfo);

  void Log(LogLevel level, std::string_view message) const;
  void Error(std::string_view message) const { Log(LogLevel::kError, message); }
  void Warning(std::string_view message) const { Log(LogLevel::kWarning, message); }
  void Info(std::string_view message) const { Log(LogLevel::kInfo, message); }
  void Debug(std::string_view message) const { Log(LogLevel::kDebug, message); }
  void set_max_level(LogLevel level) { max_level_ = level; }

 private:
  Sink sink_;
  LogLevel max_level_ = LogLevel::kInfo;
};

}  // namespace npu

#endif  // SRC_BASE_LOG_H_
