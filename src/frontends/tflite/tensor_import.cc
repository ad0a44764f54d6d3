// SPDX-License-Identifier: Apache-2.0
#include "src/frontends/tflite/tensor_import.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "src/base/checked.h"
#include "src/ir/zero_point.h"

namespace npu::tflite {
namespace {

Status Bad(std::string_view reason, std::string message) {
  return Status(ErrorCode::kCorruptData, std::move(message), reason);
}

DataType ImportType(int32_t type) {
  switch (type) {
    case abi::kFloat32:
      return DataType::kFloat32;
    case abi::kInt32:
      return DataType::kInt32;
    case abi::kUInt8:
      return DataType::kUInt8;
    case abi::kInt64:
      return DataType::kInt64;
    case abi::kBool:
      return DataType::kBool;
    case abi::kInt16:
      return DataType::kInt16;
    case abi::kInt8:
      return DataType::kInt8;
    case abi::kFloat16:
      return DataType::kFloat16;
    default:
      return DataType::kInvalid;
  }
}

Result<Shape> ImportShape(const abi::Tensor& tensor) {
  if (tensor.dims == nullptr) return Bad("tensor.shape", "a tensor has no shape");
  const int32_t rank = tensor.dims->size;
  if (rank < 0 || rank > static_cast<int32_t>(Shape::kMaxRank)) {
    return Bad("tensor.shape",
               fmt::format("a tensor of rank {}; 0 to {} are possible", rank, Shape::kMaxRank));
  }
  const std::span<const int32_t> dims(tensor.dims->data, static_cast<size_t>(rank));
  for (const int32_t extent : dims) {
    if (extent < 0) return Bad("tensor.shape", fmt::format("a tensor with extent {}", extent));
  }
  const std::optional<Shape> shape = Shape::From(dims);
  if (!shape || !shape->CheckedElements()) {
    return Bad("tensor.shape", "the product of a tensor's extents overflows");
  }
  return *shape;
}

Status CheckBytes(const abi::Tensor& tensor, const ir::TensorType& type) {
  const auto elements = static_cast<uint64_t>(type.shape.elements());
  const std::optional<uint64_t> bytes = CheckedMul<uint64_t>(elements, ElementBytes(type.dtype));
  if (bytes && *bytes == tensor.bytes) return OkStatus();
  return Bad("tensor.bytes",
             fmt::format("{}{} needs {} bytes, the model gives {}", Name(type.dtype),
                         type.shape.ToString(), bytes.value_or(0), tensor.bytes));
}

Status CheckQuantization(const ir::TensorType& type) {
  const ir::Quantization& quant = type.quant;
  for (const float scale : quant.scales) {
    if (!std::isfinite(scale) || scale <= 0.0F) {
      return Bad("tensor.quantization", fmt::format("a quantization scale of {}", scale));
    }
  }
  for (const int32_t zero_point : quant.zero_points) {
    if (!ir::ZeroPointFits(type.dtype, zero_point)) {
      return Bad("tensor.quantization", fmt::format("zero point {} is outside the range of {}",
                                                    zero_point, Name(type.dtype)));
    }
  }
  return OkStatus();
}

// Array sizes are compared with the shape before anything is read beyond the first element.
Status ImportAffine(const abi::AffineQuantization& affine, ir::TensorType* type) {
  if (affine.scale == nullptr || affine.scale->size == 0) return OkStatus();  // not quantized
  const int32_t count = affine.scale->size;
  const int32_t zero_count = affine.zero_point == nullptr ? 0 : affine.zero_point->size;
  if (count != 1) {
    const int32_t axis = affine.quantized_dimension;
    if (axis < 0 || static_cast<size_t>(axis) >= type->shape.rank() ||
        type->shape[static_cast<size_t>(axis)] != count) {
      return Bad("tensor.quantization",
                 fmt::format("{} scales on axis {} of {}", count, axis, type->shape.ToString()));
    }
    type->quant.axis = axis;
  }
  if (zero_count != count && zero_count > 1) {
    return Bad("tensor.quantization",
               fmt::format("{} scales with {} zero points", count, zero_count));
  }
  if (zero_count < 0) return Bad("tensor.quantization", "a negative number of zero points");
  type->quant.scales.assign(affine.scale->data, affine.scale->data + count);
  if (zero_count > 0) {
    type->quant.zero_points.assign(affine.zero_point->data, affine.zero_point->data + zero_count);
  } else {
    type->quant.zero_points = {0};
  }
  return OkStatus();
}

Status ImportQuantization(const abi::Tensor& tensor, ir::TensorType* type) {
  const abi::Quantization& quantization = tensor.quantization;
  if (quantization.type == abi::kQuantizationAffine) {
    if (quantization.params == nullptr) {
      return Bad("tensor.quantization", "affine quantization without parameters");
    }
    NPU_RETURN_IF_ERROR(
        ImportAffine(*static_cast<const abi::AffineQuantization*>(quantization.params), type));
  } else if (quantization.type != abi::kQuantizationNone) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("quantization of kind {} is not claimed", quantization.type),
                  "tensor.quantization");
  } else if (tensor.params.scale != 0.0F) {  // hosts that fill only the older pair
    type->quant.scales = {tensor.params.scale};
    type->quant.zero_points = {tensor.params.zero_point};
  }
  return CheckQuantization(*type);
}

