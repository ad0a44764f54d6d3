// SPDX-License-Identifier: Apache-2.0
#include "tests/hosts/interpreter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/hosts/partition.h"

enum { kGuard = 64, kGuardByte = 0xA5, kStaleBytes = 1 << 20 };

void Check(bool good, const char* text) {
  if (good) return;
  fprintf(stderr, "c_host: failed: %s\n", text);
  fflush(NULL);
  _exit(1);
}

static Interpreter* Of(TfLiteContext* context) { return context->impl_; }

TfLiteIntArray* NewList(int32_t size, const int32_t* values) {
  const size_t bytes = (size_t)size * sizeof(int32_t);
  TfLiteIntArray* list = malloc(sizeof(TfLiteIntArray) + bytes);
  Check(list != NULL, "memory for a list");
  list->size = size;
  if (size > 0) memcpy(list->data, values, bytes);
  return list;
}

int32_t AddTensor(Interpreter* host, int32_t type, int32_t allocation) {
  Check(host->tensor_count < kMaxTensors, "room for a tensor");
  TfLiteTensor* tensor = &host->tensors[host->tensor_count];
  tensor->type = type;
  tensor->allocation_type = allocation;
  tensor->name = "tensor";
  tensor->buffer_handle = -1;
  return host->tensor_count++;
}

void SetShape(Interpreter* host, int32_t index, int32_t rank, const int32_t* dims) {
  TfLiteTensor* tensor = &host->tensors[index];
  free(tensor->dims);
  tensor->dims = NewList(rank, dims);
  tensor->bytes = tensor->type == kTfLiteInt32 ? 4 : 1;
  for (int32_t i = 0; i < rank; ++i) tensor->bytes *= (size_t)dims[i];
}

int32_t AddNode(Interpreter* host, int32_t builtin_code, TfLiteIntArray* inputs,
                TfLiteIntArray* outputs, void* builtin_data) {
  Check(host->node_count < kMaxNodes, "room for a node");
  TfLiteNode* node = &host->nodes[host->node_count];
  TfLiteRegistration* registration = &host->registrations[host->node_count];
  memset(node, 0, sizeof(*node));
  memset(registration, 0, sizeof(*registration));
  node->inputs = inputs;
  node->outputs = outputs;
  node->builtin_data = builtin_data;
  registration->builtin_code = builtin_code;
  registration->version = 1;
  registration->inplace_operator = 12;  // real built-in registrations have it set
  return host->node_count++;
}

// What a delegate may call, and only while it is being applied.
static TfLiteStatus GetPlan(TfLiteContext* context, TfLiteIntArray** plan) {
  *plan = Of(context)->plan;
  return kTfLiteOk;
}

static TfLiteStatus GetNode(TfLiteContext* context, int index, TfLiteNode** node,
                            TfLiteRegistration** registration) {
  Interpreter* host = Of(context);
  if (index < 0 || index >= host->node_count) return kTfLiteError;
  *node = &host->nodes[index];
  *registration = &host->registrations[index];
  return kTfLiteOk;
}

static void Report(TfLiteContext* context, const char* format, ...) {
  Interpreter* host = Of(context);
  const size_t used = strlen(host->errors);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(host->errors + used, sizeof(host->errors) - used, format, arguments);
  va_end(arguments);
}

static TfLiteStatus Preview(TfLiteContext* context, const TfLiteIntArray* nodes,
                            TfLiteDelegateParams** partitions, int* count) {
  Interpreter* host = Of(context);
  FreePreview(host);
  Partitions found;
  FindPartitions(host, nodes, &found);
  host->preview = calloc(kMaxNodes, sizeof(TfLiteDelegateParams));
  Check(host->preview != NULL, "memory for a preview");
  for (int32_t i = 0; i < found.count; ++i) {
    if (!found.groups[i].claimed) continue;
    ParamsOf(host, &found.groups[i], NULL, &host->preview[host->preview_count++]);
  }
  *partitions = host->preview;
  *count = host->preview_count;
  return kTfLiteOk;
}

static void CheckRegistration(const TfLiteRegistration* registration) {
  Check(registration->init != NULL && registration->free != NULL, "init and free");
  Check(registration->prepare != NULL && registration->invoke != NULL, "prepare and invoke");
  Check(registration->custom_name != NULL, "a name for logs and profilers");
  Check(registration->registration_external == NULL, "registration_external is zero");
  Check(registration->async_kernel == NULL, "async_kernel is zero");
  Check(registration->inplace_operator == 0, "inplace_operator is zero");
}

