// SPDX-License-Identifier: Apache-2.0
// Descriptors, mappings and processes behind the preloaded node: kernel-interfaces A.6, C.2, C.3.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "src/uapi/rocket.h"
#include "tests/kernel_client/client.h"
#include "tests/shim/node.h"

namespace npu::shim_test {
namespace {

using kernel_client::Bo;
using kernel_client::Close;
using kernel_client::Create;
using kernel_client::Prep;

void ExpectNode(int fd) {
  struct stat status {};
  ASSERT_EQ(fstat(fd, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(major(status.st_rdev), 261u);
  EXPECT_EQ(minor(status.st_rdev), 0u);
  EXPECT_EQ(status.st_size, 0);
}

TEST(Descriptor, EveryDuplicateIsTheSameOpenFile) {
  const Node node;
  const int spare = open("/dev/null", O_RDONLY);
  const int copies[] = {dup(node.fd()), fcntl(node.fd(), F_DUPFD, 50),
                        fcntl(node.fd(), F_DUPFD_CLOEXEC, 0), dup2(node.fd(), spare),
                        dup3(node.fd(), 77, O_CLOEXEC)};
  Create(node.fd(), 8192);
  for (const int fd : copies) {
    ASSERT_GE(fd, 0);
    ExpectNode(fd);
    const Bo bo = Create(fd, 4096);
    EXPECT_EQ(Close(node.fd(), bo.handle), 0);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(Prep(fd, 1, 0), -EBADF);
  }
  EXPECT_EQ(Prep(node.fd(), 1, 0), 0);
}

TEST(Descriptor, TwoOpensShareNothing) {
  const Node first, second(O_RDONLY);
  EXPECT_EQ(Create(first.fd(), 4096).iova, 0u);
  const Bo bo = Create(second.fd(), 4096);  // ioctls need no write access
  EXPECT_EQ(bo.iova, 0u);
  EXPECT_EQ(bo.handle, 1u);
  void* const at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, second.fd(),
                        static_cast<off_t>(bo.offset));
  EXPECT_EQ(at, MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
}

TEST(Descriptor, AForeignIoctlIsNoTypewriter) {
  const Node node;
  EXPECT_EQ(isatty(node.fd()), 0);
  int words = 0;
  EXPECT_EQ(ioctl(node.fd(), TIOCGWINSZ, &words), -1);
  EXPECT_EQ(errno, ENOTTY);
}

TEST(Descriptor, ANumberUsedAgainIsNotTheNode) {
  // stdio closes without the symbol `close`.
  FILE* const stream = fdopen(open(kNode, O_RDWR), "r+");
  ASSERT_NE(stream, nullptr);
  const int fd = fileno(stream);
  fclose(stream);
  const int other = open("/dev/null", O_RDWR);
  EXPECT_EQ(other, fd);
  Bo bo;
  EXPECT_EQ(Create(other, 4096, &bo), -ENOTTY);
  close(other);
}

TEST(Descriptor, ClosingARangeCloses) {
  const int first = open(kNode, O_RDWR), second = dup(first);
  ASSERT_EQ(second, first + 1);
  EXPECT_EQ(close_range(static_cast<unsigned>(first), static_cast<unsigned>(second), 0), 0);
  EXPECT_EQ(Prep(first, 1, 0), -EBADF);
  EXPECT_EQ(Prep(second, 1, 0), -EBADF);
}

TEST(Mmap, RulesOfTheDriver) {
  const Node node;
  const Bo bo = Create(node.fd(), 10000);
  const auto error = [&](size_t length, int protection, int flags, uint64_t offset) {
    void* const at =
        mmap(nullptr, length, protection, flags, node.fd(), static_cast<off_t>(offset));
    if (at == MAP_FAILED) return errno;
    munmap(at, length);
    return 0;
  };
  EXPECT_EQ(error(12288, PROT_READ | PROT_WRITE, MAP_SHARED, bo.offset), 0);
  EXPECT_EQ(error(4096, PROT_READ | PROT_WRITE, MAP_SHARED, bo.offset + 4096), EINVAL);
  EXPECT_EQ(error(16384, PROT_READ | PROT_WRITE, MAP_SHARED, bo.offset), EINVAL);
  EXPECT_EQ(error(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, bo.offset), EINVAL);
}

TEST(Mmap, KeepsTheObjectUntilTheLastPageGoes) {
  const Node node;
  const Bo bo = Create(node.fd(), 8192);
  void* const at = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, node.fd(),
                        static_cast<off_t>(bo.offset));
  ASSERT_NE(at, MAP_FAILED);
  auto* const bytes = static_cast<volatile char*>(at);
  bytes[5000] = 9;
  EXPECT_EQ(Close(node.fd(), bo.handle), 0);
  EXPECT_EQ(munmap(at, 4096), 0);
  EXPECT_EQ(bytes[5000], 9);
  EXPECT_EQ(Create(node.fd(), 8192).iova, 0x2000u);
  EXPECT_EQ(munmap(static_cast<char*>(at) + 4096, 4096), 0);
  EXPECT_EQ(Create(node.fd(), 8192).iova, 0u);
}

TEST(Mmap, OutlivesTheDescriptor) {
  std::byte* bytes = nullptr;
  {
    const Node node;
    kernel_client::Endpoint::Keep keep;
    bytes = kernel_client::Endpoint(node.fd()).Map(4096, Create(node.fd(), 4096).offset, &keep);
    ASSERT_NE(bytes, nullptr);
    bytes[0] = std::byte{3};
  }
  EXPECT_EQ(bytes[0], std::byte{3});
  munmap(bytes, 4096);
}

TEST(Mmap, MovesAndShrinksButNeverGrows) {
  const Node node;
  const Bo bo = Create(node.fd(), 8192);
  void* const at = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, node.fd(),
                        static_cast<off_t>(bo.offset));
  ASSERT_NE(at, MAP_FAILED);
  EXPECT_EQ(mremap(at, 8192, 16384, MREMAP_MAYMOVE), MAP_FAILED);
  EXPECT_EQ(errno, EFAULT);
  void* const smaller = mremap(at, 8192, 4096, 0);
  ASSERT_EQ(smaller, at);
  EXPECT_EQ(Close(node.fd(), bo.handle), 0);
  munmap(smaller, 4096);
  EXPECT_EQ(Create(node.fd(), 4096).iova, bo.iova);
}

TEST(Prime, ADmaBufIsMappedFromItsStart) {
  const Node first, second;
  kernel_client::Endpoint::Keep keep;
  const Bo guard = Create(first.fd(), 4096), bo = Create(first.fd(), 4096);
  EXPECT_NE(guard.offset, bo.offset);
  std::byte* const bytes = kernel_client::Endpoint(first.fd()).Map(4096, bo.offset, &keep);
  bytes[7] = std::byte{7};
  uapi::DrmPrimeHandle prime{.handle = bo.handle, .flags = O_CLOEXEC | O_RDWR};
  ASSERT_EQ(ioctl(first.fd(), uapi::kIoctlPrimeHandleToFd, &prime), 0);
  void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
  ASSERT_NE(shared, MAP_FAILED);
  EXPECT_EQ(static_cast<std::byte*>(shared)[7], std::byte{7});
  ASSERT_EQ(ioctl(second.fd(), uapi::kIoctlPrimeFdToHandle, &prime), 0);
  EXPECT_EQ(Prep(second.fd(), prime.handle, 0), 0);
  uapi::DrmPrimeHandle foreign{.fd = 0};
  EXPECT_EQ(ioctl(second.fd(), uapi::kIoctlPrimeFdToHandle, &foreign), -1);
  EXPECT_EQ(errno, EINVAL);
  munmap(shared, 4096);
  munmap(bytes, 4096);
  close(prime.fd);
}

TEST(Descriptor, TruncationTakesNoPages) {
  const Node node;
  kernel_client::Endpoint::Keep keep;
  const Bo bo = Create(node.fd(), 4096);
  std::byte* const bytes = kernel_client::Endpoint(node.fd()).Map(4096, bo.offset, &keep);
  EXPECT_EQ(ftruncate(node.fd(), 0), -1);
  bytes[0] = std::byte{7};
  EXPECT_EQ(bytes[0], std::byte{7});
  munmap(bytes, 4096);
}

TEST(Fork, TheChildHasTheMemoryButNotTheDevice) {
  const Node node;
  kernel_client::Endpoint::Keep keep;
  const Bo bo = Create(node.fd(), 4096);
  std::byte* const bytes = kernel_client::Endpoint(node.fd()).Map(4096, bo.offset, &keep);
  const pid_t child = fork();
  if (child == 0) {
    int result = Prep(node.fd(), bo.handle, 0) == -EIO ? 0 : 1;
    bytes[1] = std::byte{5};
    // A new open gives the child an NPU of its own.
    const int fd = open(kNode, O_RDWR);
    Bo own;
    if (fd < 0 || Create(fd, 4096, &own) != 0 || own.iova != 0) result |= 2;
    _exit(result);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(bytes[1], std::byte{5});
  EXPECT_EQ(Prep(node.fd(), bo.handle, 0), 0);
  munmap(bytes, 4096);
}

// Handlers may come at any point of a fork, and use the node.
TEST(Fork, SignalHandlersNeverFindTheirOwnThreadInside) {
  static int used_by_handler = -1;
  const Node node;
  const Bo bo = Create(node.fd(), 4096);
  used_by_handler = node.fd();
  struct sigaction before {
  }, action{};
  action.sa_handler = [](int) {
    const int error = errno;
    close(dup(used_by_handler));
    errno = error;
  };
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often{{0, 100}, {0, 100}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      _exit(sigismember(&mask, SIGALRM));
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    EXPECT_EQ(status, 0);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(Prep(node.fd(), bo.handle, 0), 0);
}

TEST(Fork, SpawnedProgramsLeaveTheNodeAlone) {
  const Node node;
  const Bo bo = Create(node.fd(), 4096);
  EXPECT_EQ(std::system("exec 3<&-; true"), 0);
  EXPECT_EQ(Prep(node.fd(), bo.handle, 0), 0);
}

TEST(Leaks, NothingStays) {
  {
    const Node warm_up;
    Create(warm_up.fd(), 4096);
  }
  const size_t descriptors = OpenDescriptors(), mappings = DeviceMappings();
  for (int i = 0; i < 50; ++i) {
    const Node node;
    kernel_client::Endpoint::Keep keep;
    const Bo bo = Create(node.fd(), 100000);
    std::byte* const bytes = kernel_client::Endpoint(node.fd()).Map(100000, bo.offset, &keep);
    const int copy = dup(node.fd());
    EXPECT_EQ(i % 2 == 0 ? Close(copy, bo.handle) : 0, 0);
    close(copy);
    munmap(bytes, 100000);
  }
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_EQ(DeviceMappings(), mappings);
}

}  // namespace
}  // namespace npu::shim_test
