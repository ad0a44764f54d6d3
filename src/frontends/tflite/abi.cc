// SPDX-License-Identifier: Apache-2.0
// Nothing but checks: a misplaced member does not compile.
#include "src/frontends/tflite/abi.h"

namespace npu::tflite::abi {

// Offsets of 64-bit hosts, 2.14 to LiteRT 2.3.
#define NPU_CHECK_OFFSET(type, member, offset) \
  static_assert(offsetof(type, member) == (offset), #type "." #member " is misplaced")

static_assert(sizeof(Delegate) == 56);
NPU_CHECK_OFFSET(Delegate, data, 0);
NPU_CHECK_OFFSET(Delegate, Prepare, 8);
NPU_CHECK_OFFSET(Delegate, CopyFromBufferHandle, 16);
NPU_CHECK_OFFSET(Delegate, CopyToBufferHandle, 24);
NPU_CHECK_OFFSET(Delegate, FreeBufferHandle, 32);
NPU_CHECK_OFFSET(Delegate, flags, 40);
NPU_CHECK_OFFSET(Delegate, opaque_delegate_builder, 48);

static_assert(sizeof(Context) == 200);
NPU_CHECK_OFFSET(Context, tensors_size, 0);
NPU_CHECK_OFFSET(Context, GetExecutionPlan, 8);
NPU_CHECK_OFFSET(Context, tensors, 16);
NPU_CHECK_OFFSET(Context, impl, 24);
NPU_CHECK_OFFSET(Context, unused_resize_tensor, 32);
NPU_CHECK_OFFSET(Context, ReportError, 40);
NPU_CHECK_OFFSET(Context, unused_add_tensors, 48);
NPU_CHECK_OFFSET(Context, GetNodeAndRegistration, 56);
NPU_CHECK_OFFSET(Context, ReplaceNodeSubsetsWithDelegateKernels, 64);
NPU_CHECK_OFFSET(Context, recommended_num_threads, 72);
NPU_CHECK_OFFSET(Context, unused_external_context, 80);
NPU_CHECK_OFFSET(Context, allow_fp32_relax_to_fp16, 96);
NPU_CHECK_OFFSET(Context, profiler, 104);
NPU_CHECK_OFFSET(Context, PreviewDelegatePartitioning, 152);
NPU_CHECK_OFFSET(Context, unused_get_tensor, 160);
NPU_CHECK_OFFSET(Context, unused_get_model_metadata, 176);

static_assert(sizeof(Tensor) == 112);
NPU_CHECK_OFFSET(Tensor, type, 0);
NPU_CHECK_OFFSET(Tensor, data, 8);
NPU_CHECK_OFFSET(Tensor, dims, 16);
NPU_CHECK_OFFSET(Tensor, params, 24);
NPU_CHECK_OFFSET(Tensor, allocation_type, 32);
NPU_CHECK_OFFSET(Tensor, bytes, 40);
NPU_CHECK_OFFSET(Tensor, name, 56);
NPU_CHECK_OFFSET(Tensor, delegate, 64);
NPU_CHECK_OFFSET(Tensor, buffer_handle, 72);
NPU_CHECK_OFFSET(Tensor, data_is_stale, 76);
NPU_CHECK_OFFSET(Tensor, is_variable, 77);
NPU_CHECK_OFFSET(Tensor, quantization, 80);
NPU_CHECK_OFFSET(Tensor, sparsity, 96);
NPU_CHECK_OFFSET(Tensor, dims_signature, 104);

static_assert(sizeof(Node) == 80);
NPU_CHECK_OFFSET(Node, inputs, 0);
NPU_CHECK_OFFSET(Node, outputs, 8);
NPU_CHECK_OFFSET(Node, intermediates, 16);
NPU_CHECK_OFFSET(Node, temporaries, 24);
NPU_CHECK_OFFSET(Node, user_data, 32);
NPU_CHECK_OFFSET(Node, builtin_data, 40);
NPU_CHECK_OFFSET(Node, custom_initial_data, 48);
NPU_CHECK_OFFSET(Node, custom_initial_data_size, 56);
NPU_CHECK_OFFSET(Node, delegate, 64);
NPU_CHECK_OFFSET(Node, might_have_side_effect, 72);

static_assert(sizeof(Registration) == 88);
NPU_CHECK_OFFSET(Registration, init, 0);
NPU_CHECK_OFFSET(Registration, free, 8);
NPU_CHECK_OFFSET(Registration, prepare, 16);
NPU_CHECK_OFFSET(Registration, invoke, 24);
NPU_CHECK_OFFSET(Registration, profiling_string, 32);
NPU_CHECK_OFFSET(Registration, builtin_code, 40);
NPU_CHECK_OFFSET(Registration, custom_name, 48);
NPU_CHECK_OFFSET(Registration, version, 56);
NPU_CHECK_OFFSET(Registration, registration_external, 64);
NPU_CHECK_OFFSET(Registration, async_kernel, 72);
NPU_CHECK_OFFSET(Registration, inplace_operator, 80);

static_assert(sizeof(DelegateParams) == 32);
NPU_CHECK_OFFSET(DelegateParams, delegate, 0);
NPU_CHECK_OFFSET(DelegateParams, nodes_to_replace, 8);
NPU_CHECK_OFFSET(DelegateParams, input_tensors, 16);
NPU_CHECK_OFFSET(DelegateParams, output_tensors, 24);

static_assert(sizeof(AffineQuantization) == 24);
NPU_CHECK_OFFSET(AffineQuantization, zero_point, 8);
NPU_CHECK_OFFSET(AffineQuantization, quantized_dimension, 16);
static_assert(sizeof(IntArray) == 4 && sizeof(FloatArray) == 4);

static_assert(sizeof(ConvParams) == 24 && sizeof(DepthwiseConvParams) == 28);
static_assert(sizeof(FullyConnectedParams) == 12 && sizeof(PoolParams) == 24);
NPU_CHECK_OFFSET(ConvParams, activation, 12);
NPU_CHECK_OFFSET(DepthwiseConvParams, activation, 16);
NPU_CHECK_OFFSET(PoolParams, activation, 20);
NPU_CHECK_OFFSET(FullyConnectedParams, keep_num_dims, 8);
static_assert(sizeof(StridedSliceParams) == 24);
NPU_CHECK_OFFSET(StridedSliceParams, offset, 20);

}  // namespace npu::tflite::abi
