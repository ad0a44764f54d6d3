// SPDX-License-Identifier: Apache-2.0
// Input features in the form the fast kernels read: every atom of the padded plane, bytes with the
// sign bit flipped (x ^ 80h), columns sorted by their remainder modulo the horizontal stride so
// that the atoms of neighbouring output pixels always lie 16 bytes apart.
#ifndef SRC_SIM_FAST_FEATURES_H_
#define SRC_SIM_FAST_FEATURES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/worker_pool.h"
#include "src/sim/cna.h"
#include "src/sim/config.h"
#include "src/sim/memory.h"

namespace npu::sim::fast {

// Bytes on a 64-byte boundary, grown but never shrunk.
class AlignedBytes {
 public:
  // At least `size` bytes; contents are lost when it grows.
  uint8_t* Resize(size_t size);
  const uint8_t* data() const { return data_; }
  uint8_t* data() { return data_; }

 private:
  std::vector<uint8_t> storage_;
  uint8_t* data_ = nullptr;
};

// One task's features, packed; the buffer is kept from task to task.
class PackedFeatures {
 public:
  // Snapshot of the task's input. False, leaving nothing usable, if an address is not mapped in one
  // piece or the padded plane is too large for a snapshot.
  bool Pack(const ConvConfig& c, const AddressSpace& memory, WorkerPool* pool);
  // The same features as the clear path holds them.
  void Unpack(FeatureCube* cube) const;
  // Sum over the programmed channels of each packed atom column, [row][position].
  void ChannelSums(std::vector<int32_t>* sums) const;

  const uint8_t* data() const { return bytes_.data(); }
  int64_t row_pitch() const { return row_pitch_; }          // bytes
  int64_t surface_pitch() const { return surface_pitch_; }  // bytes
  // Byte offset of the atom at a column of the padded plane.
  int64_t ColumnOffset(int column) const {
    return 16 * (int64_t{column % stride_} * phase_columns_ + column / stride_);
  }

 private:
  bool Locate(const ConvConfig& c, const AddressSpace& memory);
  void PackRow(const ConvConfig& c, int surface, int row);

  AlignedBytes bytes_;
  std::vector<const std::byte*> lines_;  // [surface][ih], source of each input line
  int surfaces_ = 0, rows_ = 0, columns_ = 0, stride_ = 1, phase_columns_ = 0;
  int pad_top_ = 0, pad_left_ = 0, ih_ = 0, iw_ = 0, ic_ = 0;
  int64_t row_pitch_ = 0, surface_pitch_ = 0;
};

}  // namespace npu::sim::fast

#endif  // SRC_SIM_FAST_FEATURES_H_
