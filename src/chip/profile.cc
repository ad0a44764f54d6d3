// SPDX-License-Identifier: Apache-2.0
#include "src/chip/profile.h"

namespace npu::chip {

#define NPU_CHIP(soc)            \
  namespace soc {                \
  extern const Profile kProfile; \
  }
#include "src/chip/chip_list.inc"
#undef NPU_CHIP

namespace {

constexpr const Profile* kChips[] = {
#define NPU_CHIP(soc) &soc::kProfile,
#include "src/chip/chip_list.inc"
#undef NPU_CHIP
};

}  // namespace

std::span<const Profile* const> AllChips() { return kChips; }

const Profile* FindChip(std::string_view name) {
  for (const Profile* profile : kChips) {
    if (profile->name == name) return profile;
  }
  return nullptr;
}

const Precision* Profile::FindPrecision(std::string_view precision) const {
  for (const Precision& entry : layout.precisions) {
    if (entry.name == precision) return &entry;
  }
  return nullptr;
}

}  // namespace npu::chip
