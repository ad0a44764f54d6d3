// SPDX-License-Identifier: Apache-2.0
// Cuts a convolution into tasks whose features and weights fit the on-chip buffer: bands of output
// rows read in place, and channel tiles of whole writer groups. Source: rk3588-conv-matmul 5, 9.
#ifndef SRC_ENCODE_RK3588_TILING_H_
#define SRC_ENCODE_RK3588_TILING_H_

#include <cstdint>
#include <vector>

#include "npu/status.h"
#include "src/chip/profile.h"

namespace npu::encode::rk3588 {

// What tiling needs to know of a convolution; channel counts as programmed.
struct TileProblem {
  bool depthwise = false;
  uint32_t ic = 0, ih = 0, iw = 0;
  uint32_t oc = 0, oh = 0, ow = 0;
  uint32_t kh = 1, kw = 1, sh = 1, dh = 1, pad_top = 0;
};

struct Tile {
  uint32_t row = 0, rows = 0;          // output rows
  uint32_t channel = 0, channels = 0;  // programmed output channels; depthwise: input ones too
  uint32_t in_row = 0, in_rows = 0;    // input rows read
  uint32_t pad_top = 0;
  uint32_t data_banks = 0, weight_banks = 0;
};

// The fewest tasks; of equals the one that reads the least. Channel tiles outermost.
// Error kUnsupported with reason::kCbuf when not even one row of one group fits.
Result<std::vector<Tile>> PlanTiles(const chip::Profile& chip, const TileProblem& problem);

// Banks of `rows` input lines: the larger of the entry rule and of the whole bytes plus one bank,
// until the exact rule has been proven on a board (conv-matmul 5.1; ASSUMPTION cbuf_minimum_banks).
uint32_t DataBanks(const chip::Profile& chip, uint32_t ic, uint32_t iw, uint32_t rows);

}  // namespace npu::encode::rk3588

#endif  // SRC_ENCODE_RK3588_TILING_H_
