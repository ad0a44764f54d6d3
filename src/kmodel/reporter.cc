// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/reporter.h"

#include <fmt/format.h>

namespace npu::kmodel {

void Reporter::Oops(const std::string& what) {
  ++oopses_;
  options_.logger.Error(fmt::format("THE REAL KERNEL WOULD CRASH HERE: {}", what));
  if (options_.on_oops) options_.on_oops(what);
}

void Reporter::Finding(const char* mode, const std::string& what) {
  ++findings_;
  const std::string text = fmt::format("strict {}: {}", mode, what);
  options_.logger.Error(text);
  if (options_.on_finding) options_.on_finding(text);
}

}  // namespace npu::kmodel