Result<std::span<const std::byte>> ImportConstant(const abi::Tensor& tensor) {
  static constexpr std::byte kEmpty{};  // gives an empty constant an address
  if (tensor.bytes == 0) return std::span<const std::byte>(&kEmpty, 0);
  if (tensor.data == nullptr) return Bad("tensor.constant", "a constant tensor without data");
  return std::span(static_cast<const std::byte*>(tensor.data), tensor.bytes);
}

// Last, so that every check above speaks of the model's own numbers.
void Rebase(ir::Value* value, ConstantStore* rebased) {
  constexpr int32_t kShift = 128;
  value->type.dtype = DataType::kInt8;
  value->type.rebased_uint8 = true;
  for (int32_t& zero_point : value->type.quant.zero_points) zero_point -= kShift;
  if (!value->is_constant() || value->constant.empty()) return;
  std::vector<std::byte>& bytes = rebased->emplace_back(value->constant.size());
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = value->constant[i] ^ std::byte{0x80};
  value->constant = bytes;
}

}  // namespace

Result<ir::Value> ImportTensor(const abi::Tensor& tensor, ConstantStore* rebased) {
  ir::Value value;
  if (tensor.name != nullptr) value.name = tensor.name;
  value.type.dtype = ImportType(tensor.type);
  if (value.type.dtype == DataType::kInvalid) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("tensors of the host's type {} are not claimed", tensor.type),
                  "tensor.type");
  }
  if (tensor.sparsity != nullptr) {
    return Status(ErrorCode::kUnsupported, "sparse tensors are not claimed", "tensor.sparse");
  }
  if (tensor.is_variable) {
    return Status(ErrorCode::kUnsupported, "variable tensors are not claimed", "tensor.memory");
  }
  NPU_ASSIGN_OR_RETURN(value.type.shape, ImportShape(tensor));
  switch (tensor.allocation_type) {
    case abi::kMmapRo:
    case abi::kPersistentRo: {
      NPU_RETURN_IF_ERROR(CheckBytes(tensor, value.type));
      NPU_ASSIGN_OR_RETURN(value.constant, ImportConstant(tensor));
      break;
    }
    case abi::kArenaRw:
    case abi::kArenaRwPersistent:
    case abi::kCustom:
      NPU_RETURN_IF_ERROR(CheckBytes(tensor, value.type));
      break;
    default:
      return Status(ErrorCode::kUnsupported,
                    fmt::format("tensors of allocation type {} (4: dynamic) are not claimed",
                                tensor.allocation_type),
                    "tensor.memory");
  }
  NPU_RETURN_IF_ERROR(ImportQuantization(tensor, &value.type));
  if (value.type.dtype == DataType::kUInt8) Rebase(&value, rebased);
  return value;
}

}  // namespace npu::tflite
