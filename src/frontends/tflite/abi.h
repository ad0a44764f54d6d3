// SPDX-License-Identifier: Apache-2.0
// Our own declarations of the host's C structures, newest 64-bit layout, with every offset checked
// in abi.cc (tflite-delegate 1.2, 1.3). Only the members we use have names; no host symbol is
// needed.
#ifndef SRC_FRONTENDS_TFLITE_ABI_H_
#define SRC_FRONTENDS_TFLITE_ABI_H_

#include <cstddef>
#include <cstdint>

namespace npu::tflite::abi {

enum Status : int32_t { kOk = 0, kError = 1, kDelegateError = 2, kApplicationError = 3 };

// Values that arrive from a host are read as int32_t and compared: anything else may come.
inline constexpr int32_t kFloat32 = 1, kInt32 = 2, kUInt8 = 3, kInt64 = 4, kBool = 6, kInt16 = 7,
                         kInt8 = 9, kFloat16 = 10;
inline constexpr int32_t kMmapRo = 1, kArenaRw = 2, kArenaRwPersistent = 3, kDynamic = 4,
                         kPersistentRo = 5, kCustom = 6;
inline constexpr int32_t kQuantizationNone = 0, kQuantizationAffine = 1;
inline constexpr int32_t kPaddingSame = 1, kPaddingValid = 2;
// MIRROR_PAD.
inline constexpr int32_t kMirrorReflect = 1, kMirrorSymmetric = 2;
inline constexpr int32_t kActivationNone = 0, kActivationRelu = 1, kActivationReluN1To1 = 2,
                         kActivationRelu6 = 3, kActivationTanh = 4, kActivationSignBit = 5,
                         kActivationSigmoid = 6;
inline constexpr int32_t kOptionalTensor = -1;

struct IntArray {
  int32_t size;
  int32_t data[];
};

struct FloatArray {
  int32_t size;
  float data[];
};

struct AffineQuantization {
  FloatArray* scale;
  IntArray* zero_point;
  int32_t quantized_dimension;
};

struct LegacyQuantization {
  float scale;
  int32_t zero_point;
};

struct Quantization {
  int32_t type;
  void* params;
};

struct Delegate;

struct Tensor {
  int32_t type;
  void* data;
  IntArray* dims;
  LegacyQuantization params;
  int32_t allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  Delegate* delegate;
  int32_t buffer_handle;
  bool data_is_stale;
  bool is_variable;
  Quantization quantization;
  void* sparsity;
  const IntArray* dims_signature;
};

struct Node {
  IntArray* inputs;
  IntArray* outputs;
  IntArray* intermediates;
  IntArray* temporaries;
  void* user_data;
  void* builtin_data;
  const void* custom_initial_data;
  int32_t custom_initial_data_size;
  Delegate* delegate;
  bool might_have_side_effect;
};

struct Context;

// Value-initialise it whole: a stray non-zero in the last three members changes what hosts do.
struct Registration {
  void* (*init)(Context* context, const char* buffer, size_t length);
  void (*free)(Context* context, void* user_data);
  Status (*prepare)(Context* context, Node* node);
  Status (*invoke)(Context* context, Node* node);
  const char* (*profiling_string)(const Context* context, const Node* node);
  int32_t builtin_code;
  const char* custom_name;
  int32_t version;
  void* registration_external;
  void* async_kernel;
  uint64_t inplace_operator;
};

struct DelegateParams {
  Delegate* delegate;
  IntArray* nodes_to_replace;
  IntArray* input_tensors;
  IntArray* output_tensors;
};

struct Context {
  size_t tensors_size;
  Status (*GetExecutionPlan)(Context* context, IntArray** execution_plan);
  Tensor* tensors;
  void* impl;
  void* unused_resize_tensor;
  void (*ReportError)(Context* context, const char* format, ...);
  void* unused_add_tensors;
  Status (*GetNodeAndRegistration)(Context* context, int32_t node_index, Node** node,
                                   Registration** registration);
  Status (*ReplaceNodeSubsetsWithDelegateKernels)(Context* context, Registration registration,
                                                  const IntArray* nodes_to_replace,
                                                  Delegate* delegate);
  int32_t recommended_num_threads;
  void* unused_external_context[2];
  bool allow_fp32_relax_to_fp16;
  void* profiler;
  void* unused_memory[5];
  Status (*PreviewDelegatePartitioning)(Context* context, const IntArray* nodes_to_replace,
                                        DelegateParams** partitions, int32_t* num_partitions);
  void* unused_get_tensor[2];
  void* unused_get_model_metadata;
  void* unused_tail[2];
};

struct Delegate {
  void* data;
  Status (*Prepare)(Context* context, Delegate* delegate);
  void* CopyFromBufferHandle;
  void* CopyToBufferHandle;
  void* FreeBufferHandle;
  int64_t flags;
  void* opaque_delegate_builder;
};

// Parameters of the operations we import (tflite-delegate 4): leading members only, hosts append.
// Booleans are read as bytes, since a bool that holds neither 0 nor 1 is undefined.
struct ConvParams {
  int32_t padding, stride_width, stride_height, activation;
  int32_t dilation_width_factor, dilation_height_factor;
};
struct DepthwiseConvParams {
  int32_t padding, stride_width, stride_height, depth_multiplier, activation;
  int32_t dilation_width_factor, dilation_height_factor;
};
struct PoolParams {
  int32_t padding, stride_width, stride_height, filter_width, filter_height, activation;
};
struct FullyConnectedParams {
  int32_t activation, weights_format;
  uint8_t keep_num_dims, asymmetric_quantize_inputs;
};
// ADD, SUB and MUL.
struct BinaryParams {
  int32_t activation;
};
struct ConcatenationParams {
  int32_t axis, activation;
};
struct SoftmaxParams {
  float beta;
};
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
struct ResizeParams {
  uint8_t align_corners, half_pixel_centers;
};
struct MirrorPadParams {
  int32_t mode;  // 1 REFLECT, 2 SYMMETRIC
};
struct StridedSliceParams {
  int32_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
  uint8_t offset;  // only from version 8 of the operation on; older hosts end before it
};
// L2_NORMALIZATION.
struct L2NormParams {
  int32_t activation;
};
struct TransposeConvParams {
  int32_t padding, stride_width, stride_height, activation;
};
// MEAN, SUM, REDUCE_MAX and REDUCE_MIN.
struct ReducerParams {
  uint8_t keep_dims;
};
struct LeakyReluParams {
  float alpha;
};

}  // namespace npu::tflite::abi

#endif  // SRC_FRONTENDS_TFLITE_ABI_H_
