// SPDX-License-Identifier: Apache-2.0
#include "src/ir/cut.h"

#include <algorithm>

#include "src/base/checked.h"
#include "src/ir/constants.h"

namespace npu::ir {
namespace {

// Bits of a mask, one for each entry of begin, end and strides.
constexpr size_t kMaskBits = 32;

std::optional<Shape> ShapeOf(const std::vector<int64_t>& extents) {
  std::vector<int32_t> dims;
  for (const int64_t extent : extents) {
    if (!FitsIn<int32_t>(extent)) return std::nullopt;
    dims.push_back(static_cast<int32_t>(extent));
  }
  return Shape::From(dims);
}

// Every element of the cut exists.
bool Inside(const CutAxis& axis, int64_t extent) {
  const int64_t last = axis.start + (axis.count - 1) * axis.step;
  return axis.count > 0 && axis.start >= 0 && axis.start < extent && last >= 0 && last < extent;
}

std::optional<Cut> WholeAxes(const Shape& input, std::vector<CutAxis> axes) {
  std::vector<int64_t> extents;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!Inside(axes[i], input[i])) return std::nullopt;
    extents.push_back(axes[i].count);
  }
  const std::optional<Shape> output = ShapeOf(extents);
  if (!output) return std::nullopt;
  return Cut{.input = input, .axes = std::move(axes), .output = *output};
}

// The operands of STRIDED_SLICE, walked entry by entry.
class StridedSpec {
 public:
  StridedSpec(const Graph& graph, const Node& node)
      : params_(std::get<StridedSliceParams>(node.params)),
        input_(graph.input(node, 0).type.shape),
        begin_(Integers(graph.input(node, 1))),
        end_(Integers(graph.input(node, 2))),
        strides_(Integers(graph.input(node, 3))) {}

  std::optional<Cut> Resolve() {
    const size_t entries = begin_.size();
    if (end_.size() != entries || strides_.size() != entries || !MasksFit()) return std::nullopt;
    for (size_t i = 0; i < entries; ++i) {
      if (Has(params_.ellipsis_mask, i)) {
        for (size_t skip = AxesOfEllipsis(); skip > 0; --skip) AddWhole();
      } else if (Has(params_.new_axis_mask, i)) {
        Add({.start = 0, .step = 1, .count = 1}, 1, false);
      } else if (axis_ >= input_.rank() || !AddEntry(i)) {
        return std::nullopt;
      }
    }
    while (axis_ < input_.rank()) AddWhole();
    return Finish();
  }

 private:
  static bool Has(uint32_t mask, size_t i) { return (mask >> i & 1U) != 0; }

  // At most one ellipsis, covering at least one axis where entries follow (TFLite misplaces them
  // behind an empty one), and no bits without an entry.
  bool MasksFit() const {
    const size_t entries = begin_.size();
    if (entries > Shape::kMaxRank || entries >= kMaskBits) return false;
    const uint32_t all = params_.begin_mask | params_.end_mask | params_.ellipsis_mask |
                         params_.new_axis_mask | params_.shrink_axis_mask;
    const uint32_t ellipsis = params_.ellipsis_mask;
    if (all >> entries != 0 || (ellipsis & (ellipsis - 1)) != 0) return false;
    const bool last = ellipsis != 0 && ellipsis >> (entries - 1) != 0;
    return Consumed() + (ellipsis == 0 || last ? 0 : 1) <= input_.rank();
  }

  // Axes of the input that have an entry of their own.
  size_t Consumed() const {
    size_t consumed = 0;
    for (size_t i = 0; i < begin_.size(); ++i) {
      if (!Has(params_.ellipsis_mask | params_.new_axis_mask, i)) ++consumed;
    }
    return consumed;
  }
  size_t AxesOfEllipsis() const { return input_.rank() - Consumed(); }

  void Add(const CutAxis& axis, int64_t extent, bool shrink) {
    axes_.push_back(axis);
    extents_.push_back(extent);
    if (!shrink) output_.push_back(axis.count);
  }
  void AddWhole() {
    const int64_t extent = input_[axis_++];
    Add({.start = 0, .step = 1, .count = extent}, extent, false);
  }

