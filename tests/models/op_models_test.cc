// SPDX-License-Identifier: Apache-2.0
// Every int8 and uint8 operator of the shared model set, alone and as nodes of whole networks,
// through the support rule and the host kernel: equal to BUILTIN_REF byte for byte, row-major and
// on cubes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "src/chip/profile.h"
#include "src/host/silicon.h"
#include "src/layout/pack.h"
#include "src/ops/op_def.h"
#include "tests/models/case_reader.h"

namespace npu::test {
namespace {

constexpr std::byte kPoison{0x5A};

bool TouchesInt8(const OpCase& c) {
  const ir::Node& node = c.graph.nodes[0];
  const auto is_int8 = [&](ir::ValueId id) {
    return id != ir::kNoValue && c.graph.type(id).dtype == DataType::kInt8;
  };
  // Filters and biases do not make an operation int8.
  return is_int8(node.inputs[0]) || is_int8(node.outputs[0]);
}

layout::TensorView View(const ir::TensorType& type, std::vector<std::byte>& bytes) {
  return {.data = bytes.data(), .dtype = type.dtype, .shape = type.shape};
}

size_t FirstDifference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

// Runs a kernel on row-major operands; constants are withheld, as the planner does.
std::vector<std::byte> RunRowMajor(const OpCase& c, const host::Kernel& kernel) {
  const ir::Node& node = c.graph.nodes[0];
  std::vector<std::vector<std::byte>> data = c.data;
  std::vector<layout::TensorView> inputs;
  for (const ir::ValueId id : node.inputs) {
    const bool withheld = id == ir::kNoValue || c.graph.value(id).is_constant();
    inputs.push_back(withheld ? layout::TensorView{}
                              : View(c.graph.type(id), data[static_cast<size_t>(id)]));
  }
  std::vector<std::byte>& out = data[static_cast<size_t>(node.outputs[0])];
  std::fill(out.begin(), out.end(), kPoison);
  std::vector<std::byte> scratch(kernel.scratch_bytes(), kPoison);
  const layout::TensorView output = View(c.graph.output(node).type, out);
  kernel.Run(inputs, {&output, 1}, scratch);
  return out;
}

bool IsImage(const ir::TensorType& type) {
  return type.dtype == DataType::kInt8 && type.shape.rank() == 4 && type.shape[0] == 1;
}

layout::CubeShape CubeOf(const Shape& shape) {
  const auto extent = [&](size_t i) { return static_cast<uint32_t>(shape[i]); };
  return {.channels = extent(3),
          .allocated_channels = extent(3),
          .height = extent(1),
          .width = extent(2)};
}

// Whether every run-time operand can be a cube.
bool FitsCubes(const OpCase& c, const host::Kernel& kernel) {
  if (kernel.order_support() == host::OrderSupport::kRowMajor) return false;
  const ir::Node& node = c.graph.nodes[0];
  bool fits = IsImage(c.graph.output(node).type);
  for (const ir::ValueId id : node.inputs) {
    if (id == ir::kNoValue || c.graph.value(id).is_constant()) continue;
    fits = fits && IsImage(c.graph.type(id));
  }
  return fits;
}

// The same on cubes whose padding lanes hold rubbish, unpacked again.
std::vector<std::byte> RunCubes(const OpCase& c, const host::Kernel& kernel) {
  const ir::Node& node = c.graph.nodes[0];
  const auto cube_view = [](const ir::TensorType& type, std::vector<std::byte>& bytes) {
    const layout::CubeShape cube = CubeOf(type.shape);
    return layout::TensorView{.data = bytes.data(),
                              .dtype = type.dtype,
                              .shape = type.shape,
                              .order = layout::Order::kCube,
                              .surface_bytes = cube.surface_bytes()};
  };
  std::vector<std::vector<std::byte>> cubes(node.inputs.size());
  std::vector<layout::TensorView> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ir::ValueId id = node.inputs[i];
    if (id == ir::kNoValue || c.graph.value(id).is_constant()) {
      inputs.emplace_back();
      continue;
    }
    const Shape& shape = c.graph.type(id).shape;
    const layout::CubeShape cube = CubeOf(shape);
    cubes[i].assign(cube.bytes(), kPoison);
    const std::byte* from = c.data[static_cast<size_t>(id)].data();
    for (uint32_t h = 0; h < cube.height; ++h) {
      for (uint32_t w = 0; w < cube.width; ++w) {
        for (uint32_t ch = 0; ch < cube.channels; ++ch) {
          cubes[i][layout::CubeOffset(cube, ch, h, w)] = *from++;
        }
      }
    }
    inputs.push_back(cube_view(c.graph.type(id), cubes[i]));
  }
  const ir::TensorType& type = c.graph.output(node).type;
  const layout::CubeShape cube = CubeOf(type.shape);
  std::vector<std::byte> out_cube(cube.bytes(), kPoison);
  const layout::TensorView output = cube_view(type, out_cube);
  std::vector<std::byte> scratch(kernel.scratch_bytes(), kPoison);
  kernel.Run(inputs, {&output, 1}, scratch);
  std::vector<std::byte> out(static_cast<size_t>(type.shape.elements()));
  layout::UnpackInt8(out_cube.data(), cube, false, out.data());
  return out;
}

struct Tally {
  int passed = 0, total = 0, cubes = 0;
};

void RunCase(const OpCase& c, Tally& tally) {
  ++tally.total;
  const Status verified = ir::Verify(c.graph);
  ASSERT_TRUE(verified.ok()) << c.name << ": " << verified.message();
  const ir::Node& node = c.graph.nodes[0];
  const ops::OpDef& op = ops::FindOp(node.params);
  EXPECT_EQ(op.name, c.op) << c.name;
  auto kernel = op.make_host(c.graph, node);
  ASSERT_TRUE(kernel.ok()) << c.name << ": " << kernel.status().message();
  const std::vector<std::byte>& expected = c.data[static_cast<size_t>(node.outputs[0])];
  const std::vector<std::byte> got = RunRowMajor(c, **kernel);
  ASSERT_EQ(got.size(), expected.size()) << c.name;
  EXPECT_TRUE(got == expected) << c.name << " differs at byte " << FirstDifference(got, expected)
                               << " of " << expected.size();
  bool passed = got == expected;
  if (FitsCubes(c, **kernel)) {
    const std::vector<std::byte> cube = RunCubes(c, **kernel);
    EXPECT_TRUE(cube == expected) << c.name << " on cubes differs at byte "
                                  << FirstDifference(cube, expected);
    passed = passed && cube == expected;
    ++tally.cubes;
  }
  tally.passed += passed ? 1 : 0;
}

class OpModels : public testing::Test {
 protected:
  static void SetUpTestSuite() { cases() = ReadCases(NPU_CASES_DIR); }
  static void TearDownTestSuite() { cases().clear(); }
  void SetUp() override {
    if (cases().empty()) GTEST_SKIP() << "no cases: the shared model set is not there";
  }
  static std::vector<OpCase>& cases() {
    static std::vector<OpCase> all;
    return all;
  }
  static bool IsNetwork(const OpCase& c) { return c.name.find('/') != std::string::npos; }
};

TEST_F(OpModels, SingleOperatorsEqualReference) {
  Tally tally;
  std::map<std::string, int> other;
  for (const OpCase& c : cases()) {
    if (IsNetwork(c)) continue;
    if (!c.excluded.empty()) {
      ++other[c.op];
    } else if (TouchesInt8(c)) {
      RunCase(c, tally);
    } else {
      ++other["float"];
    }
  }
  std::cout << tally.passed << " of " << tally.total << " int8 and uint8 models passed, "
            << tally.cubes << " of them on cubes too\nnot in this slice:";
  for (const auto& [name, count] : other) std::cout << ' ' << name << ' ' << count;
  std::cout << '\n';
  // At least the int8 and uint8 models of the operations that are there, counted in the index.
  EXPECT_GE(tally.total, 200);
  EXPECT_GE(tally.cubes, 60);
}

TEST_F(OpModels, NetworkNodesEqualReference) {
  Tally tally;
  std::set<std::string> other;
  for (const OpCase& c : cases()) {
    if (!IsNetwork(c)) continue;
    if (!c.excluded.empty()) {
      other.insert(c.op);
    } else {
      RunCase(c, tally);
    }
  }
  std::cout << tally.passed << " of " << tally.total << " nodes passed, " << tally.cubes
            << " of them on cubes too\n";
  for (const std::string& name : other) std::cout << "not in this slice: " << name << '\n';
  EXPECT_GT(tally.total, 500);
}

// What the NPU computes for a node, by its own description, from the inputs BUILTIN_REF had.
template <typename T>
std::vector<T> Recompute(const encode::EncodedOp& op, std::vector<std::vector<std::byte>> inputs) {
  auto kernel = host::MakeSilicon(op.silicon);
  EXPECT_TRUE(kernel.ok());
  std::vector<layout::TensorView> in_views;
  for (auto& in : inputs) in_views.push_back({.data = in.data(), .shape = {}});
  std::vector<T> out(size_t{op.output.height} * op.output.width * op.output.channels);
  const layout::TensorView out_view{.data = reinterpret_cast<std::byte*>(out.data()), .shape = {}};
  std::vector<std::byte> scratch((*kernel)->scratch_bytes());
  (*kernel)->Run(in_views, {&out_view, 1}, scratch);
  return out;
}

int LargestDifference(const std::vector<int8_t>& got, const std::vector<std::byte>& expected) {
  int largest = got.size() == expected.size() ? 0 : 256;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    largest = std::max(largest, std::abs(got[i] - static_cast<int8_t>(expected[i])));
  }
  return largest;
}

