// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/common/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "src/chip/profile.h"

namespace npu::frontends {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Enumerators are numbered in the order of `names`, which is a row's `values` text.
std::optional<size_t> IndexIn(std::string_view names, std::string_view value) {
  for (size_t index = 0;; ++index) {
    const size_t bar = names.find('|');
    if (names.substr(0, bar) == value) return index;
    if (bar == std::string_view::npos) return std::nullopt;
    names.remove_prefix(bar + 1);
  }
}

std::string NameAt(std::string_view names, size_t index) {
  for (; index > 0; --index) names.remove_prefix(names.find('|') + 1);
  return std::string(names.substr(0, names.find('|')));
}

template <typename E>
bool SetEnum(std::string_view names, std::string_view value, E* out) {
  const auto index = IndexIn(names, value);
  if (index) *out = static_cast<E>(*index);
  return index.has_value();
}

template <typename E>
std::string GetEnum(std::string_view names, E value) {
  return NameAt(names, static_cast<size_t>(value));
}

bool SetThreads(std::string_view value, Options* options) {
  int32_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < 0 || n > 64) return false;
  options->threads = n;
  return true;
}

bool SetPath(std::string_view value, std::string* out) {
  *out = value;
  return true;
}

// A bool or a file name.
bool SetProfile(std::string_view value, Options* options) {
  bool on = false;
  if (value.empty()) return false;
  if (ParseBool(value, &on)) {
    options->profile.assign(on ? 1U : 0U, '1');
  } else {
    options->profile = value;
  }
  return true;
}

constexpr std::string_view kDevices = "auto|rocket|rknpu|sim|null|none";
constexpr std::string_view kOnNoDevice = "decline|fail";
constexpr std::string_view kRequant = "chip|exact";
constexpr std::string_view kVerify = "off|first";
constexpr std::string_view kClaim = "auto|all";
constexpr std::string_view kChain = "auto|on|off";
constexpr std::string_view kBool = "0|1";

std::string BoolText(bool value) { return value ? "1" : "0"; }

// "auto" and every chip there is data for.
std::string ChipValues() {
  std::string values = "auto";
  for (const chip::Profile* profile : chip::AllChips()) values += fmt::format("|{}", profile->name);
  return values;
}

bool SetChip(std::string_view value, Options* options) {
  if (value != "auto" && chip::FindChip(value) == nullptr) return false;
  options->chip = value;
  return true;
}