// One delegate kernel: a node of its own, whose init gets the parameters and the length 0.
static int32_t AddKernel(Interpreter* host, TfLiteRegistration registration, const Group* group,
                         TfLiteDelegate* delegate) {
  TfLiteDelegateParams* params = calloc(1, sizeof(TfLiteDelegateParams));
  Check(params != NULL, "memory for parameters");
  ParamsOf(host, group, delegate, params);
  const int32_t index =
      AddNode(host, kDelegate, NewList(params->input_tensors->size, params->input_tensors->data),
              NewList(params->output_tensors->size, params->output_tensors->data), params);
  registration.builtin_code = kDelegate;
  host->registrations[index] = registration;
  TfLiteNode* node = &host->nodes[index];
  node->delegate = delegate;
  if (host->sabotage == kNoDelegateInParams) params->delegate = NULL;
  if (host->sabotage == kForeignNodeInParams) params->nodes_to_replace->data[0] = 1;
  node->user_data = registration.init(&host->context, (const char*)params, 0);
  ++host->inits;
  if (node->user_data == NULL) ++host->null_inits;
  return index;
}

static TfLiteStatus Replace(TfLiteContext* context, TfLiteRegistration registration,
                            const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  Interpreter* host = Of(context);
  if (nodes->size == 0) return kTfLiteOk;
  CheckRegistration(&registration);
  Partitions found;
  FindPartitions(host, nodes, &found);
  int32_t plan[kMaxNodes];
  int32_t size = 0;
  for (int32_t i = 0; i < found.count; ++i) {
    const Group* group = &found.groups[i];
    if (group->claimed) {
      plan[size++] = AddKernel(host, registration, group, delegate);
    } else {
      for (int32_t n = 0; n < group->size; ++n) plan[size++] = group->nodes[n];
    }
  }
  free(host->plan);
  host->plan = NewList(size, plan);
  return kTfLiteOk;
}

// Outside of a delegate's Prepare these calls are forbidden, as in the real interpreter.
static TfLiteStatus NoPlan(TfLiteContext* context, TfLiteIntArray** plan) {
  (void)context, (void)plan;
  Check(false, "GetExecutionPlan outside of Prepare");
  return kTfLiteError;
}
static TfLiteStatus NoNode(TfLiteContext* context, int index, TfLiteNode** node,
                           TfLiteRegistration** registration) {
  (void)context, (void)index, (void)node, (void)registration;
  Check(false, "GetNodeAndRegistration outside of Prepare");
  return kTfLiteError;
}
static TfLiteStatus NoPreview(TfLiteContext* context, const TfLiteIntArray* nodes,
                              TfLiteDelegateParams** partitions, int* count) {
  (void)context, (void)nodes, (void)partitions, (void)count;
  Check(false, "PreviewDelegatePartitioning outside of Prepare");
  return kTfLiteError;
}
static TfLiteStatus NoReplace(TfLiteContext* context, TfLiteRegistration registration,
                              const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  (void)context, (void)registration, (void)nodes, (void)delegate;
  Check(false, "ReplaceNodeSubsetsWithDelegateKernels outside of Prepare");
  return kTfLiteError;
}

static void AllowDelegateCalls(Interpreter* host, bool allow) {
  host->context.GetExecutionPlan = allow ? GetPlan : NoPlan;
  host->context.GetNodeAndRegistration = allow ? GetNode : NoNode;
  host->context.PreviewDelegatePartitioning = allow ? Preview : NoPreview;
  host->context.ReplaceNodeSubsetsWithDelegateKernels = allow ? Replace : NoReplace;
}

static void RestorePlan(Interpreter* host) {
  int32_t plan[kMaxNodes];
  for (int32_t i = 0; i < host->model_nodes; ++i) plan[i] = i;
  free(host->plan);
  host->plan = NewList(host->model_nodes, plan);
}

void Finish(Interpreter* host) {
  host->context.impl_ = host;
  host->context.tensors = host->tensors;
  host->context.tensors_size = (size_t)host->tensor_count;
  host->context.ReportError = Report;
  host->context.recommended_num_threads = -1;
  AllowDelegateCalls(host, false);
  host->model_nodes = host->node_count;
  RestorePlan(host);
}

static bool InArena(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteArenaRw;
}

static void DropArena(Interpreter* host) {
  for (int32_t i = 0; i < host->tensor_count; ++i) {
    free(host->blocks[i]);
    host->blocks[i] = NULL;
    if (InArena(&host->tensors[i])) host->tensors[i].data = NULL;
  }
}

