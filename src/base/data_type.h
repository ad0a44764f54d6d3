// SPDX-License-Identifier: Apache-2.0
// Element types and shapes shared by every layer.
#ifndef SRC_BASE_DATA_TYPE_H_
#define SRC_BASE_DATA_TYPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace npu {

enum class DataType : uint8_t {
  kInvalid,
  kInt8,
  kUInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kFloat32,
  kBool,
};

// "int8", "float32" ...; "invalid" for anything else.
std::string_view Name(DataType type);
// Bytes of one element; 0 for kInvalid.
size_t ElementBytes(DataType type);

// Extents of a tensor, outermost first, rank 0 to 8. Extents are >= 0.
class Shape {
 public:
  static constexpr size_t kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int32_t> dims);
  // Nothing when the rank exceeds kMaxRank or an extent is negative.
  static std::optional<Shape> From(std::span<const int32_t> dims);

  size_t rank() const { return rank_; }
  int32_t operator[](size_t axis) const { return dims_[axis]; }
  // From the back: back(0) is the innermost extent.
  int32_t back(size_t i) const { return dims_[rank_ - 1 - i]; }
  std::span<const int32_t> dims() const { return {dims_.data(), rank_}; }
  void set(size_t axis, int32_t extent) { dims_[axis] = extent; }
  // Product of the extents (1 for rank 0); nothing on overflow of int64.
  std::optional<int64_t> CheckedElements() const;
  // The same for shapes already checked.
  int64_t elements() const { return CheckedElements().value_or(0); }
  bool operator==(const Shape& other) const;
  // "[1,8,8,32]"
  std::string ToString() const;

 private:
  std::array<int32_t, kMaxRank> dims_{};
  size_t rank_ = 0;
};

}  // namespace npu

#endif  // SRC_BASE_DATA_TYPE_H_
