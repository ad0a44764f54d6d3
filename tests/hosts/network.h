// SPDX-License-Identifier: Apache-2.0
// The small int8 network of the C host: CONV_2D 3x3, an operation no delegate knows, CONV_2D 1x1,
// and ADD of that one's input and output; with the reference arithmetic in plain loops.
#ifndef TESTS_HOSTS_NETWORK_H_
#define TESTS_HOSTS_NETWORK_H_

#include "tests/hosts/interpreter.h"

enum { kInputChannels = 8, kChannels = 16 };

// Fills `host` (of any contents) with the network for one image of this height and width.
void BuildNetwork(Interpreter* host, int32_t height, int32_t width);
void ResizeNetwork(Interpreter* host, int32_t height, int32_t width);
// Deterministic input values; needs allocated tensors.
void FillInput(Interpreter* host, uint32_t seed);
// What the network makes of its present input, without any delegate. `size` is the output's.
void ExpectedOutput(const Interpreter* host, int8_t* expected, size_t size);

#endif  // TESTS_HOSTS_NETWORK_H_