static TfLiteStatus PrepareKernels(Interpreter* host) {
  for (int32_t i = 0; i < host->plan->size; ++i) {
    const int32_t n = host->plan->data[i];
    if (n < host->model_nodes) continue;
    ++host->prepares;
    const TfLiteStatus status =
        host->registrations[n].prepare(&host->context, &host->nodes[n]);
    if (status == kTfLiteOk) continue;
    Report(&host->context, "Node number %d (%s) failed to prepare.", n,
           host->registrations[n].custom_name);
    return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Apply(Interpreter* host, TfLiteDelegate* delegate) {
  host->shape(host);
  DropArena(host);
  host->delegate = delegate;
  AllowDelegateCalls(host, true);
  TfLiteStatus status = delegate->Prepare(&host->context, delegate);
  AllowDelegateCalls(host, false);
  if (status == kTfLiteOk) status = PrepareKernels(host);
  if (status == kTfLiteOk) {
    MarkInside(host);
    return kTfLiteOk;
  }
  FreeKernels(host);
  host->delegate = NULL;
  Report(&host->context,
         "Restored original execution plan after delegate application failure.");
  return kTfLiteDelegateError;
}

// A mapping that nobody may touch, of the whole process.
static void* StaleMemory(void) {
  void* memory = mmap(NULL, kStaleBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Check(memory != MAP_FAILED, "a mapping for stale pointers");
  return memory;
}

static TfLiteStatus PrepareWithStalePointers(Interpreter* host) {
  unsigned char* stale = StaleMemory();
  for (int32_t i = 0; i < host->tensor_count; ++i) {
    if (InArena(&host->tensors[i])) host->tensors[i].data = stale + 64 * i;
  }
  TfLiteStatus status = PrepareKernels(host);
  if (status == kTfLiteOk) status = PrepareKernels(host);
  munmap(stale, kStaleBytes);
  return status;
}

TfLiteStatus Allocate(Interpreter* host) {
  if (host->delegate != NULL && KernelCount(host) == 0) {
    const TfLiteStatus status = Apply(host, host->delegate);
    if (status != kTfLiteOk) return status;
  }
  host->shape(host);
  DropArena(host);
  const TfLiteStatus status = PrepareWithStalePointers(host);
  DropArena(host);
  if (status == kTfLiteOk) MoveArena(host);
  return status;
}

void MoveArena(Interpreter* host) {
  for (int32_t i = 0; i < host->tensor_count; ++i) {
    TfLiteTensor* tensor = &host->tensors[i];
    if (!InArena(tensor) || host->inside[i]) continue;
    void* block = NULL;
    const size_t whole = tensor->bytes + 2 * kGuard;
    Check(posix_memalign(&block, 64, whole) == 0, "memory for a tensor");
    memset(block, kGuardByte, whole);
    unsigned char* data = (unsigned char*)block + kGuard;
    if (tensor->data != NULL) memcpy(data, tensor->data, tensor->bytes);
    free(host->blocks[i]);
    host->blocks[i] = block;
    tensor->data = data;
  }
}

static void CheckGuards(const Interpreter* host) {
  for (int32_t i = 0; i < host->tensor_count; ++i) {
    const unsigned char* block = host->blocks[i];
    if (block == NULL) continue;
    const unsigned char* end = block + kGuard + host->tensors[i].bytes;
    for (int32_t k = 0; k < kGuard; ++k) {
      Check(block[k] == kGuardByte && end[k] == kGuardByte, "nothing beside a tensor is written");
    }
  }
}

TfLiteStatus Invoke(Interpreter* host) {
  for (int32_t i = 0; i < host->plan->size; ++i) {
    const int32_t n = host->plan->data[i];
    if (n < host->model_nodes) {
      host->run_node(host, &host->nodes[n], host->registrations[n].builtin_code);
      continue;
    }
    ++host->invokes;
    const TfLiteStatus status = host->registrations[n].invoke(&host->context, &host->nodes[n]);
    if (status == kTfLiteOk) continue;
    Report(&host->context, "Node number %d (%s) failed to invoke.", n,
           host->registrations[n].custom_name);
    return kTfLiteError;
  }
  CheckGuards(host);
  return kTfLiteOk;
}

void ResizeInput(Interpreter* host, int32_t rank, const int32_t* dims) {
  FreeKernels(host);
  DropArena(host);
  SetShape(host, host->input, rank, dims);
}

int32_t KernelCount(const Interpreter* host) { return host->node_count - host->model_nodes; }

void FreeKernels(Interpreter* host) {
  for (int32_t n = host->model_nodes; n < host->node_count; ++n) {
    TfLiteNode* node = &host->nodes[n];
    if (node->user_data != NULL) {
      host->registrations[n].free(&host->context, node->user_data);
      ++host->frees;
    }
    FreeParams(node->builtin_data);
    free(node->builtin_data);
    free(node->inputs);
    free(node->outputs);
  }
  host->node_count = host->model_nodes;
  memset(host->inside, 0, sizeof(host->inside));
  RestorePlan(host);
}

void Clear(Interpreter* host) {
  FreeKernels(host);
  DropArena(host);
  FreePreview(host);
  free(host->plan);
  for (int32_t n = 0; n < host->node_count; ++n) {
    free(host->nodes[n].inputs);
    free(host->nodes[n].outputs);
  }
  for (int32_t i = 0; i < host->tensor_count; ++i) free(host->tensors[i].dims);
  free(host->model);
}
