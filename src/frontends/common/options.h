// SPDX-License-Identifier: Apache-2.0
// The options every frontend takes: one typed struct, and one table that drives parsing, the
// environment mirrors, the help text and the documentation (tflite-delegate 5.3, 5.4).
#ifndef SRC_FRONTENDS_COMMON_OPTIONS_H_
#define SRC_FRONTENDS_COMMON_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/status.h"
#include "src/plan/compile.h"

namespace npu::frontends {

enum class DeviceChoice : uint8_t { kAuto, kRocket, kRknpu, kSim, kNull, kNone };
enum class OnNoDevice : uint8_t { kDecline, kFail };
enum class Verify : uint8_t { kOff, kFirst };
enum class Claim : uint8_t { kAuto, kAll };
enum class Chain : uint8_t { kAuto, kOn, kOff };

struct Options {
  DeviceChoice device = DeviceChoice::kAuto;
  std::string device_path;    // the kernel driver's node; empty: found by the driver's name
  std::string chip = "auto";  // "auto": the device's own
  OnNoDevice on_no_device = OnNoDevice::kDecline;
  plan::Requant requant = plan::Requant::kChip;
  Verify verify = Verify::kFirst;
  std::string explain;  // file to write; empty: none
  std::string profile;  // "": off, "1": to stderr, otherwise a file
  int32_t threads = 0;  // 0: one for each CPU
  Claim claim = Claim::kAuto;
  Chain chain = Chain::kAuto;
  bool quiet = false;
  bool strict = false;
  std::string record;  // folder for saved jobs; empty: none
};

// One row of the table. `set` changes `options` and returns true, or leaves them alone and returns
// false for a value outside `values`.
struct OptionRow {
  std::string_view key;
  std::string values;  // "auto|rocket|sim", "0..64", "FILE"
  std::string_view help;
  bool (*set)(std::string_view value, Options* options);
  std::string (*get)(const Options& options);
};

// All options, in the order people read them.
std::span<const OptionRow> OptionTable();

// A name of an earlier delegate. With `replacement` its value is read as that option's; otherwise
// `answer` says what became of it.
struct OldOption {
  std::string_view key;
  std::string_view replacement;
  std::string_view answer;
};

// All names that earlier delegates had and this one has not.
std::span<const OldOption> OldOptions();

struct KeyValue {
  std::string key;
  std::string value;
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> warnings;  // each names key, value and what to do
};

// Reads one variable; null when it is not set.
using EnvironmentReader = std::function<const char*(const char* name)>;

// The process's environment. Only this library reads it.
const char* ReadProcessEnvironment(const char* name);

// "ROCKET_NUMERICS_REQUANT" for "numerics.requant".
std::string EnvironmentName(std::string_view key);

// The environment first, then `pairs` over it, the last of equal keys winning. The value "None"
// (what Python makes of None) leaves an option alone. Unknown keys and values that are not allowed
// keep the default and warn; under `strict` they are kInvalidArgument.
Result<ParsedOptions> ParseOptions(std::span<const KeyValue> pairs,
                                   const EnvironmentReader& environment);

// 1/0, true/false, yes/no, on/off in any case; nothing else.
bool ParseBool(std::string_view text, bool* value);

// Key and effective value of every option, in the table's order.
std::vector<KeyValue> EffectiveOptions(const Options& options);

// The table for a terminal, and as Markdown.
std::string OptionsHelp();
std::string OptionsMarkdown();

}  // namespace npu::frontends

#endif  // SRC_FRONTENDS_COMMON_OPTIONS_H_
