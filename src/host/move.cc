// SPDX-License-Identifier: Apache-2.0
#include "src/host/move.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "src/host/image.h"
#include "src/host/strided_copy.h"

namespace npu::host {
namespace {

// A copy between two places of the operands.
struct Piece {
  StridedCopy copy;
  size_t output = 0;
  size_t from = 0, to = 0;              // byte offsets, in a cube within the group
  size_t from_group = 0, to_group = 0;  // cubes only
};

// Bytes from one element to the next along each axis of a row-major tensor.
std::vector<size_t> Pitches(const Shape& shape) {
  std::vector<size_t> pitches(shape.rank(), 1);
  for (size_t i = shape.rank(); i-- > 1;) {
    pitches[i - 1] = pitches[i] * static_cast<size_t>(shape[i]);
  }
  return pitches;
}

Piece RowMajorPiece(const Box& box) {
  const std::vector<size_t> from = Pitches(box.input);
  const std::vector<size_t> to = Pitches(box.output);
  std::vector<CopyAxis> axes;
  size_t from_offset = 0, to_offset = 0;
  for (size_t i = 0; i < box.axes.size(); ++i) {
    const BoxAxis& axis = box.axes[i];
    axes.push_back({.count = axis.count,
                    .from = static_cast<ptrdiff_t>(from[i]) * axis.step,
                    .to = static_cast<ptrdiff_t>(to[i])});
    from_offset += axis.from * from[i];
    to_offset += axis.to * to[i];
  }
  return {
      .copy = StridedCopy(axes), .output = box.output_index, .from = from_offset, .to = to_offset};
}

// The lanes that one piece of a box on cubes moves: they lie in one group on either side.
struct LaneRun {
  size_t from = 0, to = 0;  // channels
  size_t count = 0;
};

std::vector<LaneRun> LaneRuns(const BoxAxis& channels, size_t output_channels) {
  std::vector<LaneRun> runs;
  for (size_t done = 0; done < channels.count;) {
    LaneRun run{.from = static_cast<size_t>(static_cast<ptrdiff_t>(channels.from) +
                                            static_cast<ptrdiff_t>(done) * channels.step),
                .to = channels.to + done,
                .count = 1};
    const size_t from_lane = run.from % layout::kAtomBytes;
    const size_t to_lane = run.to % layout::kAtomBytes;
    if (channels.step == 1) {
      run.count =
          std::min(channels.count - done, layout::kAtomBytes - std::max(from_lane, to_lane));
    }
    done += run.count;
    // What lies behind the last channel of a group is padding: whole pixels are faster.
    if (from_lane == 0 && to_lane == 0 && run.to + run.count == output_channels) {
      run.count = layout::kAtomBytes;
    }
    runs.push_back(run);
  }
  return runs;
}

// Boxes of images: axes N (1), H, W, C.
void AddCubePieces(const Box& box, std::vector<Piece>* pieces) {
  const BoxAxis& rows = box.axes[1];
  const BoxAxis& columns = box.axes[2];
  const size_t from_row = static_cast<size_t>(box.input[2]) * layout::kAtomBytes;
  const size_t to_row = static_cast<size_t>(box.output[2]) * layout::kAtomBytes;
  for (const LaneRun& run : LaneRuns(box.axes[3], static_cast<size_t>(box.output[3]))) {
    const std::array<CopyAxis, 3> axes{
        CopyAxis{rows.count, static_cast<ptrdiff_t>(from_row) * rows.step,
                 static_cast<ptrdiff_t>(to_row)},
        CopyAxis{columns.count, ptrdiff_t{layout::kAtomBytes} * columns.step,
                 ptrdiff_t{layout::kAtomBytes}},
        CopyAxis{run.count, 1, 1}};
    pieces->push_back(
        {.copy = StridedCopy(axes),
         .output = box.output_index,
         .from = rows.from * from_row + columns.from * layout::kAtomBytes +
                 run.from % layout::kAtomBytes,
         .to = rows.to * to_row + columns.to * layout::kAtomBytes + run.to % layout::kAtomBytes,
         .from_group = run.from / layout::kAtomBytes,
         .to_group = run.to / layout::kAtomBytes});
  }
}

bool IsImage(const Shape& shape) { return shape.rank() == 4 && shape[0] == 1; }

// Whether the boxes are of images that are the tensors themselves.
bool FitsCubes(const ir::Graph& graph, const ir::Node& node, const Move& move) {
  const Shape& input = graph.input(node, move.input_index).type.shape;
  for (const Box& box : move.boxes) {
    if (!IsImage(box.input) || !(box.input == input) || !IsImage(box.output) ||
        !(box.output == graph.output(node, box.output_index).type.shape)) {
      return false;
    }
  }
  return true;
}

class MoveKernel final : public Kernel {
 public:
  MoveKernel(const ir::Graph& graph, const ir::Node& node, const Move& move)
      : input_index_(move.input_index), fill_(move.fill) {
    for (const Box& box : move.boxes) row_major_.push_back(RowMajorPiece(box));
    cubes_ = FitsCubes(graph, node, move);
    if (cubes_) {
      for (const Box& box : move.boxes) AddCubePieces(box, &on_cubes_);
    }
    for (const ir::ValueId id : node.outputs) outputs_.push_back(graph.type(id).shape);
  }

  OrderSupport order_support() const override {
    return cubes_ ? OrderSupport::kImage : OrderSupport::kRowMajor;
  }
  void Run(std::span<const layout::TensorView> inputs, std::span<const layout::TensorView> outputs,
           std::span<std::byte> /*scratch*/) const noexcept override {
    if (fill_) Fill(outputs);
    const layout::TensorView& from = inputs[input_index_];
    const bool cubes = outputs[0].order == layout::Order::kCube;
    for (const Piece& piece : cubes ? on_cubes_ : row_major_) {
      const layout::TensorView& to = outputs[piece.output];
      piece.copy.Run(from.data + piece.from_group * from.surface_bytes + piece.from,
                     to.data + piece.to_group * to.surface_bytes + piece.to);
    }
  }

 private:
  // All of every output, and a cube's padding lanes.
  void Fill(std::span<const layout::TensorView> outputs) const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      size_t bytes = static_cast<size_t>(outputs_[i].elements());
      if (outputs[i].order == layout::Order::kCube) {
        const auto channels = static_cast<size_t>(outputs_[i].back(0));
        bytes = CeilDiv<size_t>(channels, layout::kAtomBytes) * outputs[i].surface_bytes;
      }
      std::memset(outputs[i].data, static_cast<uint8_t>(*fill_), bytes);
    }
  }

  size_t input_index_;
  std::optional<int8_t> fill_;
  std::vector<Piece> row_major_, on_cubes_;
  std::vector<Shape> outputs_;
  bool cubes_ = false;
};

}  // namespace

Box CutBox(const ir::Cut& cut, size_t output_index) {
  Box box{.axes = {}, .input = cut.input, .output = cut.input, .output_index = output_index};
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    const ir::CutAxis& axis = cut.axes[i];
    box.axes.push_back({.count = static_cast<size_t>(axis.count),
                        .from = static_cast<size_t>(axis.start),
                        .step = static_cast<ptrdiff_t>(axis.step)});
    box.output.set(i, static_cast<int32_t>(axis.count));
  }
  return box;
}

KernelResult MakeMove(const ir::Graph& graph, const ir::Node& node, const Move& move) {
  return KernelResult(std::make_unique<MoveKernel>(graph, node, move));
}

}  // namespace npu::host
