// SPDX-License-Identifier: Apache-2.0
// Lowering without convolutions: what the NPU form computes, by its own description, is held
// against the host kernel for every input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "src/chip/profile.h"
#include "src/host/silicon.h"
#include "src/ops/op_def.h"
#include "src/ops/reason.h"
#include "tests/unit/host/one_node.h"

namespace npu::ops {
namespace {

using test::Int8Type;
using test::OneNode;
using Bytes = std::vector<int8_t>;

const chip::Profile& Chip() { return *chip::FindChip("rk3588"); }

Result<encode::EncodedOp> Lower(const OneNode& one, const LowerOptions& options) {
  return FindOp(one.node().params).lower(one.graph(), one.node(), Chip(), options);
}

Bytes Recompute(const encode::EncodedOp& op, std::vector<Bytes> inputs) {
  auto kernel = host::MakeSilicon(op.silicon);
  EXPECT_TRUE(kernel.ok());
  std::vector<layout::TensorView> views;
  for (Bytes& in : inputs) {
    views.push_back({.data = reinterpret_cast<std::byte*>(in.data()), .shape = {}});
  }
  Bytes out(size_t{op.output.height} * op.output.width * op.output.channels);
  const layout::TensorView view{.data = reinterpret_cast<std::byte*>(out.data()), .shape = {}};
  (*kernel)->Run(views, {&view, 1}, {});
  return out;
}

// Every pair of stored bytes, on a plane of 256x16 pixels of 16 channels.
constexpr int32_t kSide = 16;
const Shape kPlane{1, 256, kSide, kSide};

std::vector<Bytes> EveryPair() {
  std::vector<Bytes> pairs(2);
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      pairs[0].push_back(static_cast<int8_t>(a));
      pairs[1].push_back(static_cast<int8_t>(b));
    }
  }
  return pairs;
}

struct Operand {
  float scale;
  int32_t zero_point;
};

OneNode BinaryNode(ir::BinaryParams params, Operand a, Operand b, Operand out) {
  OneNode one(params);
  one.Input(Int8Type(kPlane, a.scale, a.zero_point))
      .Input(Int8Type(kPlane, b.scale, b.zero_point))
      .Output(Int8Type(kPlane, out.scale, out.zero_point));
  return one;
}

int LargestDifference(const OneNode& one, const encode::EncodedOp& op,
                      const std::vector<Bytes>& inputs) {
  const Bytes npu = Recompute(op, inputs);
  const Bytes host = test::Compute(one, FindOp(one.node().params).make_host, inputs);
  int largest = npu.size() == host.size() ? 0 : 256;
  for (size_t i = 0; i < std::min(npu.size(), host.size()); ++i) {
    largest = std::max(largest, std::abs(npu[i] - host[i]));
  }
  return largest;
}

TEST(LowerBinary, BoundHoldsForEveryPair) {
  const Operand kOperands[] = {{0.05F, 3}, {0.02F, -7}, {0.3F, -128}, {0.0471F, 127}};
  const std::vector<Bytes> pairs = EveryPair();
  int exact = 0, total = 0;
  for (const auto kind : {ir::BinaryKind::kAdd, ir::BinaryKind::kSub}) {
    for (const Operand& a : kOperands) {
      for (const Operand& b : kOperands) {
        for (const Operand out : {Operand{0.08F, 10}, Operand{0.35F, -128}}) {
          const OneNode one = BinaryNode({.kind = kind}, a, b, out);
          const auto op = Lower(one, {});
          ASSERT_TRUE(op.ok()) << op.status().message();
          ASSERT_TRUE(op->has_input_b());
          EXPECT_EQ(op->route, "npu-elementwise");
          EXPECT_LE(op->bound.counts, 1);
          EXPECT_EQ(LargestDifference(one, *op, pairs), op->bound.counts);
          exact += op->bound.counts == 0 ? 1 : 0;
          // Exact asks for the same form or none.
          const auto identical = Lower(one, {.exact = true});
          EXPECT_EQ(identical.ok(), op->bound.counts == 0);
          if (!identical.ok()) {
            EXPECT_EQ(identical.status().reason(), Id(Reason::kNpuExact));
          }
          ++total;
        }
      }
    }
  }
  EXPECT_GT(exact, total / 2);
}

TEST(LowerBinary, FormsActivations) {
  const std::vector<Bytes> pairs = EveryPair();
  for (const auto activation : {ir::Activation::kRelu, ir::Activation::kRelu6}) {
    const OneNode one =
        BinaryNode({.activation = activation}, {0.05F, 3}, {0.02F, -7}, {0.08F, -20});
    const auto op = Lower(one, {});
    ASSERT_TRUE(op.ok()) << op.status().message();
    EXPECT_EQ(LargestDifference(one, *op, pairs), op->bound.counts);
  }
  const OneNode odd =
      BinaryNode({.activation = ir::Activation::kReluN1To1}, {0.05F, 3}, {0.02F, 7}, {0.08F, 0});
  EXPECT_EQ(Lower(odd, {}).status().reason(), "elementwise.activation");
}

