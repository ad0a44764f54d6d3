// SPDX-License-Identifier: Apache-2.0
// A small interpreter with the call sequence of the real ones (tflite-delegate 1.5, 1.6, 11.3),
// and with less mercy: pointers that hosts leave stale point at memory that cannot be read here,
// and tensors have guards that are checked after every run. One thread at a time each.
#ifndef TESTS_HOSTS_INTERPRETER_H_
#define TESTS_HOSTS_INTERPRETER_H_

#include "tests/hosts/tflite_abi.h"

enum { kMaxTensors = 16, kMaxNodes = 16 };

typedef enum {
  kHonest,
  kNoDelegateInParams,   // init gets parameters without a delegate
  kForeignNodeInParams,  // init gets a node that was never claimed
} Sabotage;

typedef struct Interpreter Interpreter;

struct Interpreter {
  TfLiteContext context;
  TfLiteTensor tensors[kMaxTensors];
  void* blocks[kMaxTensors];  // of arena tensors: guard, data, guard; null: no memory
  bool inside[kMaxTensors];   // made and used within one delegate kernel: never has memory
  int32_t tensor_count;
  TfLiteNode nodes[kMaxNodes];  // the model's own, then those of delegate kernels
  TfLiteRegistration registrations[kMaxNodes];
  int32_t node_count, model_nodes;
  int32_t input, output;
  void* model;  // constants and parameters; freed by Clear
  TfLiteIntArray* plan;
  TfLiteDelegateParams* preview;  // the host's, until the next preview
  int32_t preview_count;
  TfLiteDelegate* delegate;  // asked again after a resize
  Sabotage sabotage;
  // How often a kernel's functions were called, and what they reported.
  int32_t inits, null_inits, prepares, invokes, frees;
  char errors[2048];
  // The model: shapes of everything from the input's, and how a node runs that nobody claimed.
  void (*shape)(Interpreter* host);
  void (*run_node)(Interpreter* host, const TfLiteNode* node, int32_t builtin_code);
};

// Ends the process with this text unless `good`.
void Check(bool good, const char* text);

TfLiteIntArray* NewList(int32_t size, const int32_t* values);
int32_t AddTensor(Interpreter* host, int32_t type, int32_t allocation);
void SetShape(Interpreter* host, int32_t tensor, int32_t rank, const int32_t* dims);
// Takes both lists over.
int32_t AddNode(Interpreter* host, int32_t builtin_code, TfLiteIntArray* inputs,
                TfLiteIntArray* outputs, void* builtin_data);

// The model's nodes and tensors are there: sets up the context.
void Finish(Interpreter* host);
// Everything up to the first prepare of the kernels, as at the construction of an interpreter.
TfLiteStatus Apply(Interpreter* host, TfLiteDelegate* delegate);
// Applies the delegate again where a resize undid it, prepares the kernels twice more with stale
// pointers, as when a default delegate is applied, then gives the tensors memory.
TfLiteStatus Allocate(Interpreter* host);
// Every arena tensor to another address, contents kept.
void MoveArena(Interpreter* host);
TfLiteStatus Invoke(Interpreter* host);
// Kernels are freed at once.
void ResizeInput(Interpreter* host, int32_t rank, const int32_t* dims);
// Number of delegate kernels in the plan.
int32_t KernelCount(const Interpreter* host);
void FreeKernels(Interpreter* host);
// Frees kernels and everything else; the interpreter itself is the caller's.
void Clear(Interpreter* host);

#endif  // TESTS_HOSTS_INTERPRETER_H_