std::vector<OptionRow> MakeTable() {
  return {
      OptionRow{
          "device", std::string(kDevices),
          "where NPU work runs: a board's kernel driver, the simulator, a device that computes "
          "nothing (null), or nowhere (none)",
          [](std::string_view v, Options* o) { return SetEnum(kDevices, v, &o->device); },
          [](const Options& o) { return GetEnum(kDevices, o.device); }},
      OptionRow{
          "device.path", "FILE",
          "the NPU's device node; by default the one whose driver is rocket, whatever its number",
          [](std::string_view v, Options* o) { return SetPath(v, &o->device_path); },
          [](const Options& o) { return o.device_path; }},
      OptionRow{"chip", ChipValues(), "the NPU to compile for; auto asks the device", SetChip,
                [](const Options& o) { return o.chip; }},
      OptionRow{
          "on_no_device", std::string(kOnNoDevice),
          "without a usable device: claim nothing, or refuse to load",
          [](std::string_view v, Options* o) { return SetEnum(kOnNoDevice, v, &o->on_no_device); },
          [](const Options& o) { return GetEnum(kOnNoDevice, o.on_no_device); }},
      OptionRow{
          "numerics.requant", std::string(kRequant),
          "how layers return to 8 bits: on the NPU, at most one count a layer from the reference "
          "kernels (chip), or on the host, identical to them and slower (exact)",
          [](std::string_view v, Options* o) { return SetEnum(kRequant, v, &o->requant); },
          [](const Options& o) { return GetEnum(kRequant, o.requant); }},
      OptionRow{"verify", std::string(kVerify),
                "recompute every NPU step of the first inference on the host and compare; on a "
                "mismatch the partition stays on the host",
                [](std::string_view v, Options* o) { return SetEnum(kVerify, v, &o->verify); },
                [](const Options& o) { return GetEnum(kVerify, o.verify); }},
      OptionRow{"explain", "FILE", "write what ran where, and why, as JSON",
                [](std::string_view v, Options* o) { return SetPath(v, &o->explain); },
                [](const Options& o) { return o.explain; }},
      OptionRow{
          "profile", "0|1|FILE",
          "times of each partition when the interpreter ends: to stderr, or appended to a file "
          "as JSON lines",
          SetProfile, [](const Options& o) { return o.profile.empty() ? "0" : o.profile; }},
      OptionRow{"threads", "0..64", "CPU threads of the simulated NPU; 0 is one for each CPU",
                SetThreads, [](const Options& o) { return std::to_string(o.threads); }},
      OptionRow{"claim", std::string(kClaim),
                "claim partitions that pay (auto), or everything that can run (all, for tests)",
                [](std::string_view v, Options* o) { return SetEnum(kClaim, v, &o->claim); },
                [](const Options& o) { return GetEnum(kClaim, o.claim); }},
      OptionRow{"chain", std::string(kChain),
                "start all tasks of a submit at once: where the kernel allows it and the device "
                "proved it (auto), also on the simulated NPU (on), or never (off)",
                [](std::string_view v, Options* o) { return SetEnum(kChain, v, &o->chain); },
                [](const Options& o) { return GetEnum(kChain, o.chain); }},
      OptionRow{"quiet", std::string(kBool), "no summary line",
                [](std::string_view v, Options* o) { return ParseBool(v, &o->quiet); },
                [](const Options& o) { return BoolText(o.quiet); }},
      OptionRow{"strict", std::string(kBool),
                "unknown options and values that are not allowed are errors",
                [](std::string_view v, Options* o) { return ParseBool(v, &o->strict); },
                [](const Options& o) { return BoolText(o.strict); }},
      OptionRow{"record", "FOLDER", "save every NPU job as a file that `rocket-npu replay` runs",
                [](std::string_view v, Options* o) { return SetPath(v, &o->record); },
                [](const Options& o) { return o.record; }},
  };
}

constexpr std::string_view kIntegerRoutes =
    "integer routes are always used; numerics.requant=chip|exact chooses their rounding";
constexpr std::string_view kRoutes =
    "each operation's route is chosen by the compiler (see explain)";

constexpr std::array kOld = {
    OldOption{"nthreads", "threads", {}},
    OldOption{"native_int8", {}, kIntegerRoutes},
    OldOption{"mm_int8", {}, kIntegerRoutes},
    OldOption{"direct_i8out", {}, kIntegerRoutes},
    OldOption{"direct_perc", {}, kIntegerRoutes},
    OldOption{"pw_i8out_min_m", {}, kIntegerRoutes},
    OldOption{"dw_perc", {}, kIntegerRoutes},
    OldOption{"min_macs", {}, "claim=auto leaves out partitions that do not pay"},
    OldOption{"aux_ops", {}, "claim=auto leaves out partitions that do not pay"},
    OldOption{"act_npu", {}, kRoutes},
    OldOption{"ew_npu", {}, kRoutes},
    OldOption{"pool_npu", {}, kRoutes},
    OldOption{"resize_npu", {}, kRoutes},
    OldOption{"norm_npu", {}, kRoutes},
    OldOption{"fc_npu", {}, kRoutes},
    OldOption{
        "nchw_resident", {}, "tensors always stay in the NPU's layout between NPU operations"},
    OldOption{"rk3576", {}, "chip=auto takes the device's chip"},
};

const OptionRow* FindRow(std::string_view key) {
  for (const OptionRow& row : OptionTable()) {
    if (row.key == key) return &row;
  }
  return nullptr;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string UnknownKey(std::string_view key, std::string_view value) {
  std::string known;
  std::string_view nearest;
  size_t best = 3;  // more edits than two are another word
  for (const OptionRow& row : OptionTable()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.key);
    const size_t distance = EditDistance(Lower(key), row.key);
    if (distance < best) {
      best = distance;
      nearest = row.key;
    }
  }
  return fmt::format("unknown option '{}' (value '{}'){}; the options are {}", key.substr(0, 80),
                     value.substr(0, 80),
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest), known);
}

