// SPDX-License-Identifier: Apache-2.0
#include "src/host/silicon.h"

#include "src/host/silicon_conv.h"

namespace npu::host {
namespace {

struct Make {
  Result<std::unique_ptr<Kernel>> operator()(const encode::SiliconConv& conv) const {
    return MakeSiliconConv(conv);
  }
  Result<std::unique_ptr<Kernel>> operator()(const encode::SiliconElementwise& op) const {
    return MakeSiliconElementwise(op);
  }
  Result<std::unique_ptr<Kernel>> operator()(const encode::SiliconPool& pool) const {
    return MakeSiliconPool(pool);
  }
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeSilicon(const encode::Silicon& silicon) {
  return std::visit(Make{}, silicon);
}

}  // namespace npu::host
