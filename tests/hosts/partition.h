// SPDX-License-Identifier: Apache-2.0
// How a host groups the nodes a delegate claims (tflite-delegate 1.6).
#ifndef TESTS_HOSTS_PARTITION_H_
#define TESTS_HOSTS_PARTITION_H_

#include "tests/hosts/interpreter.h"

typedef struct {
  bool claimed;
  int32_t size;
  int32_t nodes[kMaxNodes];
} Group;

typedef struct {
  int32_t count;
  Group groups[kMaxNodes];
} Partitions;

// Groups of one kind each, in the order they run: a node joins when its inputs are there.
void FindPartitions(const Interpreter* host, const TfLiteIntArray* claimed, Partitions* found);
// Inputs include constants; outputs are read outside, or are the model's.
void ParamsOf(const Interpreter* host, const Group* group, TfLiteDelegate* delegate,
              TfLiteDelegateParams* params);
void FreeParams(TfLiteDelegateParams* params);
void FreePreview(Interpreter* host);
// Tensors that only a delegate kernel knows lose their memory.
void MarkInside(Interpreter* host);

#endif  // TESTS_HOSTS_PARTITION_H_
