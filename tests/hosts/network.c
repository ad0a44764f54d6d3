// SPDX-License-Identifier: Apache-2.0
#include "tests/hosts/network.h"

#include <stdlib.h>
#include <string.h>

#include "tests/hosts/reference.h"

enum {
  kInput,
  kFilter3x3,
  kBias3x3,
  kConvolved,
  kFlipped,
  kFilter1x1,
  kBias1x1,
  kProjected,
  kSum,
  kScratch,  // of the host's own kernels, behind the model's tensors (tflite-delegate 11.1)
};

enum { kWeights3x3 = kChannels * 3 * 3 * kInputChannels, kWeights1x1 = kChannels * kChannels };

// A quantization with room for one scale a channel; the two arrays follow the size, as in hosts.
typedef struct {
  TfLiteAffineQuantization affine;
  int32_t scales[1 + kChannels];
  int32_t zero_points[1 + kChannels];
} Quantization;

// The same values in every interpreter.
typedef struct {
  int8_t filter_3x3[kWeights3x3], filter_1x1[kWeights1x1];
  int32_t bias_3x3[kChannels], bias_1x1[kChannels];
} Constants;

// What one interpreter points into.
typedef struct {
  Constants constants;
  Quantization quantizations[kScratch];
  TfLiteConvParams relu, linear;
  TfLiteAddParams add;
} Model;

static uint32_t Next(uint32_t* state) {
  *state = *state * 1664525U + 1013904223U;
  return *state >> 16;
}

static void FillConstants(Constants* constants) {
  uint32_t state = 2024;
  for (int32_t i = 0; i < kWeights3x3; ++i) {
    constants->filter_3x3[i] = (int8_t)((int32_t)(Next(&state) % 255U) - 127);
  }
  for (int32_t i = 0; i < kWeights1x1; ++i) {
    constants->filter_1x1[i] = (int8_t)((int32_t)(Next(&state) % 255U) - 127);
  }
  for (int32_t i = 0; i < kChannels; ++i) {
    constants->bias_3x3[i] = (int32_t)(Next(&state) % 20001U) - 10000;
    constants->bias_1x1[i] = (int32_t)(Next(&state) % 4001U) - 2000;
  }
}

static void Quantize(Interpreter* host, Quantization* quantization, int32_t index, int32_t count,
                     float first, int32_t zero_point) {
  TfLiteTensor* tensor = &host->tensors[index];
  quantization->scales[0] = quantization->zero_points[0] = count;
  for (int32_t i = 0; i < count; ++i) {
    const float scale = first * (1.0F + 0.125F * (float)i);
    memcpy(&quantization->scales[1 + i], &scale, sizeof(scale));
    quantization->zero_points[1 + i] = zero_point;
  }
  quantization->affine.scale = (TfLiteFloatArray*)(void*)quantization->scales;
  quantization->affine.zero_point = (TfLiteIntArray*)(void*)quantization->zero_points;
  quantization->affine.quantized_dimension = 0;
  tensor->quantization.type = kTfLiteAffineQuantization;
  tensor->quantization.params = &quantization->affine;
  if (count == 1) {  // hosts leave {0, 0} with one scale a channel
    tensor->params.scale = first;
    tensor->params.zero_point = zero_point;
  }
}

static void AddTensors(Interpreter* host, Model* model) {
  for (int32_t i = kInput; i <= kScratch; ++i) {
    const bool bias = i == kBias3x3 || i == kBias1x1;
    const bool constant = bias || i == kFilter3x3 || i == kFilter1x1;
    const int32_t type = bias ? kTfLiteInt32 : i == kScratch ? kTfLiteUInt8 : kTfLiteInt8;
    AddTensor(host, type, constant ? kTfLiteMmapRo : kTfLiteArenaRw);
  }
  Quantization* q = model->quantizations;
  Quantize(host, &q[kInput], kInput, 1, 0.02F, -3);
  Quantize(host, &q[kFilter3x3], kFilter3x3, kChannels, 0.001F, 0);
  Quantize(host, &q[kBias3x3], kBias3x3, kChannels, 0.02F * 0.001F, 0);
  Quantize(host, &q[kConvolved], kConvolved, 1, 0.025F, -120);
  Quantize(host, &q[kFlipped], kFlipped, 1, 0.025F, 119);
  Quantize(host, &q[kFilter1x1], kFilter1x1, kChannels, 0.002F, 0);
  Quantize(host, &q[kBias1x1], kBias1x1, kChannels, 0.025F * 0.002F, 0);
  Quantize(host, &q[kProjected], kProjected, 1, 0.06F, -5);
  Quantize(host, &q[kSum], kSum, 1, 0.07F, 7);
  const int32_t filter_3x3[] = {kChannels, 3, 3, kInputChannels};
  const int32_t filter_1x1[] = {kChannels, 1, 1, kChannels};
  const int32_t bias[] = {kChannels};
  const int32_t scratch[] = {256};
  SetShape(host, kFilter3x3, 4, filter_3x3);
  SetShape(host, kFilter1x1, 4, filter_1x1);
  SetShape(host, kBias3x3, 1, bias);
  SetShape(host, kBias1x1, 1, bias);
  SetShape(host, kScratch, 1, scratch);
  host->tensors[kFilter3x3].data = model->constants.filter_3x3;
  host->tensors[kFilter1x1].data = model->constants.filter_1x1;
  host->tensors[kBias3x3].data = model->constants.bias_3x3;
  host->tensors[kBias1x1].data = model->constants.bias_1x1;
}

