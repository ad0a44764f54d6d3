// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads that run index ranges in parallel.
#ifndef SRC_BASE_WORKER_POOL_H_
#define SRC_BASE_WORKER_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace npu {

// Threads start at the first ParallelFor, never in the constructor (hosts load plugins and fork
// later). A process forked after that has the pool without its threads: there everything runs in
// the caller. One ParallelFor runs at a time; calls from several threads queue up. Not reentrant
// from inside a task.
class WorkerPool {
 public:
  // threads = total workers including the caller; 0 = hardware concurrency.
  explicit WorkerPool(size_t threads = 0);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  size_t threads() const;
  // Calls fn(index) for every index in [0, count), the caller's thread included, and returns when
  // all are done. fn must not throw.
  void ParallelFor(size_t count, const std::function<void(size_t)>& fn);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu

#endif  // SRC_BASE_WORKER_POOL_H_
