// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace npu::kmodel {
namespace {

struct FaultName {
  std::string_view name;
  FaultKind kind;
  bool has_value;
};

constexpr FaultName kFaultNames[] = {
    {"drop", FaultKind::kDropJob, false},      {"timeout", FaultKind::kTimeoutJob, false},
    {"delay", FaultKind::kDelayJob, true},     {"lost", FaultKind::kLostWakeup, false},
    {"reset", FaultKind::kResetJob, false},    {"enomem", FaultKind::kNoMemory, false},
    {"short", FaultKind::kShortObject, false}, {"eintr", FaultKind::kInterruptPrep, false},
    {"mmap", FaultKind::kFailMmap, false},     {"gone", FaultKind::kNodeGone, false},
};

Status Bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Takes the part of *text up to `separator`, and the separator, off its front.
std::string_view TakeUntil(char separator, std::string_view* text) {
  const size_t at = text->find(separator);
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at + 1);
  return part;
}

Result<Fault> ParseFault(std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = TakeUntil('=', &rest);
  const std::string_view nth = TakeUntil(':', &rest);
  for (const FaultName& known : kFaultNames) {
    if (known.name != name) continue;
    Fault fault{.kind = known.kind};
    const auto number = Number<uint64_t>(nth);
    if (nth != "*" && (!number || (*number == 0 && known.kind != FaultKind::kNodeGone))) {
      return Bad(fmt::format("fault '{}': write {}=N with N from 1, or {}=*", text, name, name));
    }
    fault.nth = nth == "*" ? 0 : *number;
    const auto value = Number<uint32_t>(rest);
    if (known.has_value != value.has_value() || (!known.has_value && !rest.empty())) {
      return Bad(fmt::format("fault '{}': {} a value after the colon", text,
                             known.has_value ? "it needs" : "it takes no"));
    }
    fault.value = value.value_or(0);
    return fault;
  }
  std::string all;
  for (const FaultName& known : kFaultNames) all += fmt::format(" {}", known.name);
  return Bad(fmt::format("fault '{}' is unknown; there are:{}", name, all));
}

}  // namespace

Result<Version> ParseVersion(std::string_view text) {
  std::string_view rest = text;
  const auto major = Number<int32_t>(TakeUntil('.', &rest));
  const auto minor = Number<int32_t>(rest);
  const bool known = major && minor &&
                     ((*major == 0 && *minor == 0) || (*major == 1 && *minor >= 0 && *minor <= 6));
  if (!known) {
    return Bad(
        fmt::format("version '{}' is unknown; 0.0 is the stock kernel, 1.0 to 1.6 are "
                    "extended ones",
                    text));
  }
  return Version{*major, *minor};
}

Result<Strict> ParseStrict(std::string_view text) {
  Strict strict;
  while (!text.empty()) {
    const std::string_view name = TakeUntil(',', &text);
    const bool all = name == "all";
    if (!all && name != "coherency" && name != "lifetime" && name != "war" && name != "poison" &&
        name != "shuffle") {
      return Bad(fmt::format(
          "strict mode '{}' is unknown; there are: coherency lifetime war poison shuffle all",
          name));
    }
    strict.coherency |= all || name == "coherency";
    strict.lifetime |= all || name == "lifetime";
    strict.war |= all || name == "war";
    strict.poison |= all || name == "poison";
    strict.shuffle |= name == "shuffle";
  }
  return strict;
}

Result<std::vector<Fault>> ParseFaults(std::string_view text) {
  std::vector<Fault> faults;
  while (!text.empty()) {
    NPU_ASSIGN_OR_RETURN(const Fault fault, ParseFault(TakeUntil(',', &text)));
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace npu::kmodel
