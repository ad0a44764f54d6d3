// SPDX-License-Identifier: Apache-2.0
// The host's structures in C, written from the layout table of the specification (tflite-delegate
// 1.2) and not from the library's own header: a mistake there would show here.
#ifndef TESTS_HOSTS_TFLITE_ABI_H_
#define TESTS_HOSTS_TFLITE_ABI_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  kTfLiteOk = 0,
  kTfLiteError = 1,
  kTfLiteDelegateError = 2,
  kTfLiteApplicationError = 3
} TfLiteStatus;

enum { kTfLiteInt32 = 2, kTfLiteUInt8 = 3, kTfLiteInt8 = 9 };
enum { kTfLiteMmapRo = 1, kTfLiteArenaRw = 2 };
enum { kTfLiteAffineQuantization = 1 };
enum { kTfLitePaddingSame = 1 };
enum { kTfLiteActNone = 0, kTfLiteActRelu = 1 };
enum { kAdd = 0, kConv2d = 3, kCustom = 32, kDelegate = 51 };

typedef struct {
  int32_t size;
  int32_t data[];
} TfLiteIntArray;

typedef struct {
  int32_t size;
  float data[];
} TfLiteFloatArray;

typedef struct {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  int32_t quantized_dimension;
} TfLiteAffineQuantization;

typedef struct TfLiteContext TfLiteContext;
typedef struct TfLiteDelegate TfLiteDelegate;

typedef struct {
  int32_t type;
  void* data;
  TfLiteIntArray* dims;
  struct {
    float scale;
    int32_t zero_point;
  } params;
  int32_t allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  TfLiteDelegate* delegate;
  int32_t buffer_handle;
  bool data_is_stale;
  bool is_variable;
  struct {
    int32_t type;
    void* params;
  } quantization;
  void* sparsity;
  const TfLiteIntArray* dims_signature;
} TfLiteTensor;

typedef struct {
  TfLiteIntArray* inputs;
  TfLiteIntArray* outputs;
  TfLiteIntArray* intermediates;
  TfLiteIntArray* temporaries;
  void* user_data;
  void* builtin_data;
  const void* custom_initial_data;
  int32_t custom_initial_data_size;
  TfLiteDelegate* delegate;
  bool might_have_side_effect;
} TfLiteNode;

typedef struct {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;
  const char* custom_name;
  int32_t version;
  void* registration_external;
  void* async_kernel;
  uint64_t inplace_operator;
} TfLiteRegistration;

typedef struct {
  TfLiteDelegate* delegate;
  TfLiteIntArray* nodes_to_replace;
  TfLiteIntArray* input_tensors;
  TfLiteIntArray* output_tensors;
} TfLiteDelegateParams;

typedef TfLiteStatus (*GetPlanFunction)(TfLiteContext*, TfLiteIntArray**);
typedef TfLiteStatus (*GetNodeFunction)(TfLiteContext*, int, TfLiteNode**, TfLiteRegistration**);
typedef TfLiteStatus (*ReplaceFunction)(TfLiteContext*, TfLiteRegistration, const TfLiteIntArray*,
                                        TfLiteDelegate*);
typedef TfLiteStatus (*PreviewFunction)(TfLiteContext*, const TfLiteIntArray*,
                                        TfLiteDelegateParams**, int*);

struct TfLiteContext {
  size_t tensors_size;
  GetPlanFunction GetExecutionPlan;
  TfLiteTensor* tensors;
  void* impl_;
  void* ResizeTensor;
  void (*ReportError)(TfLiteContext* context, const char* format, ...);
  void* AddTensors;
  GetNodeFunction GetNodeAndRegistration;
  ReplaceFunction ReplaceNodeSubsetsWithDelegateKernels;
  int32_t recommended_num_threads;
  void* GetExternalContext;
  void* SetExternalContext;
  bool allow_fp32_relax_to_fp16;
  void* profiler;
  void* memory_functions[5];
  PreviewFunction PreviewDelegatePartitioning;
  void* GetTensor;
  void* GetEvalTensor;
  void* GetModelMetadata;
  void* tail[2];
};

struct TfLiteDelegate {
  void* data_;
  TfLiteStatus (*Prepare)(TfLiteContext* context, TfLiteDelegate* delegate);
  void* CopyFromBufferHandle;
  void* CopyToBufferHandle;
  void* FreeBufferHandle;
  int64_t flags;
  void* opaque_delegate_builder;
};

// Width before height in every structure of this family (tflite-delegate 4.1).
typedef struct {
  int32_t padding, stride_width, stride_height, activation;
  int32_t dilation_width_factor, dilation_height_factor;
} TfLiteConvParams;

typedef struct {
  int32_t activation;
  bool pot_scale_int16;
} TfLiteAddParams;

typedef TfLiteDelegate* (*CreateFunction)(const char* const* keys, const char* const* values,
                                          size_t n, void (*report_error)(const char*));
typedef void (*DestroyFunction)(TfLiteDelegate* delegate);

static_assert(sizeof(TfLiteDelegate) == 56, "TfLiteDelegate");
static_assert(offsetof(TfLiteDelegate, flags) == 40, "flags");
static_assert(sizeof(TfLiteContext) == 200, "TfLiteContext");
static_assert(offsetof(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels) == 64, "Replace");
static_assert(offsetof(TfLiteContext, recommended_num_threads) == 72, "threads");
static_assert(offsetof(TfLiteContext, allow_fp32_relax_to_fp16) == 96, "allow_fp32");
static_assert(offsetof(TfLiteContext, profiler) == 104, "profiler");
static_assert(offsetof(TfLiteContext, PreviewDelegatePartitioning) == 152, "Preview");
static_assert(offsetof(TfLiteContext, GetModelMetadata) == 176, "GetModelMetadata");
static_assert(sizeof(TfLiteTensor) == 112, "TfLiteTensor");
static_assert(offsetof(TfLiteTensor, params) == 24, "params");
static_assert(offsetof(TfLiteTensor, bytes) == 40, "bytes");
static_assert(offsetof(TfLiteTensor, is_variable) == 77, "is_variable");
static_assert(offsetof(TfLiteTensor, quantization) == 80, "quantization");
static_assert(offsetof(TfLiteTensor, dims_signature) == 104, "dims_signature");
static_assert(sizeof(TfLiteNode) == 80, "TfLiteNode");
static_assert(offsetof(TfLiteNode, delegate) == 64, "delegate");
static_assert(sizeof(TfLiteRegistration) == 88, "TfLiteRegistration");
static_assert(offsetof(TfLiteRegistration, registration_external) == 64, "registration_external");
static_assert(sizeof(TfLiteDelegateParams) == 32, "TfLiteDelegateParams");

#endif  // TESTS_HOSTS_TFLITE_ABI_H_
