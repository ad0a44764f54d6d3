// SPDX-License-Identifier: Apache-2.0
#include "src/device/open.h"

#include <fmt/format.h>

#include <utility>

#include "src/device/providers.h"

namespace npu::device {
namespace {

constexpr std::string_view kRecord = "record:";
constexpr std::string_view kProviders = "sim, rocket, null, record:PROVIDER:DIRECTORY, auto, none";

Result<const chip::Profile*> ProfileOf(const std::string& name) {
  if (name == kChipAuto) return chip::AllChips().front();
  if (const chip::Profile* profile = chip::FindChip(name)) return profile;
  std::string known;
  for (const chip::Profile* profile : chip::AllChips()) known += fmt::format(" {}", profile->name);
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("unknown chip \"{}\"; known:{}", name, known));
}

// "record:PROVIDER:DIRECTORY"; the directory may contain colons.
Result<std::shared_ptr<Device>> OpenRecorded(const OpenOptions& options) {
  const std::string_view rest = std::string_view(options.provider).substr(kRecord.size());
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("device \"{}\": record needs a provider and a directory, as in "
                              "record:sim:jobs",
                              options.provider));
  }
  OpenOptions inner = options;
  inner.provider = rest.substr(0, colon);
  if (inner.provider == "record") {
    return Status(ErrorCode::kInvalidArgument, "record cannot record itself");
  }
  NPU_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, Open(inner));
  return OpenRecord(std::move(device), std::filesystem::path(rest.substr(colon + 1)), options);
}

}  // namespace

Result<std::shared_ptr<Device>> Open(const OpenOptions& options) {
  if (options.provider.starts_with(kRecord)) return OpenRecorded(options);
  if (options.provider == "none") {
    return Status(ErrorCode::kNoDevice, "no device: the option device=none asks for none");
  }
  if (options.provider == "auto" || options.provider == "rocket") return OpenRocket(options);
  if (options.provider == "sim" || options.provider == "null") {
    NPU_ASSIGN_OR_RETURN(const chip::Profile* profile, ProfileOf(options.chip));
    return options.provider == "sim" ? OpenSim(*profile, options) : OpenNull(*profile, options);
  }
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("unknown device \"{}\"; known: {}", options.provider, kProviders));
}

}  // namespace npu::device
