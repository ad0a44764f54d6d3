// SPDX-License-Identifier: Apache-2.0
// Whole graphs: compiled, run on the simulated NPU and compared byte for byte with the host path
// (numerics.requant=exact), or recomputed operation by operation with silicon arithmetic (chip).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/device/open.h"
#include "src/plan/compile.h"
#include "src/plan/summary.h"
#include "src/runtime/host_path.h"
#include "src/runtime/session.h"
#include "tests/graph/graph_builder.h"

namespace npu::testing {
namespace {

using plan::Requant;
using Tensors = std::vector<std::vector<std::byte>>;

Tensors MakeOutputs(const ir::Graph& graph) {
  Tensors outputs;
  for (ir::ValueId out : graph.outputs) {
    outputs.emplace_back(static_cast<size_t>(graph.type(out).shape.elements()));
  }
  return outputs;
}

std::vector<std::span<const std::byte>> Views(const Tensors& tensors) {
  return {tensors.begin(), tensors.end()};
}
std::vector<std::span<std::byte>> MutableViews(Tensors* tensors) {
  return {tensors->begin(), tensors->end()};
}

std::shared_ptr<device::Device> OpenSimulator(bool can_chain) {
  auto device = device::Open({.provider = "sim", .can_chain = can_chain});
  EXPECT_TRUE(device.ok()) << device.status().message();
  return device.ok() ? *device : nullptr;
}

struct RunResult {
  Tensors outputs;
  runtime::SessionStatistics statistics;
  std::shared_ptr<const plan::CompiledProgram> program;
};

RunResult RunCompiled(const ir::Graph& graph, const Tensors& inputs, Requant requant, int runs = 1,
                      bool can_chain = false) {
  RunResult result;
  auto compiled = plan::Compile(graph, {.requant = requant});
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return result;
  result.program = std::move(compiled).value();
  auto session = runtime::Session::Create(result.program, OpenSimulator(can_chain),
                                          {.verify_first = requant == Requant::kChip});
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return result;
  result.outputs = MakeOutputs(graph);
  for (int i = 0; i < runs; ++i) {
    const Status status = session.value()->Run(Views(inputs), MutableViews(&result.outputs));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  result.statistics = session.value()->statistics();
  EXPECT_EQ(result.statistics.host_runs, 0U) << "the device path must have been used";
  EXPECT_EQ(result.statistics.verify_mismatches, 0U);
  return result;
}

Tensors RunReference(const ir::Graph& graph, const Tensors& inputs) {
  auto path = runtime::HostPath::Create(graph);
  EXPECT_TRUE(path.ok()) << path.status().message();
  Tensors outputs = MakeOutputs(graph);
  if (path.ok()) path.value()->Run(Views(inputs), MutableViews(&outputs));
  return outputs;
}

// A random image network: convolutions of all kinds, residual adds, pools, pads, concatenations.
ir::ValueId AddRandomLayer(GraphBuilder* b, ir::ValueId x, std::vector<ir::ValueId>* same_shape) {
  const Shape in = b->type(x).shape;
  const auto pick = [&](int n) { return static_cast<int>(b->rng()() % static_cast<uint64_t>(n)); };
  switch (pick(10)) {
    case 0:
      return b->Conv(x, 8 + pick(60), 1, 1, ir::Padding::kSame, ir::Activation::kNone);
    case 1:
      return b->Conv(x, 8 + pick(60), 3, 1 + pick(2), ir::Padding::kSame, ir::Activation::kRelu6);
    case 2:
      return b->Depthwise(x, 3, 1 + pick(2));
    case 3:
      return b->Depthwise(x, 5, 1);
    case 4: {
      for (ir::ValueId other : *same_shape) {
        if (other != x && b->type(other).shape == in) return b->Add(x, other);
      }
      return b->Relu(x);
    }
    case 5:
      return b->Relu(x);
    case 6:
      return b->LeakyRelu(x);
    case 7:
      return b->MaxPool(x, 2 + pick(2), 1 + pick(2));
    case 8:
      return b->Pad(x, pick(2), pick(20));
    default: {
      const ir::ValueId y =
          b->Conv(x, 16 * (1 + pick(3)), 1, 1, ir::Padding::kSame, ir::Activation::kRelu);
      return b->Concat(x, y);
    }
  }
}

const ir::Graph* BuildRandomNetwork(GraphBuilder* b) {
  const auto pick = [&](int n) { return static_cast<int>(b->rng()() % static_cast<uint64_t>(n)); };
  ir::ValueId x = b->Input(7 + pick(14), 6 + pick(15), 1 + pick(20));
  std::vector<ir::ValueId> images;
  const int layers = 3 + pick(8);
  for (int i = 0; i < layers; ++i) {
    images.push_back(x);
    x = AddRandomLayer(b, x, &images);
    if (b->type(x).shape[1] < 4 || b->type(x).shape[2] < 4) break;
  }
  if (pick(2) == 0) b->Output(x);
  const ir::ValueId mean = b->Mean(x);
  b->Output(b->Softmax(b->FullyConnected(mean, 5 + pick(40))));
  return &b->graph();
}

class RandomNetwork : public ::testing::TestWithParam<int> {};

TEST_P(RandomNetwork, ExactEqualsTheHostPath) {
  GraphBuilder b(static_cast<uint64_t>(GetParam()));
  const ir::Graph& graph = *BuildRandomNetwork(&b);
  const Tensors inputs = {b.RandomInput(0)};
  const RunResult run = RunCompiled(graph, inputs, Requant::kExact, 2);
  EXPECT_EQ(run.outputs, RunReference(graph, inputs)) << ir::ToString(graph);
}

TEST_P(RandomNetwork, ChipEqualsSiliconArithmeticAndItself) {
  GraphBuilder b(static_cast<uint64_t>(GetParam()));
  const ir::Graph& graph = *BuildRandomNetwork(&b);
  const Tensors inputs = {b.RandomInput(0)};
  // The first run checks every operation (one submit each); the second runs the planned jobs.
  const RunResult first = RunCompiled(graph, inputs, Requant::kChip, 1);
  const RunResult second = RunCompiled(graph, inputs, Requant::kChip, 2);
  EXPECT_EQ(first.outputs, second.outputs) << ir::ToString(graph);
  EXPECT_GT(second.statistics.kicks, 0U);
}

// One kick a submit: the simulator follows the links of the lists and fails a kick whose count and
// chain differ.
TEST_P(RandomNetwork, OneKickASubmitGivesTheSame) {
  GraphBuilder b(static_cast<uint64_t>(GetParam()));
  const ir::Graph& graph = *BuildRandomNetwork(&b);
  const Tensors inputs = {b.RandomInput(0)};
  const RunResult stock = RunCompiled(graph, inputs, Requant::kChip, 2);
  const RunResult chained = RunCompiled(graph, inputs, Requant::kChip, 2, true);
  EXPECT_EQ(chained.outputs, stock.outputs) << ir::ToString(graph);
  const plan::ProgramSummary summary = plan::Summarize(*chained.program);
  EXPECT_LE(summary.chained_kicks, chained.program->tasks);
  EXPECT_LE(chained.program->modelled_chained_us, chained.program->modelled_us);
  // The first run is the verifying one, a submit an operation.
  EXPECT_LE(chained.statistics.kicks, stock.statistics.kicks);
}

// Pools of the pooling unit, where a device completes them, among convolutions.
TEST_P(RandomNetwork, MaximumPoolsOnThePoolingUnit) {
  GraphBuilder b(static_cast<uint64_t>(GetParam()));
  const ir::Graph& graph = *BuildRandomNetwork(&b);
  const Tensors inputs = {b.RandomInput(0)};
  auto program = plan::Compile(graph, {.requant = Requant::kExact, .ppu_tasks = true});
  ASSERT_TRUE(program.ok()) << program.status().message();
  device::OpenOptions open;
  open.provider = "sim";
  open.completes_ppu = true;
  auto device = device::Open(open);
  ASSERT_TRUE(device.ok()) << device.status().message();
  auto session = runtime::Session::Create(std::move(program).value(), std::move(device).value(),
                                          {.verify_first = true});
  ASSERT_TRUE(session.ok()) << session.status().message();
  Tensors outputs = MakeOutputs(graph);
  for (int run = 0; run < 2; ++run) {
    const Status status = session.value()->Run(Views(inputs), MutableViews(&outputs));
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(outputs, RunReference(graph, inputs)) << ir::ToString(graph);
  }
  EXPECT_EQ(session.value()->statistics().host_runs, 0U);
}

TEST_P(RandomNetwork, Uint8WithAsymmetricWeights) {
  GraphBuilder b(static_cast<uint64_t>(GetParam()));
  const ir::Graph& graph = *BuildRandomNetwork(&b);
  b.MakeUint8();
  const Tensors inputs = {b.RandomInput(0)};
  const RunResult exact = RunCompiled(graph, inputs, Requant::kExact, 2);
  EXPECT_EQ(exact.outputs, RunReference(graph, inputs)) << ir::ToString(graph);
  const RunResult first = RunCompiled(graph, inputs, Requant::kChip, 1);
  const RunResult second = RunCompiled(graph, inputs, Requant::kChip, 2);
  EXPECT_EQ(first.outputs, second.outputs) << ir::ToString(graph);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNetwork, ::testing::Range(1, 41));

Tensors Flipped(Tensors tensors) {
  for (auto& bytes : tensors) {
    for (std::byte& b : bytes) b ^= std::byte{0x80};
  }
  return tensors;
}

// Nothing in these operations depends on where zero lies: uint8 in and out is int8 in and out with
// the sign bits flipped, whichever step reads the input and writes the output.
TEST(Uint8, OnlyTheBoundaryDiffersFromInt8) {
  const auto build = [](GraphBuilder* b, bool cubes_first) {
    ir::ValueId x = b->Input(8, 9, 20);
    if (!cubes_first) x = b->MaxPool(x, 2, 1);
    const ir::ValueId y = b->AveragePool(x, 3);  // odd windows have no ties
    b->Output(cubes_first ? y : b->Pad(y, 1, 3));
    b->Output(b->MaxPool(y, 2, 2));
    b->Output(b->Reshape(b->MaxPool(x, 3, 1), {1, 72, 20}));
  };
  for (const bool cubes_first : {false, true}) {
    GraphBuilder int8(17), uint8(17);
    build(&int8, cubes_first);
    build(&uint8, cubes_first);
    uint8.MakeUint8();
    const Tensors inputs = {int8.RandomInput(0)};
    const RunResult want = RunCompiled(int8.graph(), inputs, Requant::kExact);
    const RunResult got = RunCompiled(uint8.graph(), Flipped(inputs), Requant::kExact, 2);
    EXPECT_GT(got.program->tasks, 0U);
    EXPECT_EQ(got.outputs, Flipped(want.outputs)) << plan::ToString(*got.program);
    EXPECT_EQ(RunReference(uint8.graph(), Flipped(inputs)), got.outputs);
  }
}

TEST(Uint8, IsConvertedOnTheWayIntoCubesAndOutOfThem) {
  GraphBuilder b(3);
  b.Output(b.Conv(b.Input(16, 16, 3), 32, 3, 2, ir::Padding::kSame, ir::Activation::kRelu6));
  b.MakeUint8();
  auto program = plan::Compile(b.graph(), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value()->steps.size(), 3U) << plan::ToString(*program.value());
}

TEST(Compile, KeepsTensorsInCubesBetweenNpuOperations) {
  GraphBuilder b(3);
  ir::ValueId x = b.Input(16, 16, 3);
  x = b.Conv(x, 32, 3, 2, ir::Padding::kSame, ir::Activation::kRelu6);
  x = b.Depthwise(x, 3, 1);
  x = b.Conv(x, 64, 1, 1, ir::Padding::kSame, ir::Activation::kNone);
  b.Output(x);
  auto program = plan::Compile(b.graph(), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value()->submits, 1U);
  ASSERT_EQ(program.value()->steps.size(), 3U) << plan::ToString(*program.value());
  EXPECT_TRUE(std::holds_alternative<plan::PackStep>(program.value()->steps[0]));
  EXPECT_TRUE(std::holds_alternative<plan::NpuStep>(program.value()->steps[1]));
  EXPECT_TRUE(std::holds_alternative<plan::UnpackStep>(program.value()->steps[2]));
}

TEST(Compile, ChainsWholeRunsOfTasks) {
  GraphBuilder b(3);
  ir::ValueId x = b.Input(16, 16, 3);
  x = b.Conv(x, 32, 3, 2, ir::Padding::kSame, ir::Activation::kRelu6);
  x = b.Depthwise(x, 3, 1);
  b.Output(b.Conv(x, 64, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
  const Tensors inputs = {b.RandomInput(0)};
  const RunResult run = RunCompiled(b.graph(), inputs, Requant::kChip, 2, true);
  const uint32_t tasks = run.program->tasks;
  EXPECT_GE(tasks, 3U);
  EXPECT_EQ(plan::Summarize(*run.program).chained_kicks, 1U);
  // The verifying run kicks once for each of the three operations, the second run once.
  EXPECT_EQ(run.statistics.kicks, 4U);
}

TEST(Compile, NeverChainsRawSums) {
  GraphBuilder b(3);
  ir::ValueId x = b.Input(16, 16, 3);
  b.Output(b.Conv(x, 32, 3, 1, ir::Padding::kSame, ir::Activation::kNone));
  auto program = plan::Compile(b.graph(), {.requant = Requant::kExact});
  ASSERT_TRUE(program.ok()) << program.status().message();
  for (const plan::Step& step : program.value()->steps) {
    if (const auto* npu = std::get_if<plan::NpuStep>(&step)) {
      EXPECT_FALSE(npu->chainable);
    }
  }
}

TEST(Compile, RunsElementwiseStepsOnTheCube) {
  GraphBuilder b(5);
  const ir::ValueId x = b.Input(8, 8, 32);
  const ir::ValueId y = b.Conv(x, 24, 1, 1, ir::Padding::kSame, ir::Activation::kNone);
  b.Output(b.Conv(b.LeakyRelu(y), 16, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
  auto program = plan::Compile(b.graph(), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value()->reports[1].route, "host-cube");
  EXPECT_EQ(program.value()->submits, 2U);
  EXPECT_EQ(program.value()->steps.size(), 5U) << plan::ToString(*program.value());
}

// An add whose operands come from the host and whose result goes there is not worth a submit.
TEST(Compile, KeepsAddsBetweenHostStepsOnTheHost) {
  GraphBuilder b(5);
  const ir::ValueId x = b.Input(8, 8, 32);
  const ir::ValueId y = b.Conv(x, 24, 1, 1, ir::Padding::kSame, ir::Activation::kNone);
  const ir::ValueId sum = b.Add(b.LeakyRelu(y), b.LeakyRelu(y));
  b.Output(b.Conv(b.LeakyRelu(sum), 16, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
  auto program = plan::Compile(b.graph(), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value()->reports[3].route, "host-cube");
  EXPECT_NE(program.value()->reports[3].host_reason.find("submit"), std::string::npos);
  EXPECT_EQ(program.value()->submits, 2U);
}

TEST(Compile, PoolsOnThePoolingUnitOnlyWhereItCompletes) {
  GraphBuilder b(5);
  const ir::ValueId x = b.MaxPool(b.Input(9, 8, 32), 3, 2);
  b.Output(b.Conv(x, 16, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
  auto stock = plan::Compile(b.graph(), {});
  auto program = plan::Compile(b.graph(), {.ppu_tasks = true});
  ASSERT_TRUE(stock.ok() && program.ok());
  EXPECT_EQ(stock.value()->reports[0].route, "host");
  EXPECT_EQ(program.value()->reports[0].route, "npu-pool");
  EXPECT_EQ(program.value()->submits, 1U);
  // How a kick ends that has such tasks is not known: one kick a task.
  EXPECT_FALSE(std::get<plan::NpuStep>(program.value()->steps[1]).chainable);
}

TEST(Compile, KeepsResidualAddsInTheJob) {
  GraphBuilder b(5);
  const ir::ValueId x = b.Input(8, 8, 32);
  const ir::ValueId y = b.Conv(x, 24, 1, 1, ir::Padding::kSame, ir::Activation::kNone);
  const ir::ValueId z = b.Conv(x, 24, 3, 1, ir::Padding::kSame, ir::Activation::kNone);
  b.Output(b.Conv(b.Add(y, z), 16, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
  auto program = plan::Compile(b.graph(), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value()->reports[2].route, "npu-elementwise");
  EXPECT_EQ(program.value()->submits, 1U);
  EXPECT_EQ(program.value()->steps.size(), 3U) << plan::ToString(*program.value());
}

// Channels of the parts: whole writer groups but for the last.
TEST(Compile, PlacesTheInputsOfAConcatenationInItsResult) {
  for (const Requant requant : {Requant::kChip, Requant::kExact}) {
    for (const int32_t last : {16, 32, 40}) {
      GraphBuilder b(17);
      const ir::ValueId x = b.Input(9, 7, 32);
      const ir::ValueId y = b.Conv(x, 64, 3, 1, ir::Padding::kSame, ir::Activation::kRelu);
      const ir::ValueId z = b.Conv(x, last, 1, 1, ir::Padding::kSame, ir::Activation::kRelu);
      const ir::ValueId joined = b.Concat(y, z);
      b.Output(b.Conv(joined, 24, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
      b.Output(b.Depthwise(y, 3, 1));  // a part is read by itself too
      b.Output(joined);
      const Tensors inputs = {b.RandomInput(0)};
      const RunResult run = RunCompiled(b.graph(), inputs, requant, 2);
      EXPECT_EQ(run.program->reports[2].route, "placement") << plan::ToString(*run.program);
      if (requant == Requant::kExact) {
        EXPECT_EQ(run.outputs, RunReference(b.graph(), inputs)) << last;
      } else {
        EXPECT_EQ(run.program->submits, 1U);
      }
    }
  }
}

// A part of 24 channels, or of 32 whose writer writes 64, would be overwritten by its neighbour, or
// overwrite it.
TEST(Compile, CopiesAConcatenationThatCannotBePlaced) {
  for (const bool depthwise : {false, true}) {
    GraphBuilder b(19);
    const ir::ValueId x = b.Input(9, 7, 32);
    const ir::ValueId y = depthwise
                              ? b.Depthwise(x, 3, 1)
                              : b.Conv(x, 24, 1, 1, ir::Padding::kSame, ir::Activation::kRelu);
    const ir::ValueId z = b.Conv(x, 32, 1, 1, ir::Padding::kSame, ir::Activation::kRelu);
    b.Output(b.Conv(b.Concat(y, z), 24, 1, 1, ir::Padding::kSame, ir::Activation::kNone));
    const Tensors inputs = {b.RandomInput(0)};
    const RunResult run = RunCompiled(b.graph(), inputs, Requant::kExact, 2);
    EXPECT_EQ(run.outputs, RunReference(b.graph(), inputs));
    const RunResult chip = RunCompiled(b.graph(), inputs, Requant::kChip, 2);
    EXPECT_EQ(chip.program->reports[2].route, "host-cube") << plan::ToString(*chip.program);
  }
}

TEST(Compile, MultipliesOnTheNpuWhatOnlyTheHostCanRequantize) {
  GraphBuilder b(13);
  const ir::ValueId x = b.Input(6, 6, 32);
  b.Output(b.Conv(x, 40, 3, 1, ir::Padding::kSame, ir::Activation::kNone));
  // One live channel 4000 times stronger than the others: no 16-bit multiplier serves both.
  b.ScaleWeights(0, 7, 4000.0F);
  const ir::Graph& graph = b.graph();
  const Tensors inputs = {b.RandomInput(0)};
  const RunResult run = RunCompiled(graph, inputs, Requant::kChip);
  ASSERT_NE(run.program, nullptr);
  EXPECT_EQ(run.program->reports[0].route, "npu-int32-host-requant");
  EXPECT_NE(run.program->reports[0].host_reason.find("channel"), std::string::npos);
  EXPECT_EQ(run.outputs, RunReference(graph, inputs));
}

TEST(Examine, GivesTheSameAnswerAtEveryCall) {
  GraphBuilder b(11);
  const ir::Graph& graph = *BuildRandomNetwork(&b);
  const auto first = plan::Examine(graph, {});
  const auto second = plan::Examine(graph, {});
  ASSERT_EQ(first.size(), graph.nodes.size());
  for (size_t n = 0; n < first.size(); ++n) {
    EXPECT_TRUE(first[n].supported) << first[n].text;
    EXPECT_EQ(first[n].on_npu, second[n].on_npu);
  }
}

TEST(Examine, NamesAnUnknownChip) {
  GraphBuilder b(1);
  b.Output(b.Relu(b.Input(4, 4, 4)));
  EXPECT_EQ(plan::Examine(b.graph(), {.chip = "rk9999"})[0].reason, "chip.unknown");
}

}  // namespace
}  // namespace npu::testing