struct LowerTally {
  std::map<int, int> differences;  // largest difference -> nodes
  std::map<std::string, int> on_host;
};

void LowerCase(const OpCase& c, bool exact, LowerTally& tally) {
  const ir::Node& node = c.graph.nodes[0];
  const ops::OpDef& def = ops::FindOp(node.params);
  if (def.lower == nullptr) return;
  auto op = def.lower(c.graph, node, *chip::FindChip("rk3588"), {.exact = exact});
  if (!op.ok()) {
    EXPECT_EQ(op.status().code(), ErrorCode::kUnsupported) << c.name;
    ++tally.on_host[c.op + " " + std::string(op.status().reason())];
    return;
  }
  std::vector<std::vector<std::byte>> inputs = {c.data[static_cast<size_t>(node.inputs[0])]};
  if (op->has_input_b()) inputs.push_back(c.data[static_cast<size_t>(node.inputs[1])]);
  const std::vector<std::byte>& expected = c.data[static_cast<size_t>(node.outputs[0])];
  std::vector<int8_t> got;
  if (op->raw_int32()) {
    std::vector<int32_t> sums = Recompute<int32_t>(*op, inputs);
    auto requantize = def.make_requant(c.graph, node);
    ASSERT_TRUE(requantize.ok());
    got.resize(expected.size());  // the sums may have a channel more
    const layout::TensorView in{.data = reinterpret_cast<std::byte*>(sums.data()), .shape = {}};
    const layout::TensorView out{.data = reinterpret_cast<std::byte*>(got.data()), .shape = {}};
    (*requantize)->Run({&in, 1}, {&out, 1}, {});
  } else {
    got = Recompute<int8_t>(*op, inputs);
  }
  const int largest = LargestDifference(got, expected);
  EXPECT_LE(largest, exact ? 0 : op->bound.counts) << c.name;
  ++tally.differences[largest];
}

