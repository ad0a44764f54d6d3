// SPDX-License-Identifier: Apache-2.0
// Small graphs for the fake host.
#ifndef TESTS_FRONTENDS_MODELS_H_
#define TESTS_FRONTENDS_MODELS_H_

#include <cstdint>

#include "src/frontends/tflite/builtin_ops.h"
#include "tests/frontends/fake_host.h"

namespace npu::tflite {

inline constexpr abi::ConvParams kConvSame = {abi::kPaddingSame, 1, 1, abi::kActivationRelu, 1, 1};

// One int8 convolution [1,4,4,2] -> [1,4,4,3] with per-channel weights and a bias.
struct ConvModel {
  explicit ConvModel(FakeHost* host)
      : input(host->AddInt8({1, 4, 4, 2}, 0.02F, -3)),
        filter(host->AddConstant(abi::kInt8, {3, 3, 3, 2}, {1, 2, 3})),
        bias(host->AddConstant(abi::kInt32, {3}, {10, 20, 30})),
        output(host->AddInt8({1, 4, 4, 3}, 0.05F, 4)) {
    host->Quantize(filter, {0.5F, 0.25F, 0.125F}, {0, 0, 0}, 0);
    host->Quantize(bias, {0.01F, 0.005F, 0.0025F}, {0, 0, 0}, 0);
    node = host->AddNode(kConv2d, {input, filter, bias}, {output}, kConvSame);
    host->SetModelOutputs({output});
  }

  int32_t input, filter, bias, output;
  int32_t node = -1;
};

// conv -> RELU -> FLOOR -> conv: the FLOOR cuts it in two.
struct ChainModel {
  explicit ChainModel(FakeHost* host) : first(host) {
    relu_out = host->AddInt8({1, 4, 4, 3}, 0.05F, 4);
    relu = host->AddNode(kRelu, {first.output}, {relu_out});
    floor_out = host->AddInt8({1, 4, 4, 3}, 0.05F, 4);
    floor = host->AddNode(8, {relu_out}, {floor_out});
    const int32_t filter = host->AddConstant(abi::kInt8, {3, 1, 1, 3}, {5});
    host->Quantize(filter, {0.5F}, {0});
    output = host->AddInt8({1, 4, 4, 3}, 0.06F, 5);
    second = host->AddNode(kConv2d, {floor_out, filter, first.bias}, {output}, kConvSame);
    host->SetModelOutputs({output});
  }

  ConvModel first;
  int32_t relu_out, relu, floor_out, floor, output, second;
};

}  // namespace npu::tflite

#endif  // TESTS_FRONTENDS_MODELS_H_
