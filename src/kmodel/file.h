// SPDX-License-Identifier: Apache-2.0
// One successful open() of the node: handles, an address space, a queue, and the ioctls. Shared by
// every duplicate of the descriptor and kept by every mapping.
#ifndef SRC_KMODEL_FILE_H_
#define SRC_KMODEL_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "src/kmodel/npu.h"
#include "src/uapi/rocket.h"

namespace npu::kmodel {

// Results are 0 or a negative errno, as inside a kernel. Thread-safe. Pointers in arguments are
// untrusted (EFAULT).
class File : public std::enable_shared_from_this<File> {
 public:
  explicit File(std::shared_ptr<Npu> npu);
  // Waits up to a second for queued jobs, then drops them (kernel-interfaces A.13).
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int Ioctl(uint32_t request, uint64_t argument);

  // What an mmap of the node does. error 0: map `length` bytes of descriptor fd at offset, and hold
  // `keep` as long as the mapping lives.
  struct Mapping {
    int error = 0;
    int fd = -1;
    uint64_t offset = 0;
    std::shared_ptr<const void> keep = nullptr;
  };
  Mapping Map(uint64_t length, int protection, int flags, uint64_t offset);

  const std::shared_ptr<Npu>& npu() const { return npu_; }
  size_t handle_count() const;

 private:
  // One row of the dispatch table: arguments are copied in and out by the caller.
  struct Command {
    uint32_t nr = 0;
    uint32_t code = 0;
    int (File::*handler)(void* argument) = nullptr;
    int32_t since_minor = 0;  // of version 1; 0: every version
  };
  static const Command* FindCommand(uint32_t nr);

  int GetVersion(void* argument);
  int GetUnique(void* argument);
  int GetCap(void* argument);
  int SetClientCap(void* argument);
  int GemClose(void* argument);
  int GemFlink(void* argument);
  int HandleToFd(void* argument);
  int FdToHandle(void* argument);
  int CreateBo(void* argument);
  int Submit(void* argument);
  int PrepBo(void* argument);
  int FiniBo(void* argument);
  int PrepBoRanges(void* argument);
  int FiniBoRanges(void* argument);

  // Null for an unknown handle.
  std::shared_ptr<BufferObject> Lookup(uint32_t handle) const;
  // Smallest free handle for the object.
  uint32_t AddHandle(std::shared_ptr<BufferObject> object);

  int SubmitJob(const uapi::RocketSubmit& submit, uint32_t index);
  int CheckJob(const uapi::RocketJob& words, Job* job);
  int ReadTasks(const uapi::RocketJob& words, Job* job);
  int ResolveHandles(uint64_t pointer, uint32_t count,
                     std::vector<std::shared_ptr<BufferObject>>* out);
  int WaitForWriters(BufferObject* object, int64_t deadline_ns);
  int ReadRanges(const BufferObject& object, uint64_t pointer, uint32_t count,
                 std::vector<uapi::RocketBoRange>* out) const;
  void NoteFini(const std::shared_ptr<BufferObject>& object);

  const std::shared_ptr<Npu> npu_;
  const std::shared_ptr<Domain> domain_;
  const std::shared_ptr<Scheduler::Entity> entity_;
  mutable std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<BufferObject>> handles_;  // under mutex_
};

}  // namespace npu::kmodel

#endif  // SRC_KMODEL_FILE_H_
