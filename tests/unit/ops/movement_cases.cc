// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/ops/cases.h"

namespace npu::ops {
namespace {

using test::Int8Type;
using test::PlainType;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

OneNode Reshaping(ir::ReshapeKind kind, const Shape& in, const Shape& out) {
  OneNode one(ir::ReshapeParams{.kind = kind});
  one.Input(Int8Type(in, 1.0F, 0)).Output(Int8Type(out, 1.0F, 0));
  return one;
}

OneNode PadV2(const Bytes& fill = {5}) {
  OneNode one(ir::PadParams{.kind = ir::PadKind::kPadV2});
  one.Input(Int8Type({2, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2, 2}), Ints{1, 0, 0, 2})
      .Constant(Int8Type({static_cast<int32_t>(fill.size())}, 1.0F, 0), fill)
      .Output(Int8Type({3, 5}, 1.0F, 0));
  return one;
}

OneNode MirrorPad(int32_t left) {
  OneNode one(ir::MirrorPadParams{});
  one.Input(Int8Type({2, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2, 2}), Ints{1, 0, left, 2})
      .Output(Int8Type({3, 5 + left}, 1.0F, 0));
  return one;
}

OneNode Transpose(const Ints& permutation) {
  OneNode one(ir::TransposeParams{});
  one.Input(Int8Type({2, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {static_cast<int32_t>(permutation.size())}),
                permutation)
      .Output(Int8Type({3, 2}, 1.0F, 0));
  return one;
}

OneNode Slice(const Ints& begin) {
  OneNode one(ir::SliceParams{});
  one.Input(Int8Type({4, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), begin)
      .Constant(PlainType(DataType::kInt32, {2}), Ints{2, -1})
      .Output(Int8Type({2, 2}, 1.0F, 0));
  return one;
}

OneNode StridedSlice(const ir::StridedSliceParams& params, const Ints& strides) {
  OneNode one(params);
  one.Input(Int8Type({4, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), Ints{3, 0})
      .Constant(PlainType(DataType::kInt32, {2}), Ints{-5, 2})
      .Constant(PlainType(DataType::kInt32, {2}), strides)
      .Output(Int8Type({2, 2}, 1.0F, 0));
  return one;
}

OneNode Split(int32_t axis) {
  OneNode one(ir::SplitParams{});
  one.Constant(PlainType(DataType::kInt32, {}), Ints{axis})
      .Input(Int8Type({2, 6}, 1.0F, 0))
      .Output(Int8Type({2, 3}, 1.0F, 0))
      .Output(Int8Type({2, 3}, 1.0F, 0));
  return one;
}

OneNode SplitV(const Ints& sizes) {
  OneNode one(ir::SplitParams{.kind = ir::SplitKind::kSplitV});
  one.Input(Int8Type({2, 6}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), sizes)
      .Constant(PlainType(DataType::kInt32, {}), Ints{-1})
      .Output(Int8Type({2, 4}, 1.0F, 0))
      .Output(Int8Type({2, 2}, 1.0F, 0));
  return one;
}

OneNode ResizeNearest() {
  OneNode one(ir::ResizeNearestParams{});
  one.Input(Int8Type({2, 2, 2, 3}, 1.0F, 0))
      .Constant(PlainType(DataType::kInt32, {2}), Ints{4, 4})
      .Output(Int8Type({2, 4, 4, 3}, 1.0F, 0));
  return one;
}

}  // namespace

std::vector<std::pair<std::string_view, OneNode>> GoodMovementNodes() {
  std::vector<std::pair<std::string_view, OneNode>> all;
  all.emplace_back("SQUEEZE", Reshaping(ir::ReshapeKind::kSqueeze, {1, 3}, {3}));
  all.emplace_back("EXPAND_DIMS", Reshaping(ir::ReshapeKind::kExpandDims, {3}, {1, 3}));
  all.emplace_back("TRANSPOSE", Transpose({1, -2}));
  all.emplace_back("PADV2", PadV2());
  all.emplace_back("MIRROR_PAD", MirrorPad(2));
  all.emplace_back("SLICE", Slice({1, 1}));
  all.emplace_back("STRIDED_SLICE", StridedSlice({}, {-2, 1}));
  all.emplace_back("SPLIT", Split(1));
  all.emplace_back("SPLIT_V", SplitV({-1, 2}));
  all.emplace_back("RESIZE_NEAREST_NEIGHBOR", ResizeNearest());
  return all;
}

std::vector<Bad> MovementCases() {
  std::vector<Bad> bad;
  bad.push_back({"permutation", Reason::kTransposePermutation, Transpose({1, 1})});
  bad.push_back({"short permutation", Reason::kTransposePermutation, Transpose({1})});
  bad.push_back({"transposed shape", Reason::kShapeMismatch, Transpose({0, 1})});
  bad.push_back({"mirror too far", Reason::kPadAmount, MirrorPad(3)});
  bad.push_back({"fill", Reason::kShapeMismatch, PadV2({1, 2})});
  bad.push_back({"fill scale", Reason::kQuantMismatch, Scaled(PadV2(), 2, 2.0F)});
  bad.push_back({"slice outside", Reason::kSliceRange, Slice({3, 1})});
  bad.push_back({"slice before", Reason::kSliceRange, Slice({-1, 1})});
  bad.push_back({"slice shape", Reason::kShapeMismatch, Slice({1, 0})});
  bad.push_back({"stride 0", Reason::kSliceRange, StridedSlice({}, {-2, 0})});
  bad.push_back({"two ellipses", Reason::kSliceRange, StridedSlice({.ellipsis_mask = 3}, {-2, 1})});
  bad.push_back({"empty ellipsis", Reason::kSliceRange,
                 Shaped(StridedSlice({.ellipsis_mask = 1}, {-2, 1}), 0, {4})});
  bad.push_back({"mask bit", Reason::kSliceRange, StridedSlice({.begin_mask = 4}, {-2, 1})});
  bad.push_back({"empty slice", Reason::kSliceRange, StridedSlice({}, {2, 1})});
  bad.push_back({"split axis", Reason::kConcatAxis, Split(2)});
  bad.push_back({"split other axis", Reason::kShapeMismatch, Split(0)});
  bad.push_back({"split rest", Reason::kShapeMismatch, Shaped(Split(1), 3, {2, 2})});
  bad.push_back({"split part", Reason::kSliceRange, Shaped(Split(1), 3, {2, 4})});
  bad.push_back({"split rank", Reason::kSliceRange, Shaped(Split(1), 3, {6})});
  bad.push_back({"split scale", Reason::kQuantMismatch, Scaled(Split(1), 3, 2.0F)});
  bad.push_back({"split sizes", Reason::kShapeMismatch, SplitV({2, 4})});
  bad.push_back({"split two open", Reason::kShapeMismatch, SplitV({-1, -1})});
  bad.push_back(
      {"nearest batch", Reason::kShapeMismatch, Shaped(ResizeNearest(), 2, {1, 4, 4, 3})});
  return bad;
}

}  // namespace npu::ops
