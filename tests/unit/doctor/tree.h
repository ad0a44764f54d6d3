// SPDX-License-Identifier: Apache-2.0
// Trees of files that describe machines, for System(root).
#ifndef TESTS_UNIT_DOCTOR_TREE_H_
#define TESTS_UNIT_DOCTOR_TREE_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace npu::doctor {

class Tree {
 public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // Creates the file with its directories, or replaces it.
  Tree& Set(std::string_view path, std::string_view contents);
  Tree& Remove(std::string_view path);
  Tree& ReadOnly(std::string_view path);
  std::string root() const { return root_.string(); }

  // A board of today with everything as it should be; the tests then break one thing.
  Tree& Rk3588Mainline();
  // One core bound, as it must be on this chip with a patched kernel.
  Tree& Rk3576Patched();
  // A vendor kernel: rknpu 0.9.8 behind renderD129.
  Tree& Rk3588Bsp();
  Tree& X86Laptop();

 private:
  Tree& Board(std::string_view chip, std::string_view model);
  Tree& Core(std::string_view unit, std::string_view chip);
  Tree& Node(std::string_view unit, std::string_view status, size_t domains);

  std::filesystem::path root_;
};

}  // namespace npu::doctor

#endif  // TESTS_UNIT_DOCTOR_TREE_H_
