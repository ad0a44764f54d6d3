// SPDX-License-Identifier: Apache-2.0
// Reference arithmetic of int8 CONV_2D (stride 1, SAME) and ADD, from tflite-delegate 3.2-3.4, 4.1
// and 4.5, in the plainest form.
#ifndef TESTS_HOSTS_REFERENCE_H_
#define TESTS_HOSTS_REFERENCE_H_

#include "tests/hosts/tflite_abi.h"

void ReferenceConv(const TfLiteTensor* input, const TfLiteTensor* filter, const TfLiteTensor* bias,
                   const TfLiteConvParams* params, const TfLiteTensor* output);
void ReferenceAdd(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output);

#endif  // TESTS_HOSTS_REFERENCE_H_
