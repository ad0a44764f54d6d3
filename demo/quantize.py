# SPDX-License-Identifier: Apache-2.0
"""Float TFLite model -> int8 TFLite model, by the rules of TFLite's 8-bit specification.

Weights are symmetric with one scale per output channel, biases int32 with the scale of the sums,
activations asymmetric with the range they were seen to take; operators that only move or compare
values share one quantization between input and output.
"""

import ai_edge_litert.schema_py_generated as schema
import numpy as np

from rocket_npu import model as tflite

_WEIGHTED = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}  # axis of the channels
_MOVING = ("RESHAPE", "PAD", "MAX_POOL_2D", "CONCATENATION")
# Operator versions whose kernels take int8.
_VERSIONS = {
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "ADD": 2,
    "PAD": 2,
    "MAX_POOL_2D": 2,
    "CONCATENATION": 2,
    "MEAN": 2,
    "RESHAPE": 1,
    "SOFTMAX": 2,
}


def activation_scale(low, high):
    """(scale, zero point) that hold [low, high] and represent 0 exactly."""
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    if high == low:
        return np.float32(1.0), -128
    scale = (high - low) / 255.0
    return np.float32(scale), int(np.clip(_round(-128.0 - low / scale), -128, 127))


def weight_scales(weights, axis, bias, input_scale, output_scale):
    """One scale per index of `axis`: the largest weight becomes 127.

    Channels whose weights hardly matter get a larger scale, so that their sums and biases stay
    far from the ends of int32: one at which rounding all weights of the channel moves the output
    by about a hundredth of a count, with every input at full swing; and no bias exceeds 2^28.
    """
    others = tuple(k for k in range(weights.ndim) if k != axis)
    largest = np.abs(weights.astype(np.float64)).max(axis=others)
    taps = weights.size // largest.size
    harmless = 2.0 * 0.01 * output_scale / (255.0 * np.sqrt(taps) * input_scale)
    biased = np.abs(bias.astype(np.float64)) / (input_scale * 2.0**28)
    return np.maximum(np.maximum(largest / 127.0, harmless), biased).astype(np.float32)


def _round(values):
    """Half away from zero, as TFLite."""
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


class _Quantizer:
    def __init__(self, model, ranges, input_scale):
        self.source = model
        self.ranges = ranges
        self.model = tflite.empty(model.description)
        self.places = {}  # tensor of the float model -> tensor of the int8 model
        self.scales = self._joined_scales(input_scale)

    def _joined_scales(self, input_scale):
        """(scale, zero point) of every run-time tensor; tensors that must agree share one."""
        parent = {}

        def root(index):
            while parent.get(index, index) != index:
                index = parent[index]
            return index

        fixed = {int(self.source.subgraphs[0].inputs[0]): input_scale}
        for operator in tflite.operators(self.source):
            name, output = tflite.operator_name(self.source, operator), int(operator.outputs[0])
            if name in _MOVING:
                for index in tflite.runtime_inputs(self.source, operator):
                    parent[root(index)] = root(output)
            elif name == "SOFTMAX":
                fixed[output] = (np.float32(1.0 / 256.0), -128)
        limits = {}
        for index, item in enumerate(self.source.subgraphs[0].tensors):
            name = tflite.tensor_name(item)
            if name in self.ranges:
                low, high = self.ranges[name]
                before = limits.get(root(index), (low, high))
                limits[root(index)] = (min(low, before[0]), max(high, before[1]))
        scales = {}
        for index in range(len(self.source.subgraphs[0].tensors)):
            if root(index) in limits:
                scales[index] = activation_scale(*limits[root(index)])
        scales.update(fixed)
        return scales

    def runtime(self, index):
        """The int8 form of a run-time tensor."""
        if index not in self.places:
            item = tflite.tensor(self.source, index)
            name = tflite.tensor_name(item)
            if index not in self.scales:
                raise ValueError(f"no range for tensor {name}")
            scale, zero_point = self.scales[index]
            self.places[index] = tflite.add_tensor(
                self.model, name, tflite.shape_of(item), np.int8,
                tflite.quantization(scale, zero_point),
            )
        return self.places[index]

    def constant(self, index, values, dtype, quantization=None):
        name = tflite.tensor_name(tflite.tensor(self.source, index))
        return tflite.add_tensor(self.model, name, values.shape, dtype, quantization, values)

    def weighted(self, operator, axis):
        """Inputs of a convolution or fully connected layer: x, int8 weights, int32 bias."""
        source, weight, bias = (int(index) for index in operator.inputs)
        weights = tflite.constant(self.source, weight)
        offsets = tflite.constant(self.source, bias)
        input_scale = np.float64(self.scales[source][0])
        output_scale = np.float64(self.scales[int(operator.outputs[0])][0])
        scales = weight_scales(weights, axis, offsets, input_scale, output_scale)
        wide = scales.reshape([-1 if k == axis else 1 for k in range(weights.ndim)])
        codes = np.clip(_round(weights / wide.astype(np.float64)), -127, 127)
        sums = input_scale * scales.astype(np.float64)
        biases = _round(offsets.astype(np.float64) / sums)
        zeros = np.zeros(scales.size, np.int64)
        return [
            self.runtime(source),
            self.constant(weight, codes, np.int8, tflite.quantization(scales, zeros, axis)),
            self.constant(bias, biases, np.int32, tflite.quantization(sums, zeros)),
        ]

    def plain(self, operator):
        inputs = []
        for index in (int(i) for i in operator.inputs):
            values = tflite.constant(self.source, index)
            is_shape = values is not None and values.dtype == np.int32
            inputs.append(self.constant(index, values, np.int32) if is_shape
                          else self.runtime(index))
        return inputs

    def convert(self):
        graph = self.source.subgraphs[0]
        inputs = [self.runtime(int(index)) for index in graph.inputs]
        for operator in graph.operators:
            name = tflite.operator_name(self.source, operator)
            if name not in _VERSIONS:
                raise ValueError(f"{name} has no place in this converter")
            weighted = name in _WEIGHTED
            sources = (
                self.weighted(operator, _WEIGHTED[name]) if weighted else self.plain(operator)
            )
            output = self.runtime(int(operator.outputs[0]))
            tflite.add_operator(
                self.model, name, _VERSIONS[name], sources, [output], operator.builtinOptions
            )
        tflite.set_ends(self.model, inputs, [self.runtime(int(i)) for i in graph.outputs])
        return self.model


def quantize(model, ranges, input_scale):
    """Float ModelT, {tensor name: (low, high)}, (scale, zero point) of the input -> int8 ModelT.

    Raises ValueError naming a run-time tensor without a range, or an operator it does not know.
    """
    return _Quantizer(model, ranges, input_scale).convert()
