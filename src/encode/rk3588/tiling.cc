// SPDX-License-Identifier: Apache-2.0
#include "src/encode/rk3588/tiling.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "src/base/checked.h"
#include "src/encode/reason.h"
#include "src/encode/rk3588/conv_task.h"

namespace npu::encode::rk3588 {
namespace {

// One way to cut: `channels` programmed channels and `rows` output rows a task.
struct Cut {
  uint32_t channels = 0, rows = 0;
  uint32_t weight_banks = 0;  // of the largest tile
  uint64_t tasks = 0, bytes = 0;
};

class Tiler {
 public:
  Tiler(const chip::Profile& chip, const TileProblem& problem) : chip_(chip), p_(problem) {}

  Result<std::vector<Tile>> Run() const {
    const uint32_t unit = p_.depthwise ? kDepthwiseGroup : kKernelGroup;
    const uint32_t groups = CeilDiv(p_.oc, unit);
    std::optional<Cut> best;
    for (uint32_t pieces = 1; pieces <= groups; ++pieces) {
      const uint32_t channels = CeilDiv(groups, pieces) * unit;
      if (pieces > 1 && CeilDiv(groups, pieces) == CeilDiv(groups, pieces - 1)) continue;
      const std::optional<Cut> cut = CutRows(channels);
      if (!cut) continue;
      if (!best || cut->tasks < best->tasks ||
          (cut->tasks == best->tasks && cut->bytes < best->bytes)) {
        best = cut;
      }
    }
    if (!best) {
      return Unsupported(reason::kCbuf,
                         "the rows one output row needs (" + std::to_string(InputRows(1)) + " of " +
                             std::to_string(p_.iw) + " pixels and " + std::to_string(p_.ic) +
                             " channels) and one group of kernels do not fit the " +
                             std::to_string(chip_.cbuf.banks * chip_.cbuf.bank_bytes / 1024) +
                             " KiB on-chip buffer");
    }
    return Tiles(*best);
  }

 private:
  // Input rows that `rows` output rows need at most.
  uint32_t InputRows(uint32_t rows) const {
    const uint64_t needed = uint64_t{rows - 1} * p_.sh + uint64_t{p_.kh - 1} * p_.dh + 1;
    return static_cast<uint32_t>(std::min<uint64_t>(needed, p_.ih));
  }

  // Programmed input channels of a tile of `channels` output channels from `first`.
  uint32_t InputChannels(uint32_t first, uint32_t channels) const {
    return p_.depthwise ? std::min(channels, p_.ic - first) : p_.ic;
  }

  uint64_t WeightBytes(uint32_t channels) const {
    const uint64_t kernel = uint64_t{p_.kh} * p_.kw * InputChannels(0, channels);
    return p_.depthwise ? kernel : kernel * std::min(channels, p_.oc);
  }

  bool Fits(uint32_t ic, uint32_t rows, uint32_t banks) const {
    return InputRows(rows) <= chip_.feature.input_height_max &&
           DataBanks(chip_, ic, p_.iw, InputRows(rows)) <= banks;
  }

  bool WholePlaneFits(uint32_t ic, uint32_t weight_banks) const {
    return p_.ih <= chip_.feature.input_height_max &&
           DataBanks(chip_, ic, p_.iw, p_.ih) <=
               std::min(chip_.cbuf.data_banks_max, chip_.cbuf.banks - weight_banks);
  }

  std::optional<Cut> CutRows(uint32_t channels) const {
    const uint64_t weights = WeightBytes(channels);
    if (channels > chip_.feature.output_channels_max) return std::nullopt;
    // The weights of one depthwise task count as one kernel.
    if (p_.depthwise && weights > chip_.feature.kernel_bytes_max) return std::nullopt;
    const uint64_t weight_banks = CeilDiv<uint64_t>(weights, chip_.cbuf.bank_bytes);
    if (weight_banks >= chip_.cbuf.banks) return std::nullopt;
    const uint32_t ic = InputChannels(0, channels);
    const uint32_t banks =
        std::min(chip_.cbuf.data_banks_max, chip_.cbuf.banks - static_cast<uint32_t>(weight_banks));
    if (!Fits(ic, 1, banks)) return std::nullopt;
    uint32_t low = 1, high = std::min(p_.oh, chip_.feature.output_height_max);
    while (low < high) {  // largest fitting number of rows
      const uint32_t middle = low + (high - low + 1) / 2;
      if (Fits(ic, middle, banks)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const uint32_t bands = CeilDiv(p_.oh, low);
    const uint32_t pieces = CeilDiv(p_.oc, channels);
    Cut cut{.channels = channels, .weight_banks = static_cast<uint32_t>(weight_banks)};
    cut.rows = CeilDiv(p_.oh, bands);  // bands of equal height
    cut.tasks = uint64_t{bands} * pieces;
    cut.bytes = uint64_t{bands} * pieces * (weights + uint64_t{ic} * p_.iw * InputRows(cut.rows));
    return cut;
  }

  std::vector<Tile> Tiles(const Cut& cut) const {
    std::vector<Tile> tiles;
    for (uint32_t channel = 0; channel < p_.oc; channel += cut.channels) {
      for (uint32_t row = 0; row < p_.oh; row += cut.rows) {
        Tile t{.row = row,
               .rows = std::min(cut.rows, p_.oh - row),
               .channel = channel,
               .channels = std::min(cut.channels, p_.oc - channel)};
        const int64_t first = int64_t{row} * p_.sh - p_.pad_top;
        const int64_t last =
            int64_t{row + t.rows - 1} * p_.sh - p_.pad_top + int64_t{p_.kh - 1} * p_.dh;
        t.in_row = static_cast<uint32_t>(std::max<int64_t>(first, 0));
        t.in_rows = static_cast<uint32_t>(std::min<int64_t>(last, p_.ih - 1)) + 1 - t.in_row;
        t.pad_top = static_cast<uint32_t>(std::max<int64_t>(-first, 0));
        // A task of all rows names the whole plane, as the drivers' programs do.
        const uint32_t ic = InputChannels(channel, t.channels);
        if (t.rows == p_.oh && WholePlaneFits(ic, cut.weight_banks)) t.in_rows = p_.ih;
        t.data_banks = DataBanks(chip_, ic, p_.iw, t.in_rows);
        t.weight_banks = chip_.cbuf.banks - t.data_banks;
        tiles.push_back(t);
      }
    }
    return tiles;
  }

  const chip::Profile& chip_;
  const TileProblem& p_;
};

}  // namespace

uint32_t DataBanks(const chip::Profile& chip, uint32_t ic, uint32_t iw, uint32_t rows) {
  const uint64_t entries = chip.cbuf.bank_bytes / chip.cbuf.entry_bytes;
  const uint64_t exact = CeilDiv(uint64_t{rows} * LineEntries(ic, iw), entries);
  const uint64_t bytes = uint64_t{rows} * iw * ic;
  const uint64_t spare = CeilDiv<uint64_t>(bytes, chip.cbuf.bank_bytes) + 1;
  return Saturate<uint32_t>(std::max(exact, spare));
}

Result<std::vector<Tile>> PlanTiles(const chip::Profile& chip, const TileProblem& problem) {
  return Tiler(chip, problem).Run();
}

}  // namespace npu::encode::rk3588
