// SPDX-License-Identifier: Apache-2.0
#include "src/shim/descriptors.h"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "src/shim/real.h"

namespace npu::shim {

SignalSafeLock::SignalSafeLock(std::mutex* mutex) : mutex_(mutex) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
  mutex_->lock();
}

SignalSafeLock::~SignalSafeLock() {
  mutex_->unlock();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Descriptors::MayBe(int fd) const {
  if (fd < 0) return false;
  if (fd >= kFlagged) return true;
  return (flags_[static_cast<size_t>(fd) / 64].load(std::memory_order_acquire) >> (fd % 64) & 1) !=
         0;
}

void Descriptors::Flag(int fd, bool on) {
  if (fd >= kFlagged) return;
  std::atomic<uint64_t>& word = flags_[static_cast<size_t>(fd) / 64];
  const uint64_t bit = uint64_t{1} << (fd % 64);
  if (on) {
    word.fetch_or(bit, std::memory_order_acq_rel);
  } else {
    word.fetch_and(~bit, std::memory_order_acq_rel);
  }
}

std::optional<Entry> Descriptors::Find(int fd) {
  if (!MayBe(fd)) return std::nullopt;
  Entry stale;  // goes after the lock
  struct stat now {};
  const bool open = Real().fstat(fd, &now) == 0;
  const SignalSafeLock lock(&mutex_);
  const auto at = entries_.find(fd);
  if (at == entries_.end()) return std::nullopt;
  if (open && now.st_dev == at->second.device && now.st_ino == at->second.inode) return at->second;
  // Closed behind our back (stdio closes without the symbol `close`), and maybe opened anew.
  stale = std::move(at->second);
  entries_.erase(at);
  Flag(fd, false);
  return std::nullopt;
}

void Descriptors::Add(int fd, Entry entry) {
  Entry replaced;  // goes after the lock
  struct stat now {};
  if (Real().fstat(fd, &now) != 0) return;
  entry.device = now.st_dev;
  entry.inode = now.st_ino;
  const SignalSafeLock lock(&mutex_);
  replaced = std::exchange(entries_[fd], std::move(entry));
  Flag(fd, true);
}

void Descriptors::Duplicate(int from, int to) {
  if (!MayBe(from)) return;
  if (std::optional<Entry> entry = Find(from)) Add(to, *std::move(entry));
}

std::vector<Entry> Descriptors::Remove(unsigned first, unsigned last) {
  std::vector<Entry> removed;
  constexpr unsigned kMax = std::numeric_limits<int>::max();
  if (first > kMax) return removed;
  const int end = static_cast<int>(std::min(last, kMax));
  const SignalSafeLock lock(&mutex_);
  for (auto at = entries_.lower_bound(static_cast<int>(first));
       at != entries_.end() && at->first <= end; at = entries_.erase(at)) {
    Flag(at->first, false);
    removed.push_back(std::move(at->second));
  }
  return removed;
}

void Descriptors::MarkDead() {
  for (auto& [fd, entry] : entries_) {
    abandoned_.push_back(entry);
    entry.file = nullptr;
    entry.exported = nullptr;
    entry.dead = true;
  }
}

void Mappings::Add(uintptr_t begin, uintptr_t end, Keep keep) {
  const SignalSafeLock lock(&mutex_);
  ranges_[begin] = {end, std::move(keep)};
  count_ = ranges_.size();
}

std::vector<Mappings::Keep> Mappings::Cut(uintptr_t begin, uintptr_t end) {
  std::vector<Keep> dropped;
  const SignalSafeLock lock(&mutex_);
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin()) --at;
  while (at != ranges_.end() && at->first < end) {
    const uintptr_t from = at->first;
    Range range = at->second;
    if (range.end <= begin) {
      ++at;
      continue;
    }
    at = ranges_.erase(at);
    if (from < begin) ranges_[from] = {begin, range.keep};
    if (range.end > end) ranges_[end] = {range.end, range.keep};
    dropped.push_back(std::move(range.keep));
  }
  count_ = ranges_.size();
  return dropped;
}

Mappings::Keep Mappings::Find(uintptr_t address) {
  const SignalSafeLock lock(&mutex_);
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return nullptr;
  --at;
  return address < at->second.end ? at->second.keep : nullptr;
}

void Mappings::MarkDead() {
  for (auto& [begin, range] : ranges_) abandoned_.push_back(std::move(range.keep));
  ranges_.clear();
  count_ = 0;
}

}  // namespace npu::shim
