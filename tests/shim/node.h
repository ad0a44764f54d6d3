// SPDX-License-Identifier: Apache-2.0
// Small tools of the tests that run with the shim preloaded.
#ifndef TESTS_SHIM_NODE_H_
#define TESTS_SHIM_NODE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace npu::shim_test {

inline constexpr char kNode[] = "/dev/accel/accel0";

// An open descriptor of the node.
class Node {
 public:
  explicit Node(int flags = O_RDWR | O_CLOEXEC) : fd_(open(kNode, flags)) { EXPECT_GE(fd_, 0); }
  ~Node() { close(fd_); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// Descriptors of this process.
inline size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Mappings of the simulated device's memory.
inline size_t DeviceMappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:rocket-npu") != std::string::npos) ++count;
  }
  return count;
}

}  // namespace npu::shim_test

#endif  // TESTS_SHIM_NODE_H_