  // Entries are int32 values, so sums of two stay in range.
  bool AddEntry(size_t i) {
    const int64_t extent = input_[axis_++];
    const int64_t step = strides_[i];
    if (step == 0) return false;
    // Where a walk in the direction of the stride may start and must end.
    const int64_t low = step > 0 ? 0 : -1;
    const int64_t high = step > 0 ? extent : extent - 1;
    const auto limit = [&](int64_t position) {
      return std::clamp(position < 0 ? position + extent : position, low, high);
    };
    int64_t start = limit(begin_[i]);
    if (Has(params_.begin_mask, i)) start = step > 0 ? 0 : extent - 1;
    int64_t end = limit(params_.offset ? end_[i] + start : end_[i]);
    if (Has(params_.end_mask, i)) end = step > 0 ? extent : -1;
    const bool shrink = Has(params_.shrink_axis_mask, i);
    if (shrink) end = start + 1;
    const int64_t distance = step > 0 ? end - start : start - end;
    const int64_t stride = step > 0 ? step : -step;
    const CutAxis axis{.start = start, .step = step, .count = (distance + stride - 1) / stride};
    if (distance <= 0 || !Inside(axis, extent)) return false;
    Add(axis, extent, shrink);
    return true;
  }

  std::optional<Cut> Finish() {
    const std::optional<Shape> input = ShapeOf(extents_);
    const std::optional<Shape> output = ShapeOf(output_);
    if (!input || !output) return std::nullopt;
    return Cut{.input = *input, .axes = std::move(axes_), .output = *output};
  }

  const StridedSliceParams& params_;
  const Shape& input_;
  std::vector<int64_t> begin_, end_, strides_;
  size_t axis_ = 0;  // next axis of the input
  std::vector<CutAxis> axes_;
  std::vector<int64_t> extents_, output_;
};

}  // namespace

std::optional<Cut> SliceCut(const Graph& graph, const Node& node) {
  const Shape& input = graph.input(node, 0).type.shape;
  const std::vector<int64_t> begin = Integers(graph.input(node, 1));
  const std::vector<int64_t> size = Integers(graph.input(node, 2));
  if (begin.size() != input.rank() || size.size() != input.rank()) return std::nullopt;
  std::vector<CutAxis> axes;
  for (size_t i = 0; i < input.rank(); ++i) {
    const int64_t count = size[i] == -1 ? input[i] - begin[i] : size[i];
    axes.push_back({.start = begin[i], .step = 1, .count = count});
  }
  return WholeAxes(input, std::move(axes));
}

std::optional<Cut> StridedSliceCut(const Graph& graph, const Node& node) {
  return StridedSpec(graph, node).Resolve();
}

std::optional<Cut> SplitCut(const Graph& graph, const Node& node, size_t i) {
  const bool sized = std::get<SplitParams>(node.params).kind == SplitKind::kSplitV;
  const Shape& input = graph.input(node, sized ? 0 : 1).type.shape;
  const std::vector<int64_t> axis_entry = Integers(graph.input(node, sized ? 2 : 0));
  const auto rank = static_cast<int64_t>(input.rank());
  if (axis_entry.size() != 1 || axis_entry[0] < -rank || axis_entry[0] >= rank) {
    return std::nullopt;
  }
  const auto axis = static_cast<size_t>((axis_entry[0] + rank) % rank);
  // Output shapes are the host's: their ranks and extents are checked before they are used.
  std::vector<CutAxis> axes;
  for (const int32_t extent : input.dims()) axes.push_back({.count = extent});
  for (size_t k = 0; k <= i; ++k) {
    const Shape& part = graph.output(node, k).type.shape;
    if (part.rank() != input.rank()) return std::nullopt;
    axes[axis].start += k == 0 ? 0 : axes[axis].count;
    axes[axis].count = part[axis];
  }
  // `start` of the first part stays 0; the loop has added the parts before.
  return WholeAxes(input, std::move(axes));
}

}  // namespace npu::ir
