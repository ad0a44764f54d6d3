// SPDX-License-Identifier: Apache-2.0
#include "src/shim/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "src/shim/real.h"

namespace npu::shim {
namespace {

// Where exported objects and log files would disturb nobody.
constexpr mode_t kNodeMode = S_IFCHR | 0666;

int Fail(int error) {
  errno = error;
  return -1;
}

}  // namespace

Process& Process::Get() {
  static Process* const process = std::unique_ptr<Process>(new Process).release();
  return *process;
}

Process::Process() : owner_(getpid()), tree_(config_) {
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

void Process::Configure() {
  std::call_once(configured_, [this] { config_ = ReadEnvironment(); });
}

bool Process::owns_memory() const { return getpid() == owner_; }

bool Process::IsNodePath(const char* path) const { return path != nullptr && config_.node == path; }

void Process::WriteLog(std::string_view line) {
  if (config_.quiet) return;
  const std::string text = fmt::format("[rocket-node {}] {}\n", getpid(), line);
  int fd = STDERR_FILENO;
  const bool to_file = !config_.log_path.empty();
  if (to_file) {
    fd = Real().openat(AT_FDCWD, config_.log_path.c_str(),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
  if (to_file) Real().close(fd);
}

kmodel::Options Process::NpuOptions() {
  kmodel::Options options = config_.npu;
  options.logger = Logger([this](LogLevel, std::string_view line) { WriteLog(line); });
  if (config_.abort_on_oops) options.on_oops = [](std::string_view) { std::abort(); };
  if (config_.abort_on_finding) options.on_finding = [](std::string_view) { std::abort(); };
  return options;
}

std::shared_ptr<kmodel::Npu> Process::TheNpu() {
  const SignalSafeLock lock(&mutex_);
  if (npu_ != nullptr) return npu_;
  auto npu = kmodel::Npu::Create(NpuOptions(), nullptr, this);
  if (!npu.ok()) {
    WriteLog(npu.status().message());
    return nullptr;
  }
  npu_ = *npu;
  struct stat status {};
  Real().fstat(npu_->memory()->fd(), &status);
  memory_fd_ = npu_->memory()->fd();
  memory_device_ = status.st_dev;
  memory_inode_ = status.st_ino;
  return npu_;
}

int Process::OpenNode(int flags) {
  Configure();  // another library's constructor may come before ours
  if (!config_.error.empty()) {
    WriteLog(config_.error);
    return Fail(EINVAL);
  }
  if ((flags & O_DIRECTORY) != 0) return Fail(ENOTDIR);
  const std::shared_ptr<kmodel::Npu> npu = TheNpu();
  if (npu == nullptr) return Fail(EINVAL);
  if (npu->faults().node_gone()) return Fail(ENODEV);
  // A new description of the memory file, so that the access mode is the client's own.
  const std::string path = fmt::format("/proc/self/fd/{}", npu->memory()->fd());
  const int kept = flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK);
  int fd = Real().openat(AT_FDCWD, path.c_str(), kept);
  if (fd < 0) {
    const int command = (flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
    fd = Real().fcntl(npu->memory()->fd(), command, 0);
  }
  if (fd < 0) return -1;
  descriptors_.Add(fd, {.file = npu->Open()});
  return fd;
}

int Process::Ioctl(const Entry& entry, unsigned long request, void* argument) {
  if (entry.dead) return Fail(EIO);
  if (entry.file == nullptr) return Fail(ENOTTY);
  const int before = errno;
  const int result = entry.file->Ioctl(
      static_cast<uint32_t>(request), static_cast<uint64_t>(reinterpret_cast<uintptr_t>(argument)));
  errno = before;
  return result < 0 ? Fail(-result) : result;
}

bool Process::IsMemoryFile(uint64_t device, uint64_t inode) const {
  return inode != 0 && inode == memory_inode_ && device == memory_device_;
}

void Process::Disguise(struct stat* status) const {
  status->st_mode = kNodeMode;
  status->st_rdev = makedev(uapi::kAccelMajor, 0);
  status->st_size = 0;
  status->st_blocks = 0;
}

bool Process::CoreActive(uint32_t core) {
  std::shared_ptr<kmodel::Npu> npu;
  {
    const SignalSafeLock lock(&mutex_);
    npu = npu_;
  }
  return npu != nullptr && npu->scheduler().core_state(core, tree_.AutosuspendMs(core)).active;
}

void Process::Shutdown() {
  if (!owns_memory()) return;
  std::shared_ptr<kmodel::Npu> npu;
  {
    const SignalSafeLock lock(&mutex_);
    npu = npu_;
  }
  if (npu != nullptr) npu->scheduler().Stop();
  tree_.Remove();
}

int Process::Install(std::shared_ptr<kmodel::BufferObject> object, uint32_t flags) {
  // The number is the client's; what is behind it only says which object it is.
  const int fd = memfd_create("rocket-dmabuf", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (fd < 0) return -errno;
  descriptors_.Add(fd, {.exported = std::move(object)});
  return fd;
}

std::shared_ptr<kmodel::BufferObject> Process::Find(int fd) {
  const std::optional<Entry> entry = descriptors_.Find(fd);
  return entry ? entry->exported : nullptr;
}

// The locks are taken over the fork, so that the child finds the tables whole and nobody's locks
// closed. Signals wait with them: a handler in between would find its own thread inside.
void Process::BeforeFork() {
  Process& process = Get();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  process.tree_.mutex().lock();
  process.mutex_.lock();
  process.signals_before_fork_ = before;
  process.descriptors_.mutex().lock();
  process.mappings_.mutex().lock();
}

void Process::AfterForkInParent() {
  Process& process = Get();
  const sigset_t before = process.signals_before_fork_;
  process.mappings_.mutex().unlock();
  process.descriptors_.mutex().unlock();
  process.mutex_.unlock();
  process.tree_.mutex().unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The NPU's threads exist in the parent only: what was open is dead here, and kept from being
// destroyed. A new open makes a new NPU.
void Process::AfterForkInChild() {
  Process& process = Get();
  process.descriptors_.MarkDead();
  process.mappings_.MarkDead();
  if (process.npu_ != nullptr) process.abandoned_.push_back(std::move(process.npu_));
  process.npu_ = nullptr;
  process.tree_.Disown();
  process.owner_ = getpid();
  AfterForkInParent();
}

}  // namespace npu::shim
