// SPDX-License-Identifier: Apache-2.0
// What `selftest` and `doctor --selftest` share.
#ifndef APPS_SELFTEST_H_
#define APPS_SELFTEST_H_

#include <string>

#include "src/selftest/selftest.h"

namespace npu::apps {

// Opens `device` and its simulator; `golden`: a directory, or empty for the usual places.
selftest::Options SelfTestDefaults(const std::string& device, const std::string& chip,
                                   const std::string& golden);

}  // namespace npu::apps

#endif  // APPS_SELFTEST_H_
