// SPDX-License-Identifier: Apache-2.0
// The simulated NPU of this process and what the client holds of it.
#ifndef SRC_SHIM_PROCESS_H_
#define SRC_SHIM_PROCESS_H_

#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "src/kmodel/npu.h"
#include "src/shim/descriptors.h"
#include "src/shim/environment.h"
#include "src/shim/node_tree.h"

namespace npu::shim {

// One a process, never destroyed: the client may call us from its last destructor. Thread-safe.
class Process : public kmodel::DescriptorTable {
 public:
  static Process& Get();
  // Reads the environment, the first time. Not at construction: sanitizers call us before the C
  // library has an environment, and until this the variables have their defaults.
  void Configure();

  // An open of the node: a new descriptor, or -1 with errno. `flags` as of open().
  int OpenNode(int flags);
  int Ioctl(const Entry& entry, unsigned long request, void* argument);

  Descriptors& descriptors() { return descriptors_; }
  Mappings& mappings() { return mappings_; }
  NodeTree& tree() { return tree_; }
  bool IsNodePath(const char* path) const;

  // In the child of a vfork, whose memory is the parent's, nothing may be changed.
  bool owns_memory() const;
  // Makes the status of one of our memory files that of the character device it stands for.
  void Disguise(struct stat* status) const;
  bool IsMemoryFile(uint64_t device, uint64_t inode) const;
  // The file behind all mappings; -1 before the first open.
  int memory_fd() const { return memory_fd_; }

  // What `power/runtime_status` of a core says.
  bool CoreActive(uint32_t core);
  // The end of the process: no thread of ours may run into the destruction of tables.
  void Shutdown();

  // DescriptorTable, for the kernel model.
  int Install(std::shared_ptr<kmodel::BufferObject> object, uint32_t flags) override;
  std::shared_ptr<kmodel::BufferObject> Find(int fd) override;

 private:
  Process();
  std::shared_ptr<kmodel::Npu> TheNpu();
  kmodel::Options NpuOptions();
  void WriteLog(std::string_view line);
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  Config config_;  // written by Configure() only
  std::once_flag configured_;
  std::atomic<pid_t> owner_;
  Descriptors descriptors_;
  Mappings mappings_;
  NodeTree tree_;
  std::mutex mutex_;
  std::shared_ptr<kmodel::Npu> npu_;  // under mutex_; made at the first open
  std::vector<std::shared_ptr<kmodel::Npu>> abandoned_;
  sigset_t signals_before_fork_{};  // under mutex_
  std::atomic<int> memory_fd_{-1};
  std::atomic<uint64_t> memory_device_{0}, memory_inode_{0};
};

}  // namespace npu::shim

#endif  // SRC_SHIM_PROCESS_H_