TEST(LowerBinary, DeclinesWhatDoesNotRunAlong) {
  OneNode broadcast(ir::BinaryParams{});
  broadcast.Input(Int8Type({1, 4, 4, 8}, 0.1F, 0))
      .Input(Int8Type({1, 1, 1, 8}, 0.1F, 0))
      .Output(Int8Type({1, 4, 4, 8}, 0.1F, 0));
  EXPECT_EQ(Lower(broadcast, {}).status().reason(), Id(Reason::kShapeMismatch));
  OneNode constant(ir::BinaryParams{});
  constant.Input(Int8Type({1, 2, 2, 2}, 0.1F, 0))
      .Constant(Int8Type({1, 2, 2, 2}, 0.1F, 0), Bytes(8, 1))
      .Output(Int8Type({1, 2, 2, 2}, 0.1F, 0));
  EXPECT_EQ(Lower(constant, {}).status().reason(), Id(Reason::kConstantInput));
  OneNode vector(ir::BinaryParams{});
  vector.Input(Int8Type({1, 8}, 0.1F, 0))
      .Input(Int8Type({1, 8}, 0.1F, 0))
      .Output(Int8Type({1, 8}, 0.1F, 0));
  EXPECT_EQ(Lower(vector, {}).status().reason(), Id(Reason::kShapeRank));
  // Operands of which one is far below the other's resolution, and a huge gain.
  const OneNode huge = BinaryNode({}, {1e6F, 0}, {1e6F, 3}, {1e-3F, 0});
  EXPECT_EQ(Lower(huge, {}).status().reason(), "elementwise.bound");
}

Bytes EveryByte() {
  Bytes bytes;
  for (int q = -128; q < 128; ++q) bytes.push_back(static_cast<int8_t>(q));
  return bytes;
}

TEST(LowerUnary, BoundHoldsForEveryByte) {
  const Shape plane{1, 4, 4, 16};
  const ir::OpParams kinds[] = {ir::UnaryParams{.kind = ir::UnaryKind::kRelu},
                                ir::UnaryParams{.kind = ir::UnaryKind::kRelu6},
                                ir::QuantizeParams{}};
  for (const ir::OpParams& params : kinds) {
    for (const Operand out : {Operand{0.05F, 3}, Operand{0.03F, -128}, Operand{0.06F, 20}}) {
      OneNode one(params);
      one.Input(Int8Type(plane, 0.05F, 3)).Output(Int8Type(plane, out.scale, out.zero_point));
      const auto op = Lower(one, {});
      ASSERT_TRUE(op.ok()) << op.status().message();
      EXPECT_FALSE(op->has_input_b());
      EXPECT_EQ(LargestDifference(one, *op, {EveryByte()}), op->bound.counts);
    }
  }
}

OneNode PoolNode(int32_t side, int32_t k, ir::Padding padding,
                 ir::Activation activation = ir::Activation::kNone) {
  OneNode one(ir::Pool2dParams{
      .padding = padding, .kh = k, .kw = k, .sh = 2, .sw = 2, .activation = activation});
  const int32_t out = padding == ir::Padding::kSame ? (side + 1) / 2 : (side - k) / 2 + 1;
  one.Input(Int8Type({1, side, side, 16}, 0.1F, 4)).Output(Int8Type({1, out, out, 16}, 0.1F, 4));
  return one;
}

TEST(LowerMaxPool2d, IsExactWhereTheUnitMayBeUsed) {
  const OneNode one = PoolNode(4, 3, ir::Padding::kSame);
  EXPECT_EQ(Lower(one, {}).status().reason(), Id(Reason::kPoolUnit));
  const auto op = Lower(one, {.exact = true, .ppu = true});
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(op->route, "npu-pool");
  EXPECT_EQ(op->bound.counts, 0);
  EXPECT_EQ(LargestDifference(one, *op, {EveryByte()}), 0);
}

TEST(LowerMaxPool2d, DeclinesWhatTheUnitCannot) {
  const LowerOptions ppu{.ppu = true};
  EXPECT_EQ(Lower(PoolNode(20, 17, ir::Padding::kValid), ppu).status().reason(), "pool.window");
  EXPECT_EQ(Lower(PoolNode(3, 2, ir::Padding::kValid), ppu).status().reason(), "pool.plane");
  const OneNode clamped = PoolNode(8, 2, ir::Padding::kValid, ir::Activation::kRelu);
  EXPECT_EQ(Lower(clamped, ppu).status().reason(), "pool.activation");
}

}  // namespace
}  // namespace npu::ops
