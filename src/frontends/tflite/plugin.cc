// SPDX-License-Identifier: Apache-2.0
// The two symbols of an external delegate library, and nothing else (exports.map).
#include "src/frontends/tflite/delegate.h"

#define NPU_EXPORT __attribute__((visibility("default")))

extern "C" {

NPU_EXPORT npu::tflite::abi::Delegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* message)) {
  return npu::tflite::CreateDelegate({keys, values, count, report_error},
                                     npu::frontends::MakeEngine(),
                                     npu::frontends::ReadProcessEnvironment);
}

NPU_EXPORT void tflite_plugin_destroy_delegate(npu::tflite::abi::Delegate* delegate) {
  npu::tflite::DestroyDelegate(delegate);
}

}  // extern "C"
