// SPDX-License-Identifier: Apache-2.0
// Random damage to models of every operation, through the real compiler, runtime and simulator:
// whatever is claimed must run, everything else must be declined with a reason, and nothing may
// crash. Run under the sanitizers it also finds reads and arithmetic that should not be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/frontends/common/engine.h"
#include "src/frontends/tflite/builtin_ops.h"
#include "src/frontends/tflite/claim.h"
#include "src/frontends/tflite/delegate.h"
#include "tests/frontends/fake_host.h"

namespace npu::tflite {
namespace {

constexpr size_t kMaxBytes = 1 << 18;  // of a tensor that is really run

class Damager {
 public:
  explicit Damager(uint32_t seed) : random_(seed) {}

  int32_t Pick(std::initializer_list<int32_t> values) {
    return *(values.begin() + random_() % values.size());
  }
  size_t Below(size_t n) { return random_() % n; }
  int32_t Odd() {
    return Pick({0, 1, 2, 3, 4, 5, 7, 16, 33, 255, -1, -2, 65536,
                 std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()});
  }
  float OddScale() {
    constexpr std::array kScales = {0.0F,  -1.0F, 1e-38F, 1e-45F, 1e-20F,   1e20F,
                                    3e38F, 1.0F,  0.3F,   1e-6F,  INFINITY, NAN};
    return kScales[Below(kScales.size())];
  }

 private:
  std::mt19937 random_;
};

// A valid node of one operation on small tensors.
class Victim {
 public:
  Victim(FakeHost* host, Damager* damager) : host_(*host), damager_(*damager) { Make(); }

  void Damage();
  bool SmallEnough() const {
    for (const int32_t t : tensors_) {
      if (host_.tensor(t).bytes > kMaxBytes) return false;
    }
    return true;
  }
  int32_t node() const { return node_; }

 private:
  int32_t Int8(std::vector<int32_t> dims) {
    return Note(host_.AddInt8(std::move(dims), 0.05F, -3));
  }
  int32_t Weights(std::vector<int32_t> dims) {
    const int32_t t = Note(host_.AddConstant(abi::kInt8, std::move(dims), {1, -2, 3, 4, -5, 6}));
    host_.Quantize(t, {0.02F}, {0});
    return t;
  }
  int32_t Ints(std::vector<int32_t> dims, std::vector<int32_t> values) {
    return Note(host_.AddConstant(abi::kInt32, std::move(dims), std::move(values)));
  }
  int32_t Note(int32_t tensor) {
    tensors_.push_back(tensor);
    return tensor;
  }
  template <typename Params>
  void Node(int32_t code, std::vector<int32_t> in, int32_t out, const Params& params) {
    node_ = host_.AddNode(code, std::move(in), {out}, params);
    param_words_ = sizeof(Params) / sizeof(int32_t);
    host_.SetModelOutputs({out});
  }
  void Make();
  void MakeConvolution();
  void MakeElementwise();
  void MakeUnary(int32_t x, int32_t y);
  void MakeShaping();
  void DamageTensor(int32_t index);
  void DamageNode();
  // Byte counts that agree with the damaged extents get further than ones that do not.
  void FixBytes(abi::Tensor* tensor);