void PrintTally(const char* mode, const LowerTally& tally) {
  std::cout << mode << ':';
  for (const auto& [difference, nodes] : tally.differences) {
    std::cout << ' ' << nodes << " nodes differ by at most " << difference << ';';
  }
  for (const auto& [reason, nodes] : tally.on_host) {
    std::cout << ' ' << nodes << " on the host for " << reason << ';';
  }
  std::cout << '\n';
}

// The arithmetic of the command streams (not the streams: conformance checks those).
TEST_F(OpModels, NetworkNodesOnTheNpuStayWithinTheirBound) {
  LowerTally chip, exact;
  for (const OpCase& c : cases()) {
    if (!IsNetwork(c) || !c.excluded.empty()) continue;
    LowerCase(c, false, chip);
    LowerCase(c, true, exact);
  }
  PrintTally("chip", chip);
  PrintTally("exact", exact);
  EXPECT_GT(chip.differences[0] + chip.differences[1], 200);
  EXPECT_GT(exact.differences[0], 150);
}

TEST_F(OpModels, OtherTypesAreDeclinedWithAReason) {
  int declined = 0;
  for (const OpCase& c : cases()) {
    if (IsNetwork(c) || !c.excluded.empty() || TouchesInt8(c)) continue;
    const ir::Node& node = c.graph.nodes[0];
    const Status status = ops::FindOp(node.params).check(c.graph, node);
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported) << c.name;
    EXPECT_FALSE(status.reason().empty()) << c.name;
    ++declined;
  }
  EXPECT_GT(declined, 60);
}

}  // namespace
}  // namespace npu::test
