// SPDX-License-Identifier: Apache-2.0
// A line for work that takes long: nothing during the first second, then "WHAT: 40 of 99 (2 s)" at
// 1, 2, 4, 8 ... seconds, so that a long wait is explained and never floods a log.
#ifndef SRC_BASE_PROGRESS_H_
#define SRC_BASE_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/log.h"

namespace npu {

// Of one piece of work, on one thread. Step costs a clock read; it allocates only to print.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // `what` and `logger` must outlive the object.
  Progress(const Logger& logger, std::string_view what) : Progress(logger, what, &Clock::now) {}
  // With another clock, for tests.
  Progress(const Logger& logger, std::string_view what, Clock::time_point (*now)())
      : logger_(logger), what_(what), now_(now), start_(now()) {}

  // `done` of `total` parts are finished.
  void Step(size_t done, size_t total) {
    const auto elapsed = now_() - start_;
    if (elapsed < next_) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
    while (next_ <= elapsed) next_ *= 2;
    logger_.Info(std::string(what_) + ": " + std::to_string(done) + " of " + std::to_string(total) +
                 " (" + std::to_string(seconds) + " s)");
  }

 private:
  const Logger& logger_;
  std::string_view what_;
  Clock::time_point (*now_)();
  Clock::time_point start_;
  Clock::duration next_ = std::chrono::seconds(1);
};

}  // namespace npu

#endif  // SRC_BASE_PROGRESS_H_
