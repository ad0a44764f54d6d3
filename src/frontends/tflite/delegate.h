// SPDX-License-Identifier: Apache-2.0
// The external delegate (tflite-delegate 1 and 11), independent of the two exported symbols so that
// tests can give it another engine.
#ifndef SRC_FRONTENDS_TFLITE_DELEGATE_H_
#define SRC_FRONTENDS_TFLITE_DELEGATE_H_

#include <cstddef>
#include <memory>

#include "src/frontends/common/engine.h"
#include "src/frontends/common/options.h"
#include "src/frontends/tflite/abi.h"

namespace npu::tflite {

struct CreateArguments {
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  void (*report_error)(const char* message) = nullptr;
};

// Null after report_error(message) when the configuration is refused. Without report_error the
// caller cannot take null (tflite-delegate 1.1 rule 6): then the delegate is one that claims
// nothing and says why. Never throws.
abi::Delegate* CreateDelegate(const CreateArguments& arguments,
                              std::shared_ptr<frontends::Engine> engine,
                              const frontends::EnvironmentReader& environment) noexcept;

// Null is fine. Kernels of the delegate live on.
void DestroyDelegate(abi::Delegate* delegate) noexcept;

}  // namespace npu::tflite

#endif  // SRC_FRONTENDS_TFLITE_DELEGATE_H_
