// SPDX-License-Identifier: Apache-2.0
// Status and Result: how every fallible function of rocket-npu reports failure.
#ifndef NPU_STATUS_H_
#define NPU_STATUS_H_

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace npu {

enum class ErrorCode {
  kOk = 0,
  kInvalidArgument,  // the caller's value is wrong
  kUnsupported,      // valid, but not something we run; carries a reason id
  kOutOfRange,       // a number does not fit the hardware or a type
  kCorruptData,      // a model, file or stream contradicts itself
  kNotFound,
  kNoDevice,
  kDeviceFault,  // the device hung, faulted or wrote nothing
  kTimeout,
  kOutOfMemory,  // host memory or NPU address space
  kIoError,
  kInternal,  // a bug of ours
};

// Success, or an error with a message that says what happened, to what, and what to do.
// `reason` is a stable id such as "conv.dilation" (static storage), empty where none applies.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message, std::string_view reason = {})
      : code_(code), message_(std::move(message)), reason_(reason) {}

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  std::string_view reason() const { return reason_; }

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
  std::string_view reason_;
};

// Success, spelled out.
inline Status OkStatus() { return {}; }

// A value or the Status that prevented it. Reading the value of a failed Result is a bug (assert).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(runtime/explicit)
  Result(Status status)
      : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT(runtime/explicit)
    assert(!std::get<1>(state_).ok());
  }

  bool ok() const { return state_.index() == 0; }
  const Status& status() const {
    static const Status kOkStatus;
    return ok() ? kOkStatus : std::get<1>(state_);
  }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace npu

#define NPU_CONCAT_INNER(a, b) a##b
#define NPU_CONCAT(a, b) NPU_CONCAT_INNER(a, b)

#define NPU_RETURN_IF_ERROR(expr)                                                  \
  do {                                                                             \
    if (::npu::Status npu_status_ = (expr); !npu_status_.ok()) return npu_status_; \
  } while (false)

#define NPU_ASSIGN_OR_RETURN(decl, expr) \
  NPU_ASSIGN_OR_RETURN_IMPL(NPU_CONCAT(npu_result_, __LINE__), decl, expr)
#define NPU_ASSIGN_OR_RETURN_IMPL(result, decl, expr) \
  auto result = (expr);                               \
  if (!result.ok()) return result.status();           \
  decl = std::move(result).value()

#endif  // NPU_STATUS_H_
