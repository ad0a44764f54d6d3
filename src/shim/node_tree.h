// SPDX-License-Identifier: Apache-2.0
// The part of /dev, /sys and /proc a client looks at to find the NPU (kernel-interfaces C.2): real
// files in a temporary directory, made when the first path is looked up and removed at exit.
#ifndef SRC_SHIM_NODE_TREE_H_
#define SRC_SHIM_NODE_TREE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "src/shim/environment.h"

namespace npu::shim {

// Thread-safe. Paths are absolute; a relative one is never ours.
class NodeTree {
 public:
  explicit NodeTree(const Config& config) : config_(config) {}

  // Where `path` is in the temporary directory; empty if it belongs to the real system, or if the
  // directory cannot be made.
  std::string Redirect(const char* path);
  // The path as the client knows it, of one inside the temporary directory; else unchanged.
  std::string Original(std::string_view path) const;
  // Whether `path` (redirected) is the file that stands for the node.
  bool IsNodeFile(std::string_view path) const;
  // Whether the file with this inode is.
  bool IsNodeInode(uint64_t device, uint64_t inode) const;

  uint32_t AutosuspendMs(uint32_t core);
  // "0" to "2" if the path is the runtime_status of that core, else -1.
  int RuntimeStatusOf(std::string_view path) const;
  void WriteRuntimeStatus(uint32_t core, bool active);

  // Deletes the directory, if this process made it.
  void Remove();
  // After fork, in the child: the directory is the parent's.
  void Disown();
  // Held over a fork. Its holders look up files, so it comes before the locks of descriptors.
  std::mutex& mutex() { return mutex_; }

 private:
  bool Make();
  void Populate();
  void PopulateCores();
  void PopulateClass();
  void Write(const std::string& path, std::string_view content);
  std::string CoreDirectory(uint32_t core) const;

  const Config& config_;
  std::mutex mutex_;
  std::atomic<bool> made_{false};
  std::string root_;  // set once, before made_
  std::atomic<uint64_t> node_device_{0}, node_inode_{0};
};

}  // namespace npu::shim

#endif  // SRC_SHIM_NODE_TREE_H_
