// SPDX-License-Identifier: Apache-2.0
// The end of every convolution-class operation: int32 sums to int8.
#ifndef SRC_HOST_OUTPUT_STAGE_H_
#define SRC_HOST_OUTPUT_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "npu/status.h"
#include "src/arith/tflite.h"
#include "src/ir/graph.h"

namespace npu::host {

// The clamp of a fused activation for an int8 or uint8 tensor. Source: tflite-delegate 3.4.
arith::QuantizedRange ActivationClamp(ir::Activation activation, const ir::TensorType& output);

// [-128, 127] or [0, 255].
arith::QuantizedRange TypeRange(DataType dtype);

// Real multipliers M[oc] of a CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED node, exactly as TFLite
// forms them: s_x * s_w[o] / s_y in double, but for uint8 convolutions s_x * s_w is a float32
// product. Source: tflite-delegate 4.1; for FULLY_CONNECTED with one scale 4.3 has a float32
// product, which neither int8 nor uint8 in ai-edge-litert 2.3 uses (measured).
std::vector<double> RealMultipliers(const ir::Graph& graph, const ir::Node& node,
                                    size_t output_channels);

struct OutputStage {
  std::vector<int32_t> bias;  // one for each output channel, as the next three
  std::vector<int32_t> multiplier;
  std::vector<int32_t> left, right;  // the exponent: left - right
  std::vector<double> real;          // FULLY_CONNECTED: used instead of the three above
  int32_t zero_point = 0;
  arith::QuantizedRange clamp;

  // sums[i] belongs to channel c + i.
  void Apply(const int32_t* sums, size_t c, size_t count, int8_t* out) const;
};

// Bias (input 2, zeros when absent), multipliers and clamp of a node with `channels` outputs.
OutputStage MakeOutputStage(const ir::Graph& graph, const ir::Node& node, size_t channels,
                            ir::Activation activation);

}  // namespace npu::host

#endif  // SRC_HOST_OUTPUT_STAGE_H_
