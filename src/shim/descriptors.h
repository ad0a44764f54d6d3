// SPDX-License-Identifier: Apache-2.0
// Which descriptors of the process are the node or an exported object, and which addresses are
// mappings of it. Neither calls into the kernel model while it holds its lock.
#ifndef SRC_SHIM_DESCRIPTORS_H_
#define SRC_SHIM_DESCRIPTORS_H_

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/kmodel/file.h"

namespace npu::shim {

// A mutex held with all signals blocked: a handler of the client may call any of our functions, and
// must not find its own thread inside.
class SignalSafeLock {
 public:
  explicit SignalSafeLock(std::mutex* mutex);
  ~SignalSafeLock();
  SignalSafeLock(const SignalSafeLock&) = delete;
  SignalSafeLock& operator=(const SignalSafeLock&) = delete;

 private:
  std::mutex* const mutex_;
  sigset_t before_{};
};

// Behind one descriptor: an open file of the node or an exported object.
struct Entry {
  std::shared_ptr<kmodel::File> file = nullptr;
  std::shared_ptr<kmodel::BufferObject> exported = nullptr;
  dev_t device = 0;  // of the memory file under the descriptor: tells a reused number apart
  ino_t inode = 0;
  bool dead = false;  // inherited through fork: the NPU stayed with the parent
};

// Thread-safe.
class Descriptors {
 public:
  // False for nearly every descriptor there is, without a lock.
  bool MayBe(int fd) const;
  // The entry of fd, if the descriptor still is what was registered.
  std::optional<Entry> Find(int fd);
  void Add(int fd, Entry entry);
  // The new number has the old one's entry, or none if that is no node.
  void Duplicate(int from, int to);
  // Takes the entries of [first, last] out; the caller drops them when the numbers are closed.
  std::vector<Entry> Remove(unsigned first, unsigned last);
  // After fork, in the child, with the lock held: every entry is dead from now on.
  void MarkDead();
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr int kFlagged = 65536;  // higher numbers always take the lock
  void Flag(int fd, bool on);

  std::mutex mutex_;
  std::map<int, Entry> entries_;  // under mutex_
  std::vector<Entry> abandoned_;  // of the process before a fork; never destroyed
  std::array<std::atomic<uint64_t>, kFlagged / 64> flags_{};
};

// Live mappings of the node. Thread-safe.
class Mappings {
 public:
  using Keep = std::shared_ptr<const void>;

  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  void Add(uintptr_t begin, uintptr_t end, Keep keep);
  // Forgets [begin, end); the caller drops what is returned when the pages are gone.
  std::vector<Keep> Cut(uintptr_t begin, uintptr_t end);
  // What keeps the page at `address`; null if it is no mapping of the node.
  Keep Find(uintptr_t address);
  void MarkDead();
  std::mutex& mutex() { return mutex_; }

 private:
  struct Range {
    uintptr_t end = 0;
    Keep keep;
  };
  std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;  // by begin, disjoint; under mutex_
  std::vector<Keep> abandoned_;
  std::atomic<size_t> count_{0};
};

}  // namespace npu::shim

#endif  // SRC_SHIM_DESCRIPTORS_H_
