// SPDX-License-Identifier: Apache-2.0
#include "src/base/data_type.h"

#include <algorithm>

#include "src/base/checked.h"

namespace npu {

std::string_view Name(DataType type) {
  switch (type) {
    case DataType::kInvalid:
      return "invalid";
    case DataType::kInt8:
      return "int8";
    case DataType::kUInt8:
      return "uint8";
    case DataType::kInt16:
      return "int16";
    case DataType::kInt32:
      return "int32";
    case DataType::kInt64:
      return "int64";
    case DataType::kFloat16:
      return "float16";
    case DataType::kFloat32:
      return "float32";
    case DataType::kBool:
      return "bool";
  }
  return "invalid";
}

size_t ElementBytes(DataType type) {
  switch (type) {
    case DataType::kInvalid:
      return 0;
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kBool:
      return 1;
    case DataType::kInt16:
    case DataType::kFloat16:
      return 2;
    case DataType::kInt32:
    case DataType::kFloat32:
      return 4;
    case DataType::kInt64:
      return 8;
  }
  return 0;
}

Shape::Shape(std::initializer_list<int32_t> dims) : rank_(std::min(dims.size(), kMaxRank)) {
  std::copy_n(dims.begin(), rank_, dims_.begin());
}

std::optional<Shape> Shape::From(std::span<const int32_t> dims) {
  if (dims.size() > kMaxRank) return std::nullopt;
  if (std::any_of(dims.begin(), dims.end(), [](int32_t d) { return d < 0; })) return std::nullopt;
  Shape shape;
  shape.rank_ = dims.size();
  std::copy(dims.begin(), dims.end(), shape.dims_.begin());
  return shape;
}

std::optional<int64_t> Shape::CheckedElements() const {
  int64_t n = 1;
  for (int32_t d : dims()) {
    const auto product = CheckedMul<int64_t>(n, d);
    if (!product) return std::nullopt;
    n = *product;
  }
  return n;
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(dims().begin(), dims().end(), other.dims().begin(), other.dims().end());
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (size_t i = 0; i < rank_; ++i) {
    if (i != 0) text += ',';
    text += std::to_string(dims_[i]);
  }
  return text + "]";
}

}  // namespace npu
