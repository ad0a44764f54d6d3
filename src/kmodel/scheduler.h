// SPDX-License-Identifier: Apache-2.0
// Queues and cores (kernel-interfaces A.10): one FIFO entity for each open file, one job at a time
// on each core. An entity keeps its core while it has work; an idle one moves to the least loaded.
#ifndef SRC_KMODEL_SCHEDULER_H_
#define SRC_KMODEL_SCHEDULER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "src/chip/profile.h"
#include "src/kmodel/job.h"
#include "src/kmodel/options.h"
#include "src/kmodel/reporter.h"

namespace npu::kmodel {

// Told about each job when it is over, before its fence is signalled. Called on a worker thread.
using JobObserver = std::function<void(const Job&, const JobOutcome&)>;

// Thread-safe. Worker threads start with the first job and take no signals.
class Scheduler {
 public:
  // The queue of one file; used under the scheduler's lock only.
  struct Entity {
    std::deque<std::shared_ptr<Job>> queue;
    std::shared_ptr<Job> running;
    uint32_t core = 0;
    bool idle() const { return queue.empty() && running == nullptr; }
  };

  Scheduler(const Options& options, const chip::Profile& profile, uint32_t cores,
            Reporter* reporter, JobObserver observer);
  ~Scheduler();
  // Ends the threads after the jobs they run; what is queued or comes later ends unrun. For the end
  // of a process, when files may outlive the tables the simulator uses.
  void Stop();

  std::shared_ptr<Entity> NewEntity();
  // Collects the fences the job has to wait for, attaches its own and queues it.
  void Push(const std::shared_ptr<Entity>& entity, std::shared_ptr<Job> job);
  // The file is closing: waits up to `patience` for the queue to empty, then drops what has not
  // started. False if work was left when the call came.
  bool Retire(const std::shared_ptr<Entity>& entity, std::chrono::milliseconds patience);

  struct CoreState {
    bool active = false;  // within the autosuspend delay of its last job
    uint64_t jobs = 0;    // retired
  };
  // autosuspend_ms: how long a core stays active after a job.
  CoreState core_state(uint32_t core, uint32_t autosuspend_ms) const;
  uint32_t cores() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    std::thread thread;
    bool busy = false;
    uint64_t jobs = 0;
    Clock::time_point last_end{};
  };

  void StartThreads();
  void Work(uint32_t core);
  std::shared_ptr<Entity> NextFor(uint32_t core);
  uint32_t LeastLoaded();
  void WaitUntil(Clock::time_point when, std::unique_lock<std::mutex>* lock);
  static void Release(Job* job);
  void Finish(Entity* entity, const Job& job);

  const Options& options_;
  const chip::Profile& profile_;
  Reporter* const reporter_;
  const JobObserver observer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_:
  std::vector<std::shared_ptr<Entity>> entities_;
  std::vector<Slot> slots_;
  std::mt19937_64 random_;
  size_t turn_ = 0;  // round robin over entities
  bool started_ = false, stopping_ = false;
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_SCHEDULER_H_
