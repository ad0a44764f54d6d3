// SPDX-License-Identifier: Apache-2.0
// The doctor's eyes: files, device nodes and the kernel log of this machine, or of a tree of files
// that describes one. Read-only. In a tree
//   /dev/accel/accel0      is a text: "rocket 1.1.0" (what the driver answers) or "EACCES"
//   /dev/kmsg              is the text of the kernel log; absent: not readable
//   /proc/sys/kernel/arch  is the architecture ("aarch64"), .../osrelease the kernel's release
#ifndef SRC_DOCTOR_SYSTEM_H_
#define SRC_DOCTOR_SYSTEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::doctor {

// What a device node says about itself.
struct NodeAnswer {
  std::string path;
  int error = 0;       // errno of open; 0: opened
  std::string driver;  // empty: no DRM driver behind it
  int major = 0, minor = 0, patch = 0;
  bool operator==(const NodeAnswer&) const = default;
};

// Paths are absolute. Thread-safe: nothing is kept.
class System {
 public:
  // `root`: empty for this machine.
  explicit System(std::string root = {}) : root_(std::move(root)) {}
  bool live() const { return root_.empty(); }

  // The contents, at most `limit` bytes; nothing if it cannot be read.
  std::optional<std::string> Read(std::string_view path, size_t limit = size_t{1} << 20) const;
  // First line without blanks at its ends; empty if unreadable.
  std::string Line(std::string_view path) const;
  // The number in the file; nothing if there is none.
  std::optional<int64_t> Number(std::string_view path) const;
  bool Exists(std::string_view path) const;
  // Whether this user may write the file (in a tree: whether anybody may).
  bool Writable(std::string_view path) const;
  // "root:render 0660", of a node; empty if there is none.
  std::string Owner(std::string_view path) const;
  std::optional<std::string> Link(std::string_view path) const;
  // Names in a directory, sorted, without . and ..; empty if unreadable.
  std::vector<std::string> List(std::string_view directory) const;
  // Opens the node and asks for its driver; closes it again.
  NodeAnswer Ask(std::string_view node) const;
  // The kernel log; nothing where this user may not read it (*error says why).
  std::optional<std::string> KernelLog(std::string* error) const;
  std::string Architecture() const;
  std::string Release() const;

 private:
  std::string At(std::string_view path) const { return root_ + std::string(path); }
  std::string root_;
};

// Parts of a text that helpers of the probes need: lines, tokens between NULs or blanks.
std::vector<std::string> Split(std::string_view text, char separator);
std::string Trimmed(std::string_view text);
// The first line of `text` that contains one of the words; empty if none.
std::string FindLine(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace npu::doctor

#endif  // SRC_DOCTOR_SYSTEM_H_