static void Shape(Interpreter* host) {
  const int32_t* input = host->tensors[kInput].dims->data;
  const int32_t dims[] = {1, input[1], input[2], kChannels};
  const int32_t tensors[] = {kConvolved, kFlipped, kProjected, kSum};
  for (int32_t i = 0; i < 4; ++i) SetShape(host, tensors[i], 4, dims);
}

static void RunNode(Interpreter* host, const TfLiteNode* node, int32_t builtin_code) {
  TfLiteTensor* t = host->tensors;
  const int32_t* in = node->inputs->data;
  const TfLiteTensor* out = &t[node->outputs->data[0]];
  if (builtin_code == kConv2d) {
    ReferenceConv(&t[in[0]], &t[in[1]], &t[in[2]], node->builtin_data, out);
  } else if (builtin_code == kAdd) {
    ReferenceAdd(&t[in[0]], &t[in[1]], out);
  } else {  // the custom operation turns every bit around: -1 - q
    const int8_t* from = t[in[0]].data;
    int8_t* to = out->data;
    for (size_t i = 0; i < out->bytes; ++i) to[i] = (int8_t)(-1 - from[i]);
  }
}

static TfLiteIntArray* Three(int32_t a, int32_t b, int32_t c) {
  const int32_t values[] = {a, b, c};
  return NewList(3, values);
}

void BuildNetwork(Interpreter* host, int32_t height, int32_t width) {
  memset(host, 0, sizeof(*host));
  Model* model = calloc(1, sizeof(Model));
  Check(model != NULL, "memory for the model");
  host->model = model;
  FillConstants(&model->constants);
  model->relu = (TfLiteConvParams){kTfLitePaddingSame, 1, 1, kTfLiteActRelu, 1, 1};
  model->linear = (TfLiteConvParams){kTfLitePaddingSame, 1, 1, kTfLiteActNone, 1, 1};
  model->add = (TfLiteAddParams){kTfLiteActNone, false};
  AddTensors(host, model);
  const int32_t convolved[] = {kConvolved}, flipped[] = {kFlipped};
  const int32_t projected[] = {kProjected}, sum[] = {kSum}, both[] = {kProjected, kFlipped};
  AddNode(host, kConv2d, Three(kInput, kFilter3x3, kBias3x3), NewList(1, convolved), &model->relu);
  const int32_t custom = AddNode(host, kCustom, NewList(1, convolved), NewList(1, flipped), NULL);
  host->registrations[custom].custom_name = "Flip";
  AddNode(host, kConv2d, Three(kFlipped, kFilter1x1, kBias1x1), NewList(1, projected),
          &model->linear);
  AddNode(host, kAdd, NewList(2, both), NewList(1, sum), &model->add);
  host->input = kInput;
  host->output = kSum;
  host->shape = Shape;
  host->run_node = RunNode;
  Finish(host);
  ResizeNetwork(host, height, width);
}

void ResizeNetwork(Interpreter* host, int32_t height, int32_t width) {
  const int32_t dims[] = {1, height, width, kInputChannels};
  ResizeInput(host, 4, dims);
}

void FillInput(Interpreter* host, uint32_t seed) {
  TfLiteTensor* input = &host->tensors[kInput];
  int8_t* data = input->data;
  for (size_t i = 0; i < input->bytes; ++i) data[i] = (int8_t)((int32_t)(Next(&seed) % 256U) - 128);
}

void ExpectedOutput(const Interpreter* host, int8_t* expected, size_t size) {
  const TfLiteTensor* input = &host->tensors[kInput];
  Interpreter alone;
  BuildNetwork(&alone, input->dims->data[1], input->dims->data[2]);
  Check(Allocate(&alone) == kTfLiteOk, "allocation without a delegate");
  memcpy(alone.tensors[kInput].data, input->data, input->bytes);
  Check(Invoke(&alone) == kTfLiteOk, "a run without a delegate");
  Check(alone.tensors[kSum].bytes == size, "the output's size");
  memcpy(expected, alone.tensors[kSum].data, size);
  Clear(&alone);
}