// Applies one pair. A complaint, or nothing.
std::optional<std::string> Apply(std::string_view shown_key, std::string_view key,
                                 std::string_view value, Options* options) {
  const OptionRow* row = FindRow(key);
  if (row == nullptr) {
    const auto old =
        std::find_if(kOld.begin(), kOld.end(), [&](const OldOption& o) { return o.key == key; });
    if (old == kOld.end()) return UnknownKey(key, value);
    if (old->replacement.empty()) {
      return fmt::format("option '{}' is of an earlier delegate and has no effect: {}", key,
                         old->answer);
    }
    row = FindRow(old->replacement);
  }
  if (value == "None") return std::nullopt;
  // Case does not matter where the values are words.
  const bool words = row->values.find("FILE") == std::string_view::npos && row->values != "FOLDER";
  if (row->set(words ? Lower(value) : std::string(value), options)) return std::nullopt;
  return fmt::format("option '{}': value '{}' is not allowed (allowed: {}); using {}", shown_key,
                     value.substr(0, 80), row->values, row->get(*options));
}

}  // namespace

std::span<const OptionRow> OptionTable() {
  static const std::vector<OptionRow> kTable = MakeTable();
  return kTable;
}
std::span<const OldOption> OldOptions() { return kOld; }

bool ParseBool(std::string_view text, bool* value) {
  const std::string lower = Lower(text);
  for (const char* word : {"1", "true", "yes", "on"}) {
    if (lower == word) {
      *value = true;
      return true;
    }
  }
  for (const char* word : {"0", "false", "no", "off"}) {
    if (lower == word) {
      *value = false;
      return true;
    }
  }
  return false;
}

const char* ReadProcessEnvironment(const char* name) { return std::getenv(name); }

std::string EnvironmentName(std::string_view key) {
  std::string name = "ROCKET_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

Result<ParsedOptions> ParseOptions(std::span<const KeyValue> pairs,
                                   const EnvironmentReader& environment) {
  ParsedOptions parsed;
  const auto note = [&](std::optional<std::string> complaint) {
    if (complaint) parsed.warnings.push_back(*std::move(complaint));
  };
  for (const OptionRow& row : OptionTable()) {
    const std::string name = EnvironmentName(row.key);
    const char* value = environment ? environment(name.c_str()) : nullptr;
    if (value != nullptr) note(Apply(name, row.key, value, &parsed.options));
  }
  for (const KeyValue& pair : pairs) note(Apply(pair.key, pair.key, pair.value, &parsed.options));
  if (parsed.options.strict && !parsed.warnings.empty()) {
    std::string all;
    for (const std::string& warning : parsed.warnings) {
      if (!all.empty()) all += '\n';
      all += warning;
    }
    return Status(ErrorCode::kInvalidArgument, all + " (strict=1 makes this an error)");
  }
  return parsed;
}

std::vector<KeyValue> EffectiveOptions(const Options& options) {
  std::vector<KeyValue> all;
  for (const OptionRow& row : OptionTable())
    all.push_back({std::string(row.key), row.get(options)});
  return all;
}

std::string OptionsHelp() {
  const Options defaults;
  std::string text;
  for (const OptionRow& row : OptionTable()) {
    const std::string value = row.get(defaults);
    text += fmt::format("  {}={}{}\n      {}\n", row.key, row.values,
                        value.empty() ? "" : fmt::format("  (default {})", value), row.help);
  }
  return text;
}

std::string OptionsMarkdown() {
  const Options defaults;
  std::string text = "| key | values | default | environment | meaning |\n|---|---|---|---|---|\n";
  for (const OptionRow& row : OptionTable()) {
    std::string values;
    for (const char c : row.values) {
      if (c == '|') values += '\\';
      values += c;
    }
    const std::string value = row.get(defaults);
    text += fmt::format("| `{}` | {} | {} | `{}` | {} |\n", row.key, values,
                        value.empty() ? "none" : value, EnvironmentName(row.key), row.help);
  }
  return text;
}

}  // namespace npu::frontends
