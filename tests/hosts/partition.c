// SPDX-License-Identifier: Apache-2.0
#include "tests/hosts/partition.h"

#include <stdlib.h>
#include <string.h>

static bool Contains(const TfLiteIntArray* list, int32_t value) {
  for (int32_t i = 0; i < list->size; ++i) {
    if (list->data[i] == value) return true;
  }
  return false;
}

static bool InGroup(const Group* group, int32_t node) {
  for (int32_t i = 0; i < group->size; ++i) {
    if (group->nodes[i] == node) return true;
  }
  return false;
}

static bool Ready(const Interpreter* host, const bool* done, int32_t node) {
  for (int32_t n = 0; n < host->model_nodes; ++n) {
    if (done[n]) continue;
    const TfLiteIntArray* outputs = host->nodes[n].outputs;
    for (int32_t k = 0; k < outputs->size; ++k) {
      if (Contains(host->nodes[node].inputs, outputs->data[k])) return false;
    }
  }
  return true;
}

// One pass in plan order is enough: the model's nodes are in topological order.
static void Collect(const Interpreter* host, const TfLiteIntArray* claimed, bool* done,
                    Group* group) {
  for (int32_t n = 0; n < host->model_nodes; ++n) {
    if (done[n] || Contains(claimed, n) != group->claimed || !Ready(host, done, n)) continue;
    done[n] = true;
    group->nodes[group->size++] = n;
  }
}

void FindPartitions(const Interpreter* host, const TfLiteIntArray* claimed, Partitions* found) {
  bool done[kMaxNodes] = {false};
  memset(found, 0, sizeof(*found));
  int32_t left = host->model_nodes;
  for (bool take = false; left > 0; take = !take) {
    Group* group = &found->groups[found->count];
    group->claimed = take;
    Collect(host, claimed, done, group);
    left -= group->size;
    if (group->size > 0) ++found->count;
  }
}

static void AddOnce(int32_t value, int32_t* list, int32_t* size) {
  for (int32_t i = 0; i < *size; ++i) {
    if (list[i] == value) return;
  }
  list[(*size)++] = value;
}

static bool MadeBy(const Interpreter* host, const Group* group, int32_t tensor) {
  for (int32_t i = 0; i < group->size; ++i) {
    if (Contains(host->nodes[group->nodes[i]].outputs, tensor)) return true;
  }
  return false;
}

static bool ReadOutside(const Interpreter* host, const Group* group, int32_t tensor) {
  if (tensor == host->output) return true;
  for (int32_t n = 0; n < host->model_nodes; ++n) {
    if (!InGroup(group, n) && Contains(host->nodes[n].inputs, tensor)) return true;
  }
  return false;
}

void ParamsOf(const Interpreter* host, const Group* group, TfLiteDelegate* delegate,
              TfLiteDelegateParams* params) {
  int32_t inputs[kMaxTensors], outputs[kMaxTensors];
  int32_t input_count = 0, output_count = 0;
  for (int32_t i = 0; i < group->size; ++i) {
    const TfLiteNode* node = &host->nodes[group->nodes[i]];
    for (int32_t k = 0; k < node->inputs->size; ++k) {
      const int32_t tensor = node->inputs->data[k];
      if (tensor >= 0 && !MadeBy(host, group, tensor)) AddOnce(tensor, inputs, &input_count);
    }
    for (int32_t k = 0; k < node->outputs->size; ++k) {
      const int32_t tensor = node->outputs->data[k];
      if (ReadOutside(host, group, tensor)) AddOnce(tensor, outputs, &output_count);
    }
  }
  params->delegate = delegate;
  params->nodes_to_replace = NewList(group->size, group->nodes);
  params->input_tensors = NewList(input_count, inputs);
  params->output_tensors = NewList(output_count, outputs);
}

void FreeParams(TfLiteDelegateParams* params) {
  free(params->nodes_to_replace);
  free(params->input_tensors);
  free(params->output_tensors);
}

void FreePreview(Interpreter* host) {
  for (int32_t i = 0; i < host->preview_count; ++i) FreeParams(&host->preview[i]);
  free(host->preview);
  host->preview = NULL;
  host->preview_count = 0;
}

void MarkInside(Interpreter* host) {
  for (int32_t i = 0; i < host->plan->size; ++i) {
    const int32_t n = host->plan->data[i];
    if (n < host->model_nodes) continue;
    const TfLiteDelegateParams* params = host->nodes[n].builtin_data;
    for (int32_t k = 0; k < params->nodes_to_replace->size; ++k) {
      const TfLiteIntArray* made = host->nodes[params->nodes_to_replace->data[k]].outputs;
      for (int32_t o = 0; o < made->size; ++o) {
        if (!Contains(params->output_tensors, made->data[o])) host->inside[made->data[o]] = true;
      }
    }
  }
}
