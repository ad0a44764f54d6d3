// SPDX-License-Identifier: Apache-2.0
#include "src/base/worker_pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace npu {

struct WorkerPool::Impl {
  explicit Impl(size_t n) : size(n) {}

  // Whether this is a copy, made by fork, of a pool whose threads run elsewhere. Its locks may be
  // held for ever.
  bool Orphaned() const {
    const pid_t process = owner.load();
    return process != 0 && process != getpid();
  }

  void Start() {
    owner = getpid();
    for (size_t i = workers.size(); i + 1 < size; ++i) workers.emplace_back([this] { Loop(); });
  }

  void Loop() {
    uint64_t seen = 0;
    for (;;) {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) return;
      seen = generation;
      lock.unlock();
      Drain();
      lock.lock();
      if (--active == 0) done.notify_all();
    }
  }

  void Drain() {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) (*task)(i);
  }

  const size_t size;
  std::atomic<pid_t> owner{0};  // the process with the threads, once there are any
  std::mutex caller;            // one ParallelFor at a time
  std::mutex mutex;             // guards everything below but `next`
  std::condition_variable wake, done;
  std::vector<std::thread> workers;
  const std::function<void(size_t)>* task = nullptr;
  size_t count = 0;
  size_t active = 0;
  uint64_t generation = 0;
  bool stopping = false;
  std::atomic<size_t> next{0};
};

WorkerPool::WorkerPool(size_t threads)
    : impl_(std::make_unique<Impl>(
          std::max<size_t>(1, threads != 0 ? threads : std::thread::hardware_concurrency()))) {}

WorkerPool::~WorkerPool() {
  if (impl_->Orphaned()) {
    // Threads that do not exist cannot be joined, nor can their waiting be undone.
    static_cast<void>(impl_.release());
    return;
  }
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  for (auto& worker : impl_->workers) worker.join();
}

size_t WorkerPool::threads() const { return impl_->size; }

void WorkerPool::ParallelFor(size_t count, const std::function<void(size_t)>& fn) {
  if (count == 0) return;
  if (impl_->size == 1 || count == 1 || impl_->Orphaned()) {
    for (size_t i = 0; i < count; ++i) fn(i);
    return;
  }
  std::lock_guard one_caller(impl_->caller);
  {
    std::lock_guard lock(impl_->mutex);
    impl_->Start();
    impl_->task = &fn;
    impl_->count = count;
    impl_->next = 0;
    impl_->active = impl_->workers.size();
    ++impl_->generation;
  }
  impl_->wake.notify_all();
  impl_->Drain();
  std::unique_lock lock(impl_->mutex);
  impl_->done.wait(lock, [&] { return impl_->active == 0; });
}

}  // namespace npu
