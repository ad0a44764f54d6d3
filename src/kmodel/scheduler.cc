// SPDX-License-Identifier: Apache-2.0
#include "src/kmodel/scheduler.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "src/kmodel/core.h"

namespace npu::kmodel {
namespace {

bool Ready(const Job& job) {
  return std::all_of(job.waits_for.begin(), job.waits_for.end(),
                     [](const auto& fence) { return fence->signalled(); });
}

// Blocks all signals in the calling thread while it lives, so that threads started meanwhile take
// none: they belong to the client's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Scheduler::Scheduler(const Options& options, const chip::Profile& profile, uint32_t cores,
                     Reporter* reporter, JobObserver observer)
    : options_(options),
      profile_(profile),
      reporter_(reporter),
      observer_(std::move(observer)),
      slots_(cores),
      random_(options.seed) {}

Scheduler::~Scheduler() { Stop(); }

void Scheduler::Stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    for (Slot& slot : slots_) threads.push_back(std::move(slot.thread));
    changed_.notify_all();
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  // Nobody may wait for ever on a device that is gone.
  std::vector<std::shared_ptr<Job>> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::shared_ptr<Entity>& entity : entities_) {
      for (std::shared_ptr<Job>& job : entity->queue) dropped.push_back(std::move(job));
      entity->queue.clear();
    }
    for (const std::shared_ptr<Job>& job : dropped) Finish(nullptr, *job);
  }
  for (const std::shared_ptr<Job>& job : dropped) Release(job.get());
}

std::shared_ptr<Scheduler::Entity> Scheduler::NewEntity() {
  auto entity = std::make_shared<Entity>();
  const std::lock_guard<std::mutex> lock(mutex_);
  entities_.push_back(entity);
  return entity;
}

void Scheduler::StartThreads() {
  if (started_ || stopping_) return;
  started_ = true;
  const SignalsBlocked blocked;
  for (uint32_t core = 0; core < slots_.size(); ++core) {
    slots_[core].thread = std::thread([this, core] { Work(core); });
  }
}

// The core with the fewest jobs queued or running; the first of equals, a random one in shuffle.
uint32_t Scheduler::LeastLoaded() {
  if (options_.strict.shuffle) return static_cast<uint32_t>(random_() % slots_.size());
  std::vector<size_t> load(slots_.size());
  for (const std::shared_ptr<Entity>& entity : entities_) {
    load[entity->core] += entity->queue.size() + (entity->running != nullptr ? 1 : 0);
  }
  return static_cast<uint32_t>(std::min_element(load.begin(), load.end()) - load.begin());
}

void Scheduler::Push(const std::shared_ptr<Entity>& entity, std::shared_ptr<Job> job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  StartThreads();
  // Readers wait for earlier writers, writers too; nobody waits for earlier readers (A.9).
  for (const auto* list : {&job->in, &job->out}) {
    for (const std::shared_ptr<BufferObject>& object : *list) {
      for (std::shared_ptr<Fence>& fence : object->PendingWriters()) {
        job->waits_for.push_back(std::move(fence));
      }
    }
  }
  for (const std::shared_ptr<BufferObject>& object : job->out) object->AddWriter(job->done);
  for (const std::shared_ptr<BufferObject>& object : job->in) ++object->readers();
  if (stopping_) return Finish(nullptr, *job);
  if (entity->idle()) entity->core = LeastLoaded();
  entity->queue.push_back(std::move(job));
  changed_.notify_all();
}

// The entity whose turn it is among those of the core that have a job ready to run.
std::shared_ptr<Scheduler::Entity> Scheduler::NextFor(uint32_t core) {
  const size_t count = entities_.size();
  const size_t first = options_.strict.shuffle && count != 0 ? random_() % count : turn_;
  for (size_t i = 0; i < count; ++i) {
    const std::shared_ptr<Entity>& entity = entities_[(first + i) % count];
    if (entity->core != core || entity->running != nullptr || entity->queue.empty()) continue;
    if (!Ready(*entity->queue.front())) continue;
    turn_ = (first + i + 1) % count;
    return entity;
  }
  return nullptr;
}

void Scheduler::WaitUntil(Clock::time_point when, std::unique_lock<std::mutex>* lock) {
  changed_.wait_until(*lock, when, [this] { return stopping_; });
}

// Gives back what the job holds. Without the lock: objects may go with it.
void Scheduler::Release(Job* job) {
  for (const std::shared_ptr<BufferObject>& object : job->in) --object->readers();
  job->in.clear();
  job->out.clear();
}

// Wakes everybody who may wait for the job.
void Scheduler::Finish(Entity* entity, const Job& job) {
  if (entity != nullptr) entity->running = nullptr;
  job.done->Signal();
  changed_.notify_all();
}

void Scheduler::Work(uint32_t core) {
  Core hardware(options_, profile_, core, reporter_);
  std::unique_lock<std::mutex> lock(mutex_);
  Slot& slot = slots_[core];
  for (;;) {
    std::shared_ptr<Entity> entity;
    changed_.wait(lock, [&] { return stopping_ || (entity = NextFor(core)) != nullptr; });
    if (stopping_) return;
    std::shared_ptr<Job> job = entity->running = std::move(entity->queue.front());
    entity->queue.pop_front();
    slot.busy = true;
    const Clock::time_point start = Clock::now();
    // The power domain went off in between: registers and on-chip memory are lost.
    const auto suspend = std::chrono::milliseconds(options_.autosuspend_ms);
    if (options_.autosuspend_ms != 0 && slot.jobs != 0 && start - slot.last_end > suspend) {
      hardware.Reset();
    }
    lock.unlock();
    const int64_t start_ns = MonotonicNow();
    JobOutcome outcome = hardware.Run(*job);
    lock.lock();
    if (job->faults.delay_ms != 0) {
      WaitUntil(start + std::chrono::milliseconds(job->faults.delay_ms), &lock);
    }
    if (outcome.timed_out) {
      WaitUntil(start + std::chrono::milliseconds(options_.hang_ms), &lock);
      reporter_->KernelLine(fmt::format("rocket {}: NPU job timed out", hardware.name()));
      hardware.Reset();
    }
    outcome.start_ns = start_ns;
    outcome.end_ns = MonotonicNow();
    if (observer_) observer_(*job, outcome);
    // Before the fence: who waited for it may count what is left.
    lock.unlock();
    Release(job.get());
    lock.lock();
    slot.busy = false;
    ++slot.jobs;
    slot.last_end = Clock::now();
    Finish(entity.get(), *job);
  }
}

bool Scheduler::Retire(const std::shared_ptr<Entity>& entity, std::chrono::milliseconds patience) {
  std::deque<std::shared_ptr<Job>> dropped;
  std::unique_lock<std::mutex> lock(mutex_);
  const bool was_idle = entity->idle();
  changed_.wait_until(lock, Clock::now() + patience, [&] { return stopping_ || entity->idle(); });
  dropped.swap(entity->queue);
  for (const std::shared_ptr<Job>& job : dropped) Finish(nullptr, *job);
  std::erase(entities_, entity);
  turn_ = 0;
  lock.unlock();
  for (const std::shared_ptr<Job>& job : dropped) Release(job.get());
  return was_idle;
}

Scheduler::CoreState Scheduler::core_state(uint32_t core, uint32_t autosuspend_ms) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Slot& slot = slots_[core];
  const auto delay = std::chrono::milliseconds(autosuspend_ms);
  return {.active = slot.busy || (slot.jobs != 0 && Clock::now() - slot.last_end < delay),
          .jobs = slot.jobs};
}

}  // namespace npu::kmodel