  FakeHost& host_;
  Damager& damager_;
  std::vector<int32_t> tensors_;
  int32_t node_ = -1;
  size_t param_words_ = 0;
};

void Victim::MakeConvolution() {
  const int32_t x = Int8({1, 6, 5, 4});
  const int32_t bias = Ints({8}, {1, 2, 3});
  host_.Quantize(bias, {0.001F}, {0});
  switch (damager_.Below(4)) {
    case 0:
      return Node(kConv2d, {x, Weights({8, 3, 3, 4}), bias}, Int8({1, 6, 5, 8}),
                  abi::ConvParams{abi::kPaddingSame, 1, 1, abi::kActivationRelu, 1, 1});
    case 1:
      return Node(kDepthwiseConv2d, {x, Weights({1, 3, 3, 8}), bias}, Int8({1, 6, 5, 8}),
                  abi::DepthwiseConvParams{abi::kPaddingSame, 1, 1, 2, abi::kActivationNone, 1, 1});
    case 2:
      return Node(kFullyConnected, {x, Weights({8, 120}), bias}, Int8({1, 8}),
                  abi::FullyConnectedParams{abi::kActivationNone, 0, 0, 0});
    default:
      return Node(damager_.Pick({kAveragePool2d, kMaxPool2d}), {x}, Int8({1, 2, 2, 4}),
                  abi::PoolParams{abi::kPaddingValid, 2, 3, 2, 3, abi::kActivationRelu6});
  }
}

void Victim::MakeElementwise() {
  const int32_t x = Int8({1, 6, 5, 4});
  const int32_t y = Int8({1, 6, 5, 4});
  switch (damager_.Below(4)) {
    case 0:
      return Node(damager_.Pick({kAdd, kSub, kMul}), {x, Int8({1, 1, 5, 4})}, y,
                  abi::BinaryParams{abi::kActivationRelu});
    case 1:
      return MakeUnary(x, y);
    case 2:
      return Node(kLeakyRelu, {x}, y, abi::LeakyReluParams{0.1F});
    default:
      host_.Quantize(y, {1.0F / 256}, {-128});
      return Node(kSoftmax, {x}, y, abi::SoftmaxParams{1.0F});
  }
}

void Victim::MakeUnary(int32_t x, int32_t y) {
  const int32_t code = damager_.Pick(
      {kRelu, kReluN1To1, kRelu6, kLogistic, kTanh, kHardSwish, kQuantize, kDequantize});
  if (code == kLogistic) host_.Quantize(y, {1.0F / 256}, {-128});
  if (code == kDequantize) y = Note(host_.AddTensor(abi::kFloat32, {1, 6, 5, 4}));
  Node(code, {x}, y, abi::BinaryParams{0});
}

void Victim::MakeShaping() {
  const int32_t x = Int8({1, 6, 5, 4});
  switch (damager_.Below(5)) {
    case 0:
      return Node(kMean, {x, Ints({2}, {1, 2})}, Int8({1, 1, 1, 4}), abi::ReducerParams{1});
    case 1:
      return Node(kConcatenation, {x, x, Int8({1, 6, 5, 2})}, Int8({1, 6, 5, 10}),
                  abi::ConcatenationParams{3, abi::kActivationNone});
    case 2:
      return Node(kReshape, {x, Ints({2}, {6, 20})}, Int8({6, 20}), abi::BinaryParams{0});
    case 3:
      return Node(kPad, {x, Ints({4, 2}, {0, 0, 1, 2, 0, 1, 0, 0})}, Int8({1, 9, 6, 4}),
                  abi::BinaryParams{0});
    default:
      return Node(kResizeBilinear, {x, Ints({2}, {12, 7})}, Int8({1, 12, 7, 4}),
                  abi::ResizeParams{0, 1});
  }
}

void Victim::Make() {
  switch (damager_.Below(3)) {
    case 0:
      return MakeConvolution();
    case 1:
      return MakeElementwise();
    default:
      return MakeShaping();
  }
}

void Victim::FixBytes(abi::Tensor* tensor) {
  size_t bytes = tensor->type == abi::kInt32 || tensor->type == abi::kFloat32 ? 4 : 1;
  for (int32_t i = 0; i < tensor->dims->size; ++i) {
    if (tensor->dims->data[i] < 0 || bytes > kMaxBytes) return;
    bytes *= static_cast<size_t>(tensor->dims->data[i]);
  }
  if (tensor->allocation_type == abi::kMmapRo && bytes > tensor->bytes) return;
  tensor->bytes = bytes;
}

void Victim::DamageTensor(int32_t index) {
  abi::Tensor& t = host_.tensor(index);
  switch (damager_.Below(8)) {
    case 0:
    case 1:
      if (t.dims->size > 0)
        t.dims->data[damager_.Below(static_cast<size_t>(t.dims->size))] = damager_.Odd();
      if (damager_.Below(4) != 0) FixBytes(&t);
      return;
    case 2:
      t.dims = host_.List(damager_.Below(2) == 0 ? std::vector<int32_t>{4, 120}
                                                 : std::vector<int32_t>{});
      return FixBytes(&t);
    case 3:
      return host_.Quantize(index, {damager_.OddScale()}, {damager_.Odd()});
    case 4:
      return host_.Quantize(index, {0.1F, 0.2F, damager_.OddScale(), 0.4F}, {0, 0, 0, 0},
                            damager_.Odd());
    case 5:
      t.type = damager_.Pick({abi::kFloat32, abi::kInt32, abi::kUInt8, abi::kInt16, 18, -1});
      return FixBytes(&t);
    case 6:
      if (t.allocation_type == abi::kMmapRo && t.bytes > 0) {
        const int32_t word = damager_.Odd();
        const size_t room = std::min(sizeof(word), t.bytes);
        std::memcpy(static_cast<std::byte*>(t.data) + damager_.Below(t.bytes - room + 1), &word,
                    room);
      }
      return;
    default:
      t.allocation_type = damager_.Pick({abi::kMmapRo, abi::kArenaRw, 0, 4, 99});
      if (t.allocation_type != abi::kArenaRw && t.data == nullptr) t.bytes = 0;
  }
}

void Victim::DamageNode() {
  abi::Node& node = host_.node(node_);
  switch (damager_.Below(4)) {
    case 0:
    case 1:
      if (param_words_ > 0) {
        static_cast<int32_t*>(node.builtin_data)[damager_.Below(param_words_)] = damager_.Odd();
      }
      return;
    case 2:
      if (node.inputs->size > 0) {
        node.inputs->data[damager_.Below(static_cast<size_t>(node.inputs->size))] =
            damager_.Pick({-1, -2, 0, 1, 2, 3, 99});
      }
      return;
    default:
      node.inputs->size = std::min(node.inputs->size, damager_.Pick({0, 1, 2}));
  }
}

void Victim::Damage() {
  for (size_t n = 1 + damager_.Below(3); n > 0; --n) {
    if (damager_.Below(3) == 0) {
      DamageNode();
    } else {
      DamageTensor(tensors_[damager_.Below(tensors_.size())]);
    }
  }
}

// A failing model runs alone with its seed in NPU_TEST_SEED and NPU_TEST_MODELS=1.
uint32_t FromEnvironment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

struct Tally {
  int claimed = 0;
  int ran = 0;
};

// Runs the one partition of `plan` on zeros.
void RunOnce(FakeHost* host, ClaimPlan* plan) {
  CompiledPartition& partition = plan->partitions[0];
  std::vector<std::vector<std::byte>> memory;
  const auto give = [&](int32_t tensor) {
    memory.emplace_back(host->tensor(tensor).bytes);
    return std::span<std::byte>(memory.back());
  };
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<std::byte>> outputs;
  for (const int32_t t : partition.input_tensors) inputs.emplace_back(give(t));
  for (const int32_t t : partition.output_tensors) outputs.emplace_back(give(t));
  const Status status = partition.session->Run(inputs, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(partition.session->statistics().verify_mismatches, 0U);
  EXPECT_EQ(partition.session->statistics().host_runs, 0U);
}

void Attack(uint32_t seed, bool whole, const ClaimContext& claim, Tally* tally) {
  FakeHost host;
  Damager damager(seed);
  Victim victim(&host, &damager);
  if (!whole) victim.Damage();
  Result<ClaimPlan> plan = PlanClaim(host.context(), claim);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const frontends::NodeEntry& entry = plan.value().report.nodes[0];
  SCOPED_TRACE(entry.op);
  if (!entry.claimed) {
    EXPECT_FALSE(entry.reason.empty() || entry.text.empty());
    EXPECT_FALSE(whole) << "valid, yet declined: " << entry.text;
    return;
  }
  ++tally->claimed;
  if (FromEnvironment("NPU_TEST_MODELS", 0) == 1) {
    const plan::CompiledProgram& program = *plan.value().partitions[0].program;
    std::printf("%s%s", ir::ToString(program.graph).c_str(), plan::ToString(program).c_str());
    std::fflush(stdout);
  }
  if (!victim.SmallEnough()) return;
  RunOnce(&host, &plan.value());
  ++tally->ran;
}

// The library on the simulator, claiming all it can.
ClaimContext MakeClaimContext(plan::Requant requant) {
  frontends::Options options;
  options.device = frontends::DeviceChoice::kSim;
  options.claim = frontends::Claim::kAll;
  options.threads = 1;
  options.requant = requant;
  const auto engine = frontends::MakeEngine();
  auto device = engine->OpenDevice(options);
  EXPECT_TRUE(device.ok()) << device.status().message();
  return {.engine = engine,
          .device = device.ok() ? device.value() : nullptr,
          .no_device = device.status(),
          .options = options,
          .logger = Logger([](LogLevel, std::string_view) {})};
}

// Every tenth model is left whole and must be claimed.
void AttackMany(plan::Requant requant) {
  const uint32_t models = FromEnvironment("NPU_TEST_MODELS", 3000);
  const ClaimContext claim = MakeClaimContext(requant);
  Tally tally;
  const uint32_t first = FromEnvironment("NPU_TEST_SEED", 20251130);
  for (uint32_t i = 0; i < models; ++i) {
    SCOPED_TRACE("NPU_TEST_SEED=" + std::to_string(first + i));
    Attack(first + i, (first + i) % 10 == 0, claim, &tally);
  }
  std::printf("%d of %u claimed, %d run\n", tally.claimed, models, tally.ran);
  EXPECT_GE(tally.ran, static_cast<int>(models / 6));
}

TEST(HostileModel, AnEmptyShapeConstantReshapesToAScalar) {
  FakeHost host;
  const int32_t x = host.AddInt8({1, 1}, 0.1F, 0);
  const int32_t shape = host.AddConstant(abi::kInt32, {0}, {});
  host.tensor(shape).data = nullptr;
  const int32_t y = host.AddInt8({}, 0.1F, 0);
  host.AddNode(kReshape, {x, shape}, {y});
  host.SetModelOutputs({y});
  Result<ClaimPlan> plan = PlanClaim(host.context(), MakeClaimContext(plan::Requant::kChip));
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(plan.value().report.nodes[0].claimed) << plan.value().report.nodes[0].text;
  RunOnce(&host, &plan.value());
}

TEST(HostileModel, IsDeclinedOrRunsButNeverCrashesWithChipRequantization) {
  AttackMany(plan::Requant::kChip);
}

TEST(HostileModel, IsDeclinedOrRunsButNeverCrashesWithExactRequantization) {
  AttackMany(plan::Requant::kExact);
}

}  // namespace
}  // namespace npu::tflite
