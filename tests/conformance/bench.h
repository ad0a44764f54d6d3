// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of one encoded operation on the simulator, between guard zones.
#ifndef TESTS_CONFORMANCE_BENCH_H_
#define TESTS_CONFORMANCE_BENCH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/encode/encoded_op.h"
#include "src/sim/simulator.h"

namespace npu::conformance {

// What memory nobody wrote holds.
inline constexpr std::byte kPoison{0xA5};

// A buffer between two guard zones.
struct Region {
  uint32_t iova = 0;  // of the payload
  std::vector<std::byte> bytes;
  std::vector<std::byte> before;  // copy of read-only contents

  std::byte* payload();
};

// Buffers of one operation in a simulated address space.
class Bench {
 public:
  // `inputs`: the cube of the input and, if there is one, of the second operand. `op` must outlive
  // the bench.
  Bench(const encode::EncodedOp& op, const std::vector<std::vector<std::byte>>& inputs);

  // Both paths of the simulator, which must leave the same bytes everywhere; nothing but the output
  // may change. Empty, or what went wrong.
  std::string RunTasks();

  const std::byte* output() { return regions_.at(encode::Slot::kOutput).payload(); }

 private:
  std::string RunPath(sim::Path path, std::vector<Region>* lists);
  void Add(encode::Slot slot, size_t size, const std::vector<std::byte>& contents);
  Region MakeList(const encode::TaskProgram& task);
  bool IsRightHere(const sim::Diagnostic& d) const;
  std::string CheckMemory();

  const encode::EncodedOp& op_;
  std::map<encode::Slot, Region> regions_;
  std::map<encode::Slot, size_t> sizes_;
  uint32_t next_ = 0x0A000000 + 4096;
};

}  // namespace npu::conformance

#endif  // TESTS_CONFORMANCE_BENCH_H_
